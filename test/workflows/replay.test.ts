/** Replays recorded histories, because workflows must be able to continue runs that earlier versions have started. */
import path from 'node:path';
import type { PayloadCodec } from '@temporalio/common';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { createWorkerDataConverter, parsePayloadKeys, Secret } from '../../security';
import { loadHistories, type SavedHistory } from '../support/migrations/histories';
import { PAYLOAD_KEY } from '../support/servers/keys';
import { TRACE_SINKS } from '../../worker/traces';

const converter = createWorkerDataConverter(parsePayloadKeys(new Secret(PAYLOAD_KEY)));
const { payloadConverterPath = '', failureConverterPath = '' } = converter;
/**
 * Decodes without the serialization context, so that the codec does not check the namespace to which a payload is
 * bound: a replay uses an invented namespace.
 */
const dataConverter = {
  ...converter,
  payloadCodecs: (converter.payloadCodecs ?? []).map((codec): PayloadCodec => ({
    encode: (payloads) => codec.encode(payloads),
    decode: (payloads) => codec.decode(payloads),
  })),
};
const quiet = new DefaultLogger('ERROR');
const histories = [...loadHistories()];
/** Long enough to build a bundle and replay several hundred histories. */
jest.setTimeout(600_000);

beforeAll(() => {
  Runtime.install({ logger: quiet, telemetryOptions: { logging: { filter: 'OFF' } } });
});

type Code = NonNullable<Parameters<typeof Worker.runReplayHistories>[0]['workflowBundle']>;

/**
 * Returns the workflow ids of the histories that the code cannot replay. `debugMode: false` makes the workflows run in
 * a separate thread. In jest's own thread, which is the default of a replay, they take twice as long, because jest maps
 * the stack of every promise to its source.
 */
async function replayFailures(workflowBundle: Code, recorded: readonly SavedHistory[]): Promise<readonly string[]> {
  const failed: string[] = [];
  const options = { workflowBundle, dataConverter, debugMode: false, sinks: TRACE_SINKS };
  for await (const { workflowId, error } of Worker.runReplayHistories(options, recorded))
    if (error) failed.push(workflowId);
  return failed;
}

test('the current workflows replay every recorded history', async () => {
  expect(histories.length).toBeGreaterThan(30);
  const codePath = path.join(__dirname, '../../dist/workflow-bundle.js');
  expect(await replayFailures({ codePath }, histories)).toEqual([]);
});

describe('workflows that were changed without a patch', () => {
  let changed: Code;
  beforeAll(async () => {
    changed = await bundleWorkflowCode({
      workflowsPath: path.join(__dirname, 'changed-workflows/without-patch.ts'),
      payloadConverterPath,
      failureConverterPath,
      logger: quiet,
    });
  });

  it.each([
    ['a migration with an additional timer', /^[^.]+\.[^.]+$/],
    ['a batch run with fewer activities', /\.batch$/],
  ])('%s does not replay the recorded histories', async (_, workflowIds) => {
    const sample = histories.filter(({ workflowId }) => workflowIds.test(workflowId)).slice(0, 8);
    expect(sample).toHaveLength(8);
    expect(await replayFailures(changed, sample)).toEqual(sample.map(({ workflowId }) => workflowId));
  });
});
