/** Workflows under fixed ids: the effect in the ledger counts, not the result of whichever workflow has the id. */
import { ServiceError, WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { WorkflowHadNoEffect, WorkflowIdOccupied, type LedgerClient } from '../../client';
import { runUntilEffect } from '../../client/workflow-ids';
import { TASK_QUEUE } from '../../workflows/messages';

const WORKFLOW = { type: 'ours', workflowId: 'acme.xero.closing', args: [{}] as const, staticSummary: 'x' };

/** Returns a fake Temporal in which these workflows, one after another, already occupy the id. */
function temporalWith(...existing: readonly (readonly [type: string, taskQueue: string])[]) {
  const remaining = [...existing];
  let started = 0;
  const workflow = {
    start: async () => {
      if (remaining.length > 0) throw new WorkflowExecutionAlreadyStartedError('exists', 'acme.xero.closing', 'ours');
      started += 1;
      return 'started';
    },
    getHandle: () => ({
      describe: async () => {
        const [type, taskQueue] = remaining.shift() ?? [];
        return { type, taskQueue };
      },
    }),
  } as unknown as Client['workflow'];
  const temporal = { workflow } as Client;
  const ferry = { temporal, temporalWithoutCodec: temporal } as LedgerClient;
  return { ferry, started: () => started };
}

const isStarted = async (handle: unknown) => (handle === 'started' ? 'done' : null);

test('a workflow that an earlier call has started is joined', async () => {
  const { ferry, started } = temporalWith(['ours', TASK_QUEUE]);
  expect(await runUntilEffect(ferry, WORKFLOW, async () => 'done')).toBe('done');
  expect(started()).toBe(0);
});

test.each([
  ['has no effect', isStarted],
  ['fails', async (handle: unknown) => (handle === 'started' ? 'done' : Promise.reject(new Error('refused')))],
])('if a joined workflow %s, the workflow is started', async (_, effectOf) => {
  const { ferry, started } = temporalWith(['ours', TASK_QUEUE]);
  expect(await runUntilEffect(ferry, WORKFLOW, effectOf)).toBe('done');
  expect(started()).toBe(1);
});

test.each([
  ['a workflow of another type', [['theirs', TASK_QUEUE]]],
  ['a workflow on another task queue', [['ours', 'theirs']]],
  ['one workflow after another without an effect', Array<[string, string]>(2).fill(['ours', TASK_QUEUE])],
] as const)('%s occupies the id, and the message says how to end it', async (_, existing) => {
  const { ferry, started } = temporalWith(...existing);
  const running = runUntilEffect(ferry, WORKFLOW, isStarted);
  await expect(running).rejects.toThrow(WorkflowIdOccupied);
  await expect(running).rejects.toThrow(/temporal workflow terminate --workflow-id acme.xero.closing$/);
  expect(started()).toBe(0);
});

test('a joined workflow that is still running after the deadline is not called a stranger', async () => {
  const { ferry, started } = temporalWith(['ours', TASK_QUEUE]);
  const late = new ServiceError('deadline exceeded');
  await expect(runUntilEffect(ferry, WORKFLOW, () => Promise.reject(late))).rejects.toBe(late);
  expect(started()).toBe(0);
});

test('a result without an effect in the ledger is not trusted', async () => {
  await expect(runUntilEffect(temporalWith().ferry, WORKFLOW, async () => null)).rejects.toThrow(WorkflowHadNoEffect);
});
