import type { NativeConnection } from '@temporalio/worker';
import { createSearchAttributesCommand } from '../domain/migration/temporal-names';
import { SEARCH_ATTRIBUTES } from '../workflows/messages';

type Attribute = readonly [name: string, type: (typeof SEARCH_ATTRIBUTES)[keyof typeof SEARCH_ATTRIBUTES]];

/** Thrown when the namespace lacks search attributes. A workflow that sets a missing attribute would get stuck. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';
  constructor(namespace: string, missing: readonly Attribute[]) {
    const names = missing.map(([name]) => name).join(', ');
    const command = createSearchAttributesCommand(namespace, missing);
    super(`namespace ${namespace} lacks the search attributes ${names}; create them with: ${command}`);
  }
}

/** @throws {SearchAttributesMissing} */
export async function assertSearchAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  if (missing.length > 0) throw new SearchAttributesMissing(namespace, missing);
}
