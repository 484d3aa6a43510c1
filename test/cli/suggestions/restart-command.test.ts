/** Tests the suggested command that starts a migration under another id. */
import { restartCommand } from '../../../cli/suggestions/remedy-commands';
import type { StoredMigration } from '../../../store';

test.each([
  ['acme.xero', 'again'],
  ['acme.xero.north', 'again'],
  ['acme.xero.again', 'again-2'],
  ['acme.xero.again-2', 'again-3'],
])('after %s, the label is %s', (id, label) => {
  const migration = { id, client: 'acme', platformKey: 'xero', route: 'managed' } as StoredMigration;
  expect(restartCommand(migration)).toBe(`ferry start companies.csv --platform xero --client acme --label ${label}`);
});
