/** The facts of the handover report. */
import { randomUUID } from 'node:crypto';
import { readReport } from '../../client/report';
import type { Decision } from '../../domain/migration/decision';
import { useImportRig } from '../support/migrations/company-import';

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

const recordedDecision = (decision: Decision) => ({
  decision,
  outcome: { decisionId: decision.decisionId, applied: true, text: 'applied', at: new Date().toISOString() },
});
