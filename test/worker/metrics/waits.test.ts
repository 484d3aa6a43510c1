/** Tests the reported waiting times of migrations, even if workflows do not answer. */
import type { Client } from '@temporalio/client';
import { WaitReader } from '../../../worker/metrics/waits';

const HOUR_MS = 3_600_000;

/**
 * Returns a client of a Temporal with these migrations, and the ids of the migrations that were queried. Migrations in
 * `silent` answer no query before the deadline.
 */
function clientWith(ids: readonly string[], silent: ReadonlySet<string>) {
  const asked: string[] = [];
  let deadlineMs = 0;
  const workflow = {
    async *list() {
      const searchAttributes = { FerryStep: ['schedule'], FerryState: ['running'], FerryWaitingFor: ['client'] };
      for (const workflowId of ids) yield { workflowId, searchAttributes };
    },
    getHandle: (workflowId: string) => ({
      query: async () => {
        asked.push(workflowId);
        if (!silent.has(workflowId)) return { waitingSince: new Date(Date.now() - HOUR_MS).toISOString() };
        await new Promise((resolve) => setTimeout(resolve, Math.max(0, deadlineMs - Date.now())));
        throw new Error('deadline exceeded');
      },
    }),
  };
  const withDeadline = async <T>(deadline: number, work: () => Promise<T>): Promise<T> => {
    deadlineMs = deadline;
    return work();
  };
  return { client: { workflow, withDeadline } as unknown as Client, asked };
}

const idsOf = (name: string, count: number) => Array.from({ length: count }, (_, index) => `${name}-${index}.xero`);

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

test('silent workflows delay a reading by 2 seconds in all, and the others are asked in the next reading', async () => {
  const silent = idsOf('silent', 30);
  const { client, asked } = clientWith([...silent, 'answers.xero'], new Set(silent));
  const reader = new WaitReader(client);
  const read = async () => {
    const reading = reader.read();
    await jest.advanceTimersByTimeAsync(2_000);
    return reading;
  };
  expect((await read()).client).toEqual({ migrations: 31, oldestSeconds: 0 });
  expect(asked).toEqual(silent.slice(0, 20));
  expect((await read()).client).toMatchObject({ migrations: 31, oldestSeconds: expect.closeTo(3_600, 0) as number });
  expect(asked.slice(20)).toEqual([...silent.slice(20), 'answers.xero', ...silent.slice(0, 9)]);
});

test('a workflow that has answered is asked again only when it waits for something else', async () => {
  const { client, asked } = clientWith(['answers.xero'], new Set());
  const reader = new WaitReader(client);
  await reader.read();
  jest.advanceTimersByTime(60_000);
  expect((await reader.read()).client.oldestSeconds).toBeCloseTo(3_660, 0);
  expect(asked).toEqual(['answers.xero']);
});
