/** Workflows go on with what earlier versions of them have begun: histories that were kept are replayed by today's code. */
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { dataConverterOf, parsePayloadKeys, Secret } from '../../security';
import type { KeptHistory } from '../support/histories';
import { keptHistories } from '../support/histories';
import { PAYLOAD_KEY } from '../support/orchestrator';

const dataConverter = dataConverterOf(parsePayloadKeys(new Secret(PAYLOAD_KEY)));
const { payloadConverterPath = '', failureConverterPath = '' } = dataConverter;
const quiet = new DefaultLogger('ERROR');
const histories = [...keptHistories()];
/** Bundles are made, and a hundred histories replayed. */
jest.setTimeout(600_000);

beforeAll(() => {
  Runtime.install({ logger: quiet, telemetryOptions: { logging: { filter: 'OFF' } } });
});

type Code = NonNullable<Parameters<typeof Worker.runReplayHistories>[0]['workflowBundle']>;

/** The ids of those that this code cannot go on with. */
async function failing(workflowBundle: Code, begun: readonly KeptHistory[]): Promise<readonly string[]> {
  const failed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories({ workflowBundle, dataConverter }, begun))
    if (error) failed.push(workflowId);
  return failed;
}

async function changed(which: string): Promise<Code> {
  return bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'changed-workflows', `${which}.ts`),
    payloadConverterPath,
    failureConverterPath,
    logger: quiet,
  });
}

test('every history of every path is replayed by the workflows as they are now', async () => {
  expect(histories.length).toBeGreaterThan(30);
  const codePath = path.join(__dirname, '../../dist/workflow-bundle.js');
  expect(await failing({ codePath }, histories)).toEqual([]);
});

test.each([
  ['a migration that does one thing more before it begins', 'one-more-timer', /^[^.]+\.[^.]+$/],
  ['a batch run that leaves out what it did', 'fewer-activities', /\.batch$/],
])('%s fails to replay: such a change needs a patch', async (_, which, about) => {
  const some = histories.filter(({ workflowId }) => about.test(workflowId)).slice(0, 8);
  expect(some).toHaveLength(8);
  expect(await failing(await changed(which), some)).toEqual(some.map(({ workflowId }) => workflowId));
});
