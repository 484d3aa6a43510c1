import type { NativeConnection } from '@temporalio/worker';
import { SEARCH_ATTRIBUTES } from '../workflows/messages';

/** Thrown when the namespace lacks search attributes: a workflow that sets one of them would be stuck. */
export class SearchAttributesMissing extends Error {
  override readonly name = 'SearchAttributesMissing';
  constructor(namespace: string, missing: readonly string[]) {
    const commands = missing.map((name) => `--name ${name} --type ${typeOf(name)}`).join(' ');
    super(
      `namespace ${namespace} lacks the search attributes ${missing.join(', ')}; ` +
        `create them with: temporal operator search-attribute create --namespace ${namespace} ${commands}`,
    );
  }
}

/** @throws SearchAttributesMissing */
export async function assertSearchAttributes(connection: NativeConnection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
  if (missing.length > 0) throw new SearchAttributesMissing(namespace, missing);
}

function typeOf(name: string): string {
  return SEARCH_ATTRIBUTES[name as keyof typeof SEARCH_ATTRIBUTES] === 'INT' ? 'Int' : 'Keyword';
}
