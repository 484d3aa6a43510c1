/** Connects a worker to Temporal, and checks that its namespace is set up. */
import { NativeConnection, TransportError } from '@temporalio/worker';
import type { Config } from '../config';
import { SEARCH_ATTRIBUTES } from '../workflows/messages';

/** Thrown when a worker starts while Temporal cannot be reached. */
export class TemporalUnreachable extends Error {
  override readonly name = 'TemporalUnreachable';
}

/** @throws {TemporalUnreachable} */
export async function connectToTemporal({
  address,
  connectionOptions,
}: Config<'temporal'>['temporal']): Promise<NativeConnection> {
  try {
    return await NativeConnection.connect(connectionOptions);
  } catch (error) {
    if (!(error instanceof TransportError)) throw error;
    throw new TemporalUnreachable(`Temporal at ${address} cannot be reached`, { cause: error });
  }
}

/** Thrown when the namespace lacks search attributes. A workflow that sets a missing attribute would get stuck. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';
  constructor(namespace: string, missing: readonly string[]) {
    const [attributes, them] = missing.length === 1 ? ['attribute', 'it'] : ['attributes', 'them'];
    super(
      `namespace ${namespace} lacks the search ${attributes} ${missing.join(', ')}; create ${them} with: ferry setup`,
    );
  }
}

/** @throws {SearchAttributesMissing} */
export async function assertSearchAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
  if (missing.length > 0) throw new SearchAttributesMissing(namespace, missing);
}
