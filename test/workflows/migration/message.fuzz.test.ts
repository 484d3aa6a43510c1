/**
 * Fuzzes signals, updates and queries: any name, number of payloads, metadata and bytes, sent raw through Temporal's
 * gRPC API to one running migration. Afterwards the migration still answers, no workflow task has failed, and the
 * migration still accepts a decision. See test/support/faults/fuzz.ts for longer runs.
 */
import { randomUUID } from 'node:crypto';
import type { Payload } from '@temporalio/common';
import fc from 'fast-check';
import { readProgress } from '../../../client';
import { DECISION_MESSAGES } from '../../../domain/migration/parse-decision';
import { createPayloadCodec, parsePayloadKeys, Secret } from '../../../security';
import { readTrail } from '../../../store';
import {
  anyBytes,
  anyJson,
  anyText,
  brokenJson,
  fuzzer,
  NASTY_BYTES,
  NASTY_JSON,
  wellFormed,
  withinMs,
} from '../../support/faults/fuzz';
import { until } from '../../support/async';
import { PAYLOAD_KEY } from '../../support/servers/keys';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const messages = fuzzer('signals, updates and queries');

/** The number of messages between two checks that the migration still answers. */
const CHECK_EVERY = 40;

const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
beforeAll(async () => {
  migration = await startTestMigration(orchestrator, 'fuzzed-messages', ['sbx-ok-1.any']);
  await migration.until(({ preflight }) => preflight !== null);
});

interface Input {
  readonly as: 'signal' | 'update' | 'query';
  readonly name: string;
  readonly payloads: readonly Payload[];
  /** Temporal's header, which workflows can read. */
  readonly header: Readonly<Record<string, Payload>>;
}

const payload = (encoding: string | Buffer, data: string | Buffer, more: Record<string, Buffer> = {}): Payload => ({
  metadata: { encoding: Buffer.from(encoding as string), ...more },
  data: Buffer.from(data as string),
});
const json = (text: string): Payload => payload('json/plain', text);
const signal = (name: string, ...payloads: Payload[]): Input => ({ as: 'signal', name, payloads, header: {} });
const update = (name: string, ...payloads: Payload[]): Input => ({ ...signal(name, ...payloads), as: 'update' });

const SENDER = '"role":"support","by":"Sam"';
const SIGNATURE = `"signature":{"publicKey":"${'a'.repeat(64)}","value":"${'b'.repeat(128)}"}`;
const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;
const DEEP = [33, 2_000, 10_000].flatMap((depth) => [nested('[', ']', depth), nested('{"a":', '}', depth)]);
const DEEPEST = nested('[', ']', 200_000);
const LONG = 'x'.repeat(520_000);
const ENCODINGS = [
  ...['json/plain', 'binary/plain', 'binary/null', 'json/protobuf', 'binary/protobuf', 'binary/encrypted', ''],
  ...['JSON/PLAIN', '__proto__', 'constructor', 'binary/encrypted-altered'],
];

