import type { NativeConnection } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../workflows/messages';

/** Thrown when the namespace lacks search attributes. A workflow that sets a missing attribute would get stuck. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';
  constructor(namespace: string, missing: readonly string[]) {
    super(`namespace ${namespace} lacks the search attributes ${missing.join(', ')}; create them with: ferry setup`);
  }
}

/** @throws {SearchAttributesMissing} */
export async function assertSearchAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
  if (missing.length > 0) throw new SearchAttributesMissing(namespace, missing);
}
