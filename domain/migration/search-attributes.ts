/** What Temporal's list of migrations is found by has to be made known to a namespace once. */

/** As Temporal's SDK calls them. */
type SearchAttributeType = 'INT' | 'KEYWORD';

/** The command that makes them known. */
export function createSearchAttributes(
  namespace: string,
  missing: readonly (readonly [name: string, type: SearchAttributeType])[],
): string {
  const each = missing.map(([name, type]) => `--name ${name} --type ${type === 'INT' ? 'Int' : 'Keyword'}`);
  return `temporal operator search-attribute create --namespace ${namespace} ${each.join(' ')}`;
}