/** Messages that made, or could have made, a workflow task or the recording of a decision fail. */
const CORPUS: readonly Input[] = [
  // Messages, signed or not, with a value that is nested too deeply.
  ...DEEP.flatMap((deep) =>
    [signal, update].flatMap((send) => [
      send('pause', json(`{${SENDER},"extra":${deep}}`)),
      send('pause', json(`{${SENDER},${SIGNATURE},"extra":${deep}}`)),
      send('adjust', json(`{${SENDER},"limits":${deep}}`)),
      send('retry', json(`{${SENDER},"companies":[${deep}]}`)),
      send('pause', json(deep)),
    ]),
  ),
  signal('pause', json(`{${SENDER},"extra":${DEEPEST}}`)),
  update('pause', json(`{${SENDER},"extra":${DEEPEST}}`)),
  signal('pause', json(`{${SENDER},${SIGNATURE},"extra":"${LONG}"}`)),
  // An earlier version stored these values unchanged in the migration's state.
  signal('windowOpened', json(`{"opensAt":"${LONG}","closesAt":"x"}`)),
  signal('windowOpened', json(`{"opensAt":"2026-03-07T20:00Z","closesAt":"2026-03-07T21:00Z","x":${DEEP[5]}}`)),
  signal('outage', json(`{"why":"${LONG}","since":"x","until":"y"}`)),
  ...NASTY_JSON.flatMap((text) =>
    (['adjust', 'retry', 'pause'] as const).map((name) =>
      signal(name, json(`{${SENDER},${SIGNATURE},"reason":${text},"limits":${text},"companies":${text},"x":${text}}`)),
    ),
  ),
  ...ENCODINGS.flatMap((encoding) =>
    NASTY_BYTES.slice(0, 9).map((data, index) =>
      (index % 2 === 0 ? signal : update)('approve', payload(encoding, data)),
    ),
  ),
  ...['approve', 'outage', 'windowOpened', 'batchProgress', 'wake'].flatMap((name) => [
    signal(name),
    signal(name, {}, {}),
    signal(name, json('null')),
    signal(name, json('[]'), json('{}'), json('7')),
    update(name),
    ...DEEP.slice(0, 4).map((deep) => signal(name, json(deep))),
  ]),
  ...['__proto__', 'constructor', 'toString', '__temporal_', '__stack_trace', '\u0000', '', 'x'.repeat(2_000)].flatMap(
    (name) => [signal(name, json('{}')), update(name, json('{}'))],
  ),
  ...['progress', 'outcome', 'ledgerMark', '__stack_trace', '__temporal_workflow_metadata', 'none'].flatMap((name) =>
    [[], [json('null')], [json('{"decisionId":{}}')], [payload('x', '\u0000')]].map((payloads): Input => ({
      as: 'query',
      name,
      payloads,
      header: {},
    })),
  ),
];

const text = fc.oneof(anyJson, fc.constantFrom('"schedule"', '"R-1"', '["R-1"]', '"all"', '1', '"2026-03-07T20:00Z"'));
const fields = fc
  .array(
    fc.tuple(
      fc.oneof(
        fc.constantFrom('step', 'reason', 'companies', 'company', 'next', 'startAt', 'limits', 'digest', 'decisionId'),
        fc.constantFrom(
          'validUntil',
          'clientId',
          'environment',
          'approver',
          'added',
          'corrected',
          'windows',
          'signature',
          'row',
        ),
        anyText,
      ),
      text,
    ),
    { maxLength: 5 },
  )
  .map((entries) => entries.map(([key, value]) => `,${JSON.stringify(key)}:${value}`).join(''));
const decision = fc
  .tuple(
    fc.oneof(fc.constant('"support"'), fc.constant('"client"'), anyJson),
    fc.oneof(fc.constant('"Sam"'), anyJson),
    fields,
  )
  .map(([role, by, more]) => json(`{"role":${role},"by":${by}${more}}`));
const metadata = fc.dictionary(
  fc.oneof(fc.constantFrom('encryption-key-id', 'encoding', 'messageType', 'namespace', 'workflow-id'), anyText),
  anyBytes,
  { maxKeys: 3 },
);
const anyPayload: fc.Arbitrary<Payload> = fc.oneof(
  { arbitrary: decision, weight: 6 },
  fc
    .tuple(fc.oneof(fc.constantFrom(...ENCODINGS), anyText), anyBytes, metadata)
    .map(([encoding, data, more]) => payload(encoding, data, more)),
  brokenJson.map(json),
  fc.constant({}),
);
const anyMessage: fc.Arbitrary<Input> = fc.record({
  as: fc.constantFrom('signal', 'signal', 'signal', 'update', 'query'),
  // A cancellation that happens to be well-formed would end the migration.
  name: fc.oneof(
    { arbitrary: fc.constantFrom(...DECISION_MESSAGES.filter((name) => name !== 'cancel')), weight: 6 },
    fc.constantFrom('progress', 'outcome', 'ledgerMark', 'outage', 'windowOpened', 'wake', 'batchProgress'),
    anyText,
  ),
  payloads: fc.oneof({ arbitrary: anyPayload.map((one) => [one]), weight: 6 }, fc.array(anyPayload, { maxLength: 3 })),
  header: fc.oneof(
    { arbitrary: fc.constant({}), weight: 6 },
    fc.dictionary(anyText.map(wellFormed), anyPayload, { maxKeys: 2 }),
  ),
});

