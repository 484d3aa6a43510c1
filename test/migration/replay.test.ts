/** Workflows go on with what earlier versions of them have begun: recorded histories are replayed by today's code. */
import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import { readHistories } from '../support/histories';

const CONVERTER = path.join(__dirname, '../../workflows/payload-converter.ts');
const today = {
  workflowBundle: { codePath: path.join(__dirname, '../../dist/workflow-bundle.js') },
  dataConverter: { payloadConverterPath: CONVERTER },
};

type Code = Parameters<typeof Worker.runReplayHistories>[0];

/** The ids of those that this code cannot go on with. */
async function failing(code: Code, histories = readHistories()): Promise<readonly string[]> {
  const failed: string[] = [];
  for await (const { workflowId, error } of Worker.runReplayHistories(code, histories))
    if (error) failed.push(workflowId);
  return failed;
}

const changed = async (which: string): Promise<Code> => ({
  workflowBundle: await bundleWorkflowCode({
    workflowsPath: path.join(__dirname, 'changed-workflows', `${which}.ts`),
    payloadConverterPath: CONVERTER,
    logger: new DefaultLogger('ERROR'),
  }),
  dataConverter: { payloadConverterPath: CONVERTER },
});

test('every recorded history of every path is replayed by the workflows as they are now', async () => {
  expect([...readHistories()].length).toBeGreaterThan(30);
  expect(await failing(today)).toEqual([]);
});

test.each([
  ['a migration that does one thing more before it begins', 'one-more-timer', /^[^.]+\.[^.]+$/],
  ['a batch run that no longer tells its migration how far it is', 'fewer-activities', /\.batch$/],
])('%s fails to replay: such a change needs a patch', async (_, which, about) => {
  const concerned = [...readHistories()].filter(({ workflowId }) => about.test(workflowId));
  expect(concerned.length).toBeGreaterThan(5);
  expect(await failing(await changed(which))).toEqual(
    expect.arrayContaining(concerned.map(({ workflowId }) => workflowId)),
  );
});
