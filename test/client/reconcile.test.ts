/** Tests how a repair of a ledger is reported that takes longer than the client waits. No worker is running. */
import { withAdvice } from '../../cli/shared/errors';
import { reconcile, RepairUnfinished } from '../../client';
import { useOrchestrator } from '../support/servers/orchestrator';
import { startTestMigration } from '../workflows/running-migration';

const orchestrator = useOrchestrator();

test('a repair that has not ended in time is not a failed connection, whether it was started or joined', async () => {
  const { id } = await startTestMigration(orchestrator, 'slow-repair', ['sbx-ok-1.sr1']);
  const { temporal } = orchestrator.ferry;
  const withDeadline = temporal.withDeadline.bind(temporal);
  const waits: number[] = [];
  const shortened = jest.spyOn(temporal, 'withDeadline').mockImplementation((deadline, call) => {
    waits.push(Number(deadline) - Date.now());
    return withDeadline(Date.now() + 500, call);
  });
  try {
    for (const _ of ['started', 'joined'])
      await expect(reconcile(orchestrator.ferry, id)).rejects.toThrow(new RepairUnfinished(id));
  } finally {
    shortened.mockRestore();
  }
  expect(waits.map((ms) => Math.round(ms / 60_000))).toEqual([30, 30]);
});

test('an unfinished repair is reported with the command that waits for it', () => {
  expect(withAdvice(new RepairUnfinished('acme.xero'), {})).toMatchObject({
    message: 'the repair of the ledger of acme.xero has not ended within 30 minutes, and continues',
    advice: 'make sure that a worker is running; to wait for the result, run: ferry reconcile acme.xero',
  });
});
