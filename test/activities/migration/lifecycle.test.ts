/** The lifecycle activities of a migration: closing. */
import { terminationRecord } from '../../../domain/decisions/audit-trail';
import { readMigration, recordDecisions } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';
import { rowsWithCredential } from '../../support/ledger';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

test('closing a migration destroys its credentials, prevents claims, and can be repeated', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  const close = () => rig.runActivity((activities) => activities.closeMigration({ migrationId: id }));
  await expect(close()).rejects.toThrow(/no decision in the ledger ends/);
  expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([1, 2]);
  await recordDecisions(rig.ledger.db, id, [{ ...terminationRecord(null, new Date().toISOString()), verified: true }]);
  expect(await close()).toMatchObject({ ending: 'cancelled', counts: { total: 2, waiting: 2, withoutCredential: 2 } });
  expect(await close()).toMatchObject({ counts: { total: 2, waiting: 2 } });
  expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([]);
  expect(await readMigration(rig.ledger.db, id)).toMatchObject({
    state: 'closed',
    ending: 'cancelled',
    vaultDestroyedAt: expect.any(Date) as Date,
  });
  await expect(rig.importSlice(id)).rejects.toThrow(/no open vault/);
});
