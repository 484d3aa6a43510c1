/**
 * The interceptors of all workflows: traces (`traces.ts`), the step in log lines, and payloads that this worker cannot
 * decrypt because it does not have their payload key.
 *
 * Anyone who may write to the namespace can send a message with such a payload, so the message is refused instead of
 * failing the workflow task: an update and a query are rejected, and a signal reaches its handler as an
 * `UnreadablePayload`. If the payload is an input or a result, which our own clients and workers write, the workflow
 * task fails, and Temporal retries it until the key has been added.
 *
 * A signal must have the same effect in every replay, even in a worker that has the key. Its refusal is therefore
 * recorded in the history with the SDK's patch marker, the only marker that a handler can write synchronously.
 */
import { defineSearchAttributeKey } from '@temporalio/common/lib/search-attributes';
import { ApplicationFailure, patched, workflowInfo, type WorkflowInterceptors } from '@temporalio/workflow';
import { UnreadablePayload } from '../domain/migration/decision';
import { BATCH_RUN, SEARCH_ATTRIBUTES, UNKNOWN_PAYLOAD_KEY } from './messages';
import { traceInterceptors } from './traces';

/** Creates the interceptors of one workflow execution. The SDK calls this function by its name. */
export function interceptors(): WorkflowInterceptors {
  let signals = 0;
  let failed: UndecryptableData | null = null;
  const traces = traceInterceptors();

  /** @throws {UndecryptableData} to fail the workflow task */
  function failTask(lacking: UnreadablePayload): never {
    failed = new UndecryptableData(lacking);
    throw failed;
  }

  function assertReadable(values: readonly unknown[]): void {
    const unreadable = values.find(isUnreadable);
    if (unreadable) failTask(unreadable);
  }

  return {
    inbound: [
      traces.inbound,
      {
        // Not an async function, because that would hold two promises for as long as the workflow runs.
        execute: (input, next) => {
          assertReadable(input.args);
          return next(input);
        },
        handleSignal: async (input, next) => {
          signals += 1;
          const marker = `unreadable-signal-${signals}`;
          const lacking = input.args.find(isMissingKey);
          // In a replay, `patched` returns whether the marker is in the history. Outside a replay, it writes the marker
          // and returns true.
          if (lacking) {
            if (!patched(marker)) failTask(lacking);
          } else if (workflowInfo().unsafe.isReplaying && patched(marker)) {
            return next({ ...input, args: [new UnreadablePayload(KEY_WAS_MISSING)] });
          }
          return next(input);
        },
        validateUpdate: (input, next) => {
          const lacking = input.args.find(isMissingKey);
          if (lacking) throw ApplicationFailure.nonRetryable(lacking.unreadable, UNKNOWN_PAYLOAD_KEY);
          next(input);
        },
        handleUpdate: async (input, next) => {
          // If an argument lacks its key here, this is a replay: the worker that validated the update had the key.
          assertReadable(input.args.filter(isMissingKey));
          return next(input);
        },
        handleQuery: async (input, next) => {
          if (failed !== null) throw failed;
          const unreadable = input.args.find(isUnreadable);
          if (unreadable) throw new UndecryptableData(unreadable);
          return next(input);
        },
      },
    ],
    outbound: [
      traces.outbound,
      {
        getLogAttributes: (attributes, next) => next({ ...attributes, ...stepField() }),
        startChildWorkflowExecution: async (input, next) => {
          const [started, completed] = await next(input);
          const result = completed.then((value) => {
            assertReadable([value]);
            return value;
          });
          // The caller can ignore the result. Without this handler, a failure would then be reported as unhandled.
          result.catch(() => undefined);
          return [started, result];
        },
      },
    ],
    internals: [
      traces.internals,
      {
        // After a failure, sends only answers to queries. The SDK keeps the commands of a failed task, and would send
        // them with the next answer. Its core treats that as a bug in the worker, and stops the whole worker.
        concludeActivation: ({ commands }, next) =>
          next({ commands: failed === null ? commands : commands.filter(({ respondToQuery }) => respondToQuery) }),
      },
    ],
  };
}

const STEP = defineSearchAttributeKey('FerryStep', SEARCH_ATTRIBUTES.FerryStep);

/**
 * Returns the step for log lines. A migration's step is in a search attribute. A batch run has no such attribute, but
 * batch runs exist only in the last step.
 */
function stepField(): { readonly step?: string } {
  const { workflowType, typedSearchAttributes } = workflowInfo();
  const step = workflowType === BATCH_RUN ? 'complete-migration' : typedSearchAttributes.get(STEP);
  return step === undefined ? {} : { step };
}

/**
 * The reason for the refusal if a worker that has the key replays the message. It does not name the key, because a
 * decrypted payload no longer contains the key's id.
 */
const KEY_WAS_MISSING =
  'the message was encrypted with a payload key that the worker did not have when the message arrived; send the message again';

/** Thrown to fail the workflow task, which Temporal then retries, or to reject a query. */
class UndecryptableData extends Error {
  override readonly name = 'UndecryptableData';
  constructor({ missingKey, unreadable }: UnreadablePayload) {
    super(
      missingKey === null || missingKey === ''
        ? `A payload of this workflow cannot be read: ${unreadable}`
        : `A payload was encrypted under payload key ${missingKey}, which this worker does not have. ` +
            'Start every worker with that payload key as well.',
    );
  }
}

const isUnreadable = (value: unknown): value is UnreadablePayload => value instanceof UnreadablePayload;
const isMissingKey = (value: unknown): value is UnreadablePayload => isUnreadable(value) && value.missingKey !== null;
