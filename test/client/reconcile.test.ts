/** Tests how a repair of a ledger is reported that takes longer than the client waits. No worker is running. */
import { ServiceError } from '@temporalio/client';
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
  let clock: jest.SpyInstance | undefined;
  const shortened = jest.spyOn(temporal, 'withDeadline').mockImplementation((deadline, call) => {
    waits.push(Number(deadline) - Date.now());
    return withDeadline(Date.now() + 500, call).finally(() => {
      clock = jest.spyOn(Date, 'now').mockReturnValue(Number(deadline));
    });
  });
  try {
    for (const _ of ['started', 'joined']) {
      await expect(reconcile(orchestrator.ferry, id)).rejects.toThrow(new RepairUnfinished(id));
      clock?.mockRestore();
    }
  } finally {
    clock?.mockRestore();
    shortened.mockRestore();
  }
  expect(waits.map((ms) => Math.round(ms / 60_000))).toEqual([30, 30]);
});

test.each([
  { when: 'at its deadline', client: 'reset-late', leftMs: 0, expected: RepairUnfinished },
  { when: 'long before its deadline', client: 'reset-early', leftMs: 60_000, expected: ServiceError },
])('the server resets the call for the result $when', async ({ client, leftMs, expected }) => {
  const { id } = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  const { temporal } = orchestrator.ferry;
  let clock: jest.SpyInstance | undefined;
  const reset = jest.spyOn(temporal, 'withDeadline').mockImplementation((deadline) => {
    clock = jest.spyOn(Date, 'now').mockReturnValue(Number(deadline) - leftMs);
    const cause = Object.assign(new Error('1 CANCELLED: Call cancelled'), { code: 1, details: '', metadata: {} });
    return Promise.reject(new ServiceError('Failed to get Workflow execution history', { cause }));
  });
  try {
    await expect(reconcile(orchestrator.ferry, id)).rejects.toThrow(expected);
  } finally {
    clock?.mockRestore();
    reset.mockRestore();
  }
});

test('an unfinished repair is reported with the command that waits for it', () => {
  expect(withAdvice(new RepairUnfinished('acme.xero'), {})).toMatchObject({
    message:
      'the repair of the ledger of acme.xero has not ended within 30 minutes; it makes progress only while a worker is running',
    advice: 'make sure that a worker is running; to wait for the result, run: ferry reconcile acme.xero',
  });
});