/** Sends a message. Temporal itself refuses some messages, for example if the name is missing. */
async function send({ as, name, payloads, header }: Input): Promise<void> {
  const { temporal } = orchestrator.ferry;
  const { namespace } = temporal.options;
  const workflowExecution = { workflowId: migration.id };
  const args = { payloads: [...payloads] };
  const service = temporal.workflowService;
  const sent = async (): Promise<unknown> => {
    if (as === 'signal')
      return service.signalWorkflowExecution({
        ...{ namespace, workflowExecution, signalName: name, input: args, header: { fields: header } },
        requestId: randomUUID(),
      });
    if (as === 'query')
      return service.queryWorkflow({
        ...{ namespace, execution: workflowExecution },
        query: { queryType: name, queryArgs: args, header: { fields: header } },
      });
    return service.updateWorkflowExecution({
      ...{ namespace, workflowExecution, waitPolicy: { lifecycleStage: 2 } },
      request: { meta: { updateId: randomUUID(), identity: 'any' }, input: { name, args, header: { fields: header } } },
    });
  };
  await temporal.connection.withDeadline(Date.now() + 30_000, sent).catch((error: unknown) => {
    if (String(error).includes('DEADLINE_EXCEEDED')) throw error;
  });
}

/**
 * Returns the reasons of the workflow tasks that have failed, except those that fail by design. Pages are short,
 * because messages are long.
 */
async function failedTasks(): Promise<readonly string[]> {
  const { workflow, workflowService, options } = orchestrator.ferry.temporal;
  const reasons: string[] = [];
  for await (const { runId } of workflow.list({ query: `WorkflowId = '${migration.id}'` })) {
    const run = { namespace: options.namespace, execution: { workflowId: migration.id, runId }, maximumPageSize: 20 };
    let token: Uint8Array = new Uint8Array();
    do {
      const page: Awaited<ReturnType<typeof workflowService.getWorkflowExecutionHistory>> =
        await workflowService.getWorkflowExecutionHistory({ ...run, nextPageToken: token });
      for (const { workflowTaskFailedEventAttributes: failed } of page.history?.events ?? [])
        // A message that arrives while a task completes fails that task by design.
        if (failed?.failure?.message && failed.failure.message !== 'UnhandledCommand')
          reasons.push(failed.failure.message);
      token = page.nextPageToken ?? new Uint8Array();
    } while (token.length > 0);
  }
  return reasons;
}

async function assertAnswering(): Promise<void> {
  const progress = await orchestrator.ferry.temporal.connection.withDeadline(Date.now() + 30_000, () =>
    readProgress(orchestrator.ferry, migration.id),
  );
  expect(['waiting', 'paused', 'working']).toContain(progress.state);
}

test(
  'any message leaves a migration that answers, has failed no workflow task, and accepts a decision',
  async () => {
    let sent = 0;
    await messages.tryAll({ corpus: CORPUS, any: anyMessage, generated: 150 }, async (input) => {
      await send(input);
      sent += 1;
      if (sent % CHECK_EVERY === 0) await assertAnswering();
    });
    await assertAnswering();
    expect(await failedTasks()).toEqual([]);
    // Decisions are recorded in order, so the last decision is in the audit trail only once all others are.
    const last = { decisionId: randomUUID(), reason: 'the last one', ...SUPPORT };
    expect(await migration.send('pause', last)).toMatch(/^applied|already paused the migration/);
    await until(async () => {
      for await (const { decision: each } of readTrail(orchestrator.ferry.db, migration.id))
        if (each.decisionId === last.decisionId) return true;
      return false;
    }, 60_000);
  },
  withinMs(180_000),
);

test('an encrypted message of any content is decrypted and refused like a plain message', async () => {
  const codec = createPayloadCodec(parsePayloadKeys(new Secret(PAYLOAD_KEY)));
  for (const deep of DEEP) {
    const payloads = await codec.encode([json(`{${SENDER},"extra":${deep}}`)]);
    await send({ as: 'signal', name: 'resume', payloads, header: {} });
  }
  await assertAnswering();
  expect(await failedTasks()).toEqual([]);
});
