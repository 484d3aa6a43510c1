/**
 * A ledger is never repaired from a malformed history: the history is refused, with the reason, and the refusal is not
 * retried.
 */
import type { Client } from '@temporalio/client';
import { defaultDataConverter, defaultPayloadConverter } from '@temporalio/common';
import { msToTs } from '@temporalio/common/lib/time';
import { createWorkflowRecords } from '../../../activities/migration/workflow-records';
import { UnknownPayloadKey } from '../../../security';

const ID = 'acme.quickbooks-online';
const ASKED_AT = '2026-03-02T09:00:00.000Z';
const DECISION = { kind: 'pause', decisionId: 'p', role: 'client', by: 'Cleo' };
const outcome = (changes: object = {}) => ({
  decisionId: 'p',
  applied: true,
  text: 'paused',
  at: ASKED_AT,
  ...changes,
});

const payloadsOf = (value: unknown) => ({ payloads: [defaultPayloadConverter.toPayload(value)] });
const scheduled = (input: unknown) => ({
  eventId: 5,
  eventTime: msToTs(Date.parse(ASKED_AT)),
  activityTaskScheduledEventAttributes: { activityType: { name: 'recordDecisions' }, input: payloadsOf(input) },
});
const completed = (result: unknown) => ({
  eventId: 7,
  activityTaskCompletedEventAttributes: { scheduledEventId: 5, result: payloadsOf(result) },
});

/** Returns a reader of records for a fake Temporal with this history and this mark. */
function recordsOf(
  events: readonly object[],
  {
    type = 'managedMigration',
    mark = 7,
    codecs = [],
  }: { type?: string; mark?: unknown; codecs?: readonly object[] } = {},
) {
  const started = { eventId: 1, workflowExecutionStartedEventAttributes: { workflowType: { name: type } } };
  const handle = {
    workflowId: ID,
    fetchHistory: async () => ({ events: [started, ...events] }),
    describe: async () => ({ type, status: { name: 'RUNNING' } }),
    query: async () => mark,
  };
  const options = { namespace: 'default', loadedDataConverter: { ...defaultDataConverter, payloadCodecs: codecs } };
  return createWorkflowRecords({ workflow: { getHandle: () => handle, options }, options } as unknown as Client);
}

test('decisions are read with the outcomes of the ledger, and with a time close to when Temporal scheduled the activity', async () => {
  const input = { recorded: [{ decision: DECISION, outcome: outcome({ at: '2020-01-01T00:00:00.000Z' }) }] };
  const stated = await recordsOf([scheduled(input)]).decisionsOf(ID);
  expect(stated).toMatchObject([{ decision: DECISION, outcome: { applied: true, at: '2026-03-02T08:55:00.000Z' } }]);
  const refused = { outcomes: [outcome({ applied: false, text: 'no' })] };
  const known = await recordsOf([scheduled(input), completed(refused)]).decisionsOf(ID);
  expect(known).toMatchObject([{ outcome: { applied: false, text: 'no', at: ASKED_AT } }]);
});

test.each<[string, readonly object[]]>([
  ['an input that is not an object', [scheduled('recorded')]],
  ['decisions that are not a list', [scheduled({ recorded: 7 })]],
  ['a record that is null', [scheduled({ recorded: [null] })]],
  [
    'a decision with an unknown field',
    [scheduled({ recorded: [{ decision: { ...DECISION, all: true }, outcome: outcome() }] })],
  ],
  [
    'a result without outcomes',
    [scheduled({ recorded: [{ decision: DECISION, outcome: outcome() }] }), completed(null)],
  ],
  [
    'a payload that cannot be read',
    [
      {
        ...scheduled({}),
        activityTaskScheduledEventAttributes: {
          activityType: { name: 'recordDecisions' },
          input: { payloads: [{ metadata: {}, data: new Uint8Array([1]) }] },
        },
      },
    ],
  ],
])('a history with %s is refused without a retry', async (_, events) => {
  await expect(recordsOf(events).decisionsOf(ID)).rejects.toMatchObject({
    ...{ nonRetryable: true, type: 'MalformedHistory' },
    // Has no cause, because `ferry` prints only the message of the deepest cause.
    cause: undefined,
    message: expect.stringMatching(
      new RegExp(
        `^the workflow ${ID} is not a migration of Tokenferry, or its history was changed: .*; in both cases, this workflow cannot be used to repair the ledger\\. .* terminate the workflow .* ferry sweep --close ${ID}, and start a migration of the remaining companies with another --label$`,
      ),
    ) as string,
  });
});

test('a history under a payload key that the worker lacks says which key to add', async () => {
  const decode = () => Promise.reject(new UnknownPayloadKey('0123456789abcdef', ['efgh']));
  await expect(recordsOf([scheduled({})], { codecs: [{ decode }] }).decisionsOf(ID)).rejects.toMatchObject({
    nonRetryable: true,
    message: expect.stringMatching(
      /^a worker cannot read the history of .* payload key 0123456789abcdef .* If nobody has this key, follow docs\/runbook\.md .* ferry reconcile/,
    ) as string,
  });
});

test('a history under a payload key that cannot exist says who may have written it', async () => {
  const decode = () => Promise.reject(new UnknownPayloadKey('no key', ['efgh']));
  await expect(recordsOf([scheduled({})], { codecs: [{ decode }] }).decisionsOf(ID)).rejects.toMatchObject({
    nonRetryable: true,
    message: expect.stringMatching(
      /no process can decrypt it\. .* find out who has write access .*, and follow docs\/runbook\.md/,
    ) as string,
  });
});

test.each([-1, 1.5, 1e300, '7', null])('a mark of %p is refused without a retry', async (mark) => {
  await expect(recordsOf([], { mark }).stateAndMarkOf(ID)).rejects.toMatchObject({ nonRetryable: true });
});

test("a workflow of another type with the migration's id is ignored", async () => {
  const other = recordsOf([scheduled('x')], { type: 'evil', mark: 9 });
  expect(await other.stateAndMarkOf(ID)).toEqual({ workflow: 'gone', ledgerMark: 0 });
  expect(await other.decisionsOf(ID)).toEqual([]);
  expect(await recordsOf([]).stateAndMarkOf(ID)).toEqual({ workflow: 'running', ledgerMark: 7 });
});
