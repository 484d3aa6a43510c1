/** Tests the outcome of a confirmation for companies that the manifest does not contain. */
import { companiesText } from '../../../domain/decisions/ruling';
import type { Decision } from '../../../domain/migration/decision';
import { changedCount, isPartial } from '../../../domain/migration/partial-outcome';
import { readDecisions } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { updateRow } from '../../support/migrations/ledger';
import { BY_CLEO } from '../../support/migrations/signed-decisions';

const rig = useImportRig();
const CONFIRMED = 'confirmed that syncing is off for';
const LACKS = 'the manifest does not contain';

test.each<[companies: readonly string[], text: string, changed: number]>([
  [['c1', 'c9'], `${CONFIRMED} 1 of 2 companies: ${LACKS} the other`, 1],
  [['c1', 'c8', 'c9'], `${CONFIRMED} 1 of 3 companies: ${LACKS} the others`, 1],
  [['c9'], `nothing has changed: ${LACKS} this company`, 0],
  [['c8', 'c9'], `nothing has changed: ${LACKS} these 2 companies`, 0],
  // c2 is left out, but counts, because the manifest contains it.
  [['c1', 'c2'], `${CONFIRMED} 2 companies`, 2],
])(
  'a confirmation of %j is recorded with the number of companies in the manifest: %s',
  async (companies, text, changed) => {
    const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
    const { db } = rig.ledger;
    await updateRow(db, id, 1, { confirmed_at: null });
    await updateRow(db, id, 2, { state: 'excluded' });
    const decision: Decision = { kind: 'sync-disabled', decisionId: 'd', companies, ...BY_CLEO };
    const ruled = {
      decisionId: 'd',
      applied: true,
      text: `${CONFIRMED} ${companiesText(companies)}`,
      at: new Date().toISOString(),
    };
    await rig.runActivity((activities) =>
      activities.recordDecisions({ migrationId: id, recorded: [{ decision, outcome: ruled }] }),
    );
    const [recorded] = await readDecisions(db, id);
    const outcome = recorded?.outcome ?? { text: 'nothing was recorded' };
    expect(outcome.text).toBe(text);
    expect(isPartial(outcome)).toBe(changed < companies.length);
    expect(changedCount(outcome, companies.length)).toBe(changed);
  },
);

test('a repeated confirmation says that the companies were confirmed already', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
  const { db } = rig.ledger;
  await db
    .updateTable('companies')
    .set({ confirmed_at: null, confirmed_by: null })
    .where('migration_id', '=', id)
    .execute();
  const confirm = (decisionId: string, companies: 'all' | readonly string[]) => {
    const decision: Decision = { kind: 'sync-disabled', decisionId, companies, ...BY_CLEO };
    const text = `${CONFIRMED} ${companiesText(companies)}`;
    const outcome = { decisionId, applied: true, text, at: new Date().toISOString() };
    return rig.runActivity((activities) =>
      activities.recordDecisions({ migrationId: id, recorded: [{ decision, outcome }] }),
    );
  };
  await confirm('a', ['c1', 'c2']);
  await confirm('b', ['c1', 'c2']);
  await confirm('c', ['c1', 'c3']);
  await confirm('d', 'all');
  expect((await readDecisions(db, id)).map(({ outcome }) => outcome.text)).toEqual([
    `${CONFIRMED} 2 companies`,
    `already ${CONFIRMED} 2 companies`,
    `${CONFIRMED} 2 companies`,
    `already ${CONFIRMED} all companies`,
  ]);
});

test('a restored confirmation, whose text the ledger has corrected before, is corrected only once', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const decision: Decision = { kind: 'sync-disabled', decisionId: 'd', companies: ['c1', 'c9'], ...BY_CLEO };
  const text = `${CONFIRMED} 1 of 2 companies: ${LACKS} the other`;
  const outcome = { decisionId: 'd', applied: true, text, at: new Date().toISOString() };
  await rig.runActivity((activities) =>
    activities.recordDecisions({ migrationId: id, recorded: [{ decision, outcome }] }),
  );
  expect((await readDecisions(rig.ledger.db, id)).map((each) => each.outcome.text)).toEqual([text]);
});
