/** The facts of the handover report. */
import { randomUUID } from 'node:crypto';
import { readReport } from '../../client/report';
import { reportPieces } from '../../client/report-formats';
import type { Decision } from '../../domain/migration/decision';
import { collected } from '../../domain/text/streams';
import { recordDecisions } from '../../store';
import { useImportRig } from '../support/migrations/company-import';
import { updateRow } from '../support/migrations/ledger';

const rig = useImportRig();

test('a migration that was cancelled while a company is syncing is reported as cancelled, and as finishing', async () => {
  const { id } = await rig.migration(['sbx-ok-1', 'sbx-ok-1']);
  await rig.importSlice(id, { atOnce: 1 });
  expect((await readReport(rig.ledger, id)).head).toMatchObject({ ending: null, isFinishing: false });
  const cancelled = {
    decision: { kind: 'cancel', decisionId: 'c', role: 'client', by: 'Cleo', reason: 'not now' },
    outcome: { decisionId: 'c', applied: true, text: 'cancelled', at: new Date().toISOString() },
  } as const;
  await rig.runActivity((activities) => activities.recordDecisions({ migrationId: id, recorded: [cancelled] }));
  const { head } = await readReport(rig.ledger, id);
  expect(head).toMatchObject({ ending: 'cancelled', isFinishing: true, closedAt: null });
});

test('a planned start is reported only until its proposal is replaced or withdrawn', async () => {
  const { id } = await rig.migration(['sbx-ok-1']);
  const by = { role: 'support', by: 'Sam' } as const;
  const record = (decision: Parameters<typeof recordedDecision>[0]) =>
    rig.runActivity((activities) =>
      activities.recordDecisions({ migrationId: id, recorded: [recordedDecision(decision)] }),
    );
  const plannedStart = async () => (await readReport(rig.ledger, id)).head.planned?.startAt ?? null;
  const [startAt, later] = ['2036-03-03T22:00:00.000Z', '2036-03-04T22:00:00.000Z'] as const;
  const propose = (at: string) => record({ kind: 'time', decisionId: randomUUID(), startAt: at, ...by });
  const estimate = (at: string) =>
    rig.runActivity((activities) => activities.estimatePlan({ migrationId: id, startAt: at }));

  await record({ kind: 'step', decisionId: randomUUID(), step: 'supply-details', verdict: 'approve', ...by });
  await propose(startAt);
  await estimate(startAt);
  expect(await plannedStart()).toBe(startAt);
  await propose(later);
  expect(await plannedStart()).toBeNull();
  await estimate(later);
  expect(await plannedStart()).toBe(later);
  await record({ kind: 'step', decisionId: randomUUID(), step: 'schedule', verdict: 'reject', reason: 'ill', ...by });
  expect(await plannedStart()).toBeNull();
});

const recordedDecision = (decision: Decision, at = new Date().toISOString()) => ({
  decision,
  outcome: { decisionId: decision.decisionId, applied: true, text: 'applied', at },
});

test('a sign-off before an outcome changed is reported with the change, until a decision withdraws it', async () => {
  const { id } = await rig.migration(['sbx-ok-1', 'sbx-ok-1']);
  await updateRow(rig.ledger.db, id, 1, { state: 'moved' });
  const changed = { state: 'failed', failure: 'wrong-organization', sync_started_at: new Date() } as const;
  await updateRow(rig.ledger.db, id, 2, changed);
  const at = new Date(Date.now() - 60_000).toISOString();
  // Recorded directly, because the ledger refuses a sign-off before the approvals of the earlier steps.
  const record = (decision: Decision, when?: string) =>
    recordDecisions(rig.ledger.db, id, [{ ...recordedDecision(decision, when), verified: true }]);
  const handover = { kind: 'step', step: 'complete-migration' } as const;
  const by = { role: 'client', by: 'Cleo' } as const;
  await record({ ...handover, decisionId: randomUUID(), verdict: 'approve', ...by }, at);
  const report = await readReport(rig.ledger, id);
  expect(report.head.changedSinceSignOff).toEqual([
    { ...by, at, changed: [{ state: 'not-moved', companies: 1, references: [expect.any(String)] }] },
  ]);
  const texts = async (format: 'md' | 'html' | 'json') => (await collected(reportPieces(report, format))).join('\n');
  for (const format of ['md', 'html'] as const)
    expect(await texts(format)).toMatch(/sign off the handover; before these outcomes: not moved: \S/);
  expect(JSON.parse(await texts('json'))).toMatchObject({ changedSinceSignOff: [{ role: 'client', at }] });
  await record({ ...handover, decisionId: randomUUID(), verdict: 'reject', reason: 'no', ...by });
  expect((await readReport(rig.ledger, id)).head.changedSinceSignOff).toEqual([]);
});
