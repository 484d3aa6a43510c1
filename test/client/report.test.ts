/** The facts of the handover report. */
import { readReport } from '../../client/report';
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
