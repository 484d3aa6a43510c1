/** Decision records that no workflow has written: nothing in them can be trusted. */
import type { Decision } from '../../../domain/migration/decision';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { readDecisions, readMigration } from '../../../store';
import { useImportRig } from '../../support/migrations/company-import';
import { createMovableMigration, manifestRows, readRow, updateRow } from '../../support/migrations/ledger';
import { BY_CLEO, BY_SAM, recordOf, SAM, SIGNED } from '../../support/migrations/signed-decisions';

const rig = useImportRig();

const MINUTE_MS = 60_000;
const ago = (ms: number) => new Date(Date.now() - ms).toISOString();
const recordAll = (id: string, ...recorded: readonly DecisionRecord[]) =>
  rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded }));
const claimed = (decision: Decision, at: string): DecisionRecord => ({
  decision,
  outcome: { decisionId: decision.decisionId, applied: true, text: 'done', at },
});

test.each([
  ['long ago', ago(24 * 60 * MINUTE_MS), 6 * MINUTE_MS],
  ['in the future', ago(-24 * 60 * MINUTE_MS), MINUTE_MS],
])('a confirmation that claims to be from %s is recorded with the time of the servers', async (_, at, withinMs) => {
  const { id } = await rig.migration(['sbx-ok-5']);
  await updateRow(rig.ledger.db, id, 1, { confirmed_at: null });
  const confirmation: Decision = { kind: 'sync-disabled', decisionId: 'c', companies: 'all', ...BY_CLEO };
  const { outcomes } = await recordAll(id, claimed(confirmation, at));
  const { confirmed_at: confirmedAt } = await readRow(rig.ledger.db, id, 1);
  expect(confirmedAt?.toISOString()).toBe(outcomes[0]?.at);
  expect(Math.abs(Date.now() - (confirmedAt?.getTime() ?? 0))).toBeLessThan(withinMs);
});

test('a decision that expired a few minutes ago is applied if it is dated before that, but not a decision that expired long ago', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const pause = (decisionId: string, validUntil: string): Decision => ({
    kind: 'pause',
    decisionId,
    validUntil,
    ...BY_CLEO,
  });
  const [late, inTime] = [pause('late', ago(60 * MINUTE_MS)), pause('in-time', ago(2 * MINUTE_MS))];
  const { outcomes } = await recordAll(
    id,
    claimed(late, ago(61 * MINUTE_MS)),
    claimed(inTime, ago(3 * MINUTE_MS)),
    claimed({ ...inTime, decisionId: 'too-late' }, ago(MINUTE_MS)),
  );
  const why = expect.stringContaining('this decision expired at') as string;
  expect(outcomes).toMatchObject([{ applied: false, text: why }, { applied: true }, { applied: false, text: why }]);
});

test('only support resumes a migration that paused itself, even if a record claims otherwise', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const at = ago(0);
  const resume = (decisionId: string, by: typeof BY_CLEO | typeof BY_SAM): Decision => ({
    kind: 'resume',
    decisionId,
    ...by,
  });
  await recordAll(id, claimed({ kind: 'pause', decisionId: 'p', ...BY_CLEO }, at));
  expect((await recordAll(id, claimed(resume('r1', BY_CLEO), at))).outcomes).toMatchObject([{ applied: true }]);
  await rig.runActivity((activities) => activities.pauseMigration({ migrationId: id }));
  // The client lifts only its own pause. The migration stays paused.
  const again: Decision = { kind: 'pause', decisionId: 'p2', ...BY_CLEO };
  const { outcomes } = await recordAll(
    id,
    ...[again, resume('r2', BY_CLEO), resume('r2b', BY_CLEO)].map((each) => claimed(each, at)),
  );
  expect(outcomes.slice(1)).toMatchObject([
    { applied: true },
    { applied: false, text: 'only support can resume a migration that paused itself' },
  ]);
  expect(await readMigration(rig.ledger.db, id)).toMatchObject({ paused: true, pausedItself: true });
  expect((await recordAll(id, claimed(resume('r3', BY_SAM), at))).outcomes).toMatchObject([{ applied: true }]);
  expect(await readMigration(rig.ledger.db, id)).toMatchObject({ paused: false, pausedItself: false });
});

test('a resume of a migration that is not paused accepts no failures', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  await updateRow(rig.ledger.db, id, 1, { state: 'failed', failure: 'incomplete' });
  await recordAll(id, claimed({ kind: 'resume', decisionId: 'r', ...BY_SAM }, ago(0)));
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ failure_accepted: false });
});

test('a refused record with the signature of another decision does not use up that decision', async () => {
  const { id } = await createMovableMigration(rig.ledger, manifestRows(1), { decisions: SIGNED });
  const pause = recordOf(id, 'pause', BY_SAM, SAM);
  const forged: DecisionRecord = {
    decision: { kind: 'adjust', decisionId: 'f', limits: {}, ...BY_SAM },
    outcome: { decisionId: 'f', applied: false, text: 'no', at: ago(0) },
    ...(pause.signed && { signed: pause.signed }),
  };
  await recordAll(id, forged);
  expect((await recordAll(id, pause)).outcomes).toMatchObject([{ applied: true }]);
});

test.each<[string, object]>([
  ['a kind that does not exist', { kind: 'approve-all' }],
  ['a field that no message has', { kind: 'pause', released: 'all' }],
  ['all companies, where references are required', { kind: 'exclude', companies: 'all', reason: 'x' }],
  ['limits that no message can set', { kind: 'adjust', limits: { slicesAtOnce: 1e9 } }],
  ['text that cannot be stored', { kind: 'pause', reason: 'a\0b' }],
])('a decision with %s is refused, and its content is not kept', async (_, fields) => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const decision = { decisionId: 'm', ...BY_SAM, ...fields } as Decision;
  const { outcomes } = await recordAll(id, claimed(decision, ago(0)));
  expect(outcomes).toMatchObject([
    { decisionId: 'm', applied: false, text: 'the record of this decision is malformed' },
  ]);
  expect(await readDecisions(rig.ledger.db, id)).toEqual([]);
});

test('a record without an id fails without a retry', async () => {
  const { id } = await rig.migration(['sbx-ok-5']);
  const recording = recordAll(id, { decision: { kind: 'pause' } } as unknown as DecisionRecord);
  await expect(recording).rejects.toMatchObject({ nonRetryable: true, type: 'MalformedRecord' });
});
