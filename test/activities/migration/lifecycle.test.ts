/** The lifecycle activities of a migration: recording decisions, and closing. */
import type { Decision } from '../../../domain/migration/decision';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { readDecisions, readMigration } from '../../../store';
import type { ImportRig } from '../../support/company-import';
import { openImportRig } from '../../support/company-import';
import { rowsWithCredential, updateRow, readRow } from '../../support/ledger';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

describe('a decision', () => {
  const AT = '2026-03-02T12:00:00.000Z';
  const sent = { role: 'client', by: 'Cleo' } as const;
  const record = async (id: string, ...decisions: readonly (readonly [Decision, boolean])[]) => {
    const recorded: DecisionRecord[] = decisions.map(([decision, applied]) => ({
      decision,
      outcome: { decisionId: decision.decisionId, applied, text: 'done', at: AT },
    }));
    return rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
  };

  test('reaches the ledger and the audit trail, but only the audit trail if it is refused', async () => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    for (const row of [1, 2]) await updateRow(db, id, row, { confirmed_at: null });
    const counts = await record(
      id,
      [{ kind: 'sync-disabled', decisionId: 'a', companies: ['c1'], ...sent }, true],
      [{ kind: 'sync-disabled', decisionId: 'b', companies: ['c2'], ...sent }, false],
    );
    expect(counts).toMatchObject({ total: 2, unconfirmed: 1 });
    expect((await readRow(db, id, 1)).confirmed_at).toEqual(new Date(AT));
    expect(await readDecisions(db, id)).toHaveLength(2);
  });

  test('that changes only some of its companies is recorded with how many it changed', async () => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    await updateRow(db, id, 2, { state: 'importing', attempt: 'a' });
    await updateRow(db, id, 3, { state: 'failed', failure: 'incomplete' });
    const skip: Decision = { kind: 'skip', decisionId: 's', companies: ['c3'], reason: 'sold', ...sent };
    const companies = ['c1', 'c2', 'c9', 'c1'];
    const exclude: Decision = { kind: 'exclude', decisionId: 'e', companies, reason: 'sold', ...sent };
    // A repeated decision is recorded once.
    await record(id, [skip, true], [exclude, true]);
    await record(id, [skip, true], [exclude, true]);
    expect(await readRow(db, id, 1)).toMatchObject({ state: 'excluded' });
    expect(await readRow(db, id, 2)).toMatchObject({ state: 'importing' });
    const texts = (await readDecisions(db, id)).map(({ outcome }) => outcome.text);
    expect(texts).toEqual([
      'done',
      'done; applied to 1 of 3 companies: the others do not exist, or their state does not allow it',
    ]);
  });

  test('is recorded once if it is sent twice', async () => {
    const { id } = await rig.migration(['sbx-ok-5']);
    const pause: readonly [Decision, boolean] = [{ kind: 'pause', decisionId: 'p', ...sent }, true];
    await record(id, pause);
    await record(id, pause);
    expect(await readDecisions(rig.ledger.db, id)).toHaveLength(1);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 0, nextClaimInMs: null });
    await record(id, [{ kind: 'resume', decisionId: 'r', ...sent }, true]);
    expect(await rig.importSlice(id)).toMatchObject({ claimed: 1 });
  });
});

test('closing a migration destroys its credentials, prevents claims, and can be repeated', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  const close = () =>
    rig.runActivity((activities) => activities.closeMigration({ migrationId: id, ending: 'abandoned' }));
  expect(await close()).toMatchObject({ total: 2, waiting: 2, withoutCredential: 2 });
  expect(await close()).toMatchObject({ total: 2, waiting: 2 });
  expect(await rowsWithCredential(rig.ledger.db, id)).toEqual([]);
  expect(await readMigration(rig.ledger.db, id)).toMatchObject({
    state: 'closed',
    ending: 'abandoned',
    vaultDestroyedAt: expect.any(Date) as Date,
  });
  await expect(rig.importSlice(id)).rejects.toThrow(/no open vault/);
});
