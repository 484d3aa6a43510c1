/** Delivers a decision as an update, and if that is not answered soon, also as a signal. Waits for the outcome. */
import { setTimeout as delay } from 'node:timers/promises';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Outcome } from '../domain/migration/decision';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import { UnknownPayloadKey } from '../security';
import { readOutcome } from '../store';
import { outcomeQuery, UNKNOWN_PAYLOAD_KEY } from '../workflows/messages';
import type { MigrationClient } from './connect';
import { queryMigration } from './query';

/** The time to wait for the update before also sending the signal. A running worker answers sooner. */
const SIGNAL_AFTER_MS = 2_000;
const ANSWER_WITHIN_MS = 12_000;
/** Queries that are more frequent would slow down a busy worker. */
const QUERY_EVERY_MS = 500;
const READ_LEDGER_EVERY_MS = 100;
const IN_LEDGER_WITHIN_MS = 3_000;

/** A decision with the id that identifies it in the audit trail. */
interface SentDecision {
  readonly decisionId: string;
}

/**
 * Sends a decision and waits for its outcome.
 *
 * @returns the outcome; undefined if Temporal has the decision but no worker has answered; an `UnknownPayloadKey` if
 * the answer cannot be decrypted.
 */
export async function send(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  decision: SentDecision,
): Promise<Outcome | UnknownPayloadKey | undefined> {
  const handle = ferry.temporal.workflow.getHandle(migrationId);
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const update = ferry.temporal
    .withDeadline(deadline, () => handle.executeUpdate<Outcome, [SentDecision]>(message, { args: [decision] }))
    // A failure because of a missing payload key is final. After any other failure, it is unknown whether the decision
    // was applied, so the code below sends it again as a signal and queries its outcome.
    .catch((error: unknown) =>
      error instanceof UnknownPayloadKey ? error : refusalForMissingKey(error, decision.decisionId),
    );
  const early = await resolvedWithin(SIGNAL_AFTER_MS, update);
  if (early) return early;
  await handle.signal(message, decision);
  // The update does not answer until the decision is in the ledger. While the database is down, only the query answers.
  let answered = false;
  const queried = pollOutcome(ferry, migrationId, decision.decisionId, deadline, () => answered);
  return Promise.race([update.then((outcome) => outcome ?? queried), queried]).finally(() => (answered = true));
}

/**
 * Returns the refusal by a worker that lacks the key to decrypt the decision; undefined if the update failed for
 * another reason.
 */
function refusalForMissingKey(error: unknown, decisionId: string): Outcome | undefined {
  const { cause } = error instanceof WorkflowUpdateFailedError ? error : { cause: undefined };
  if (!(cause instanceof ApplicationFailure) || cause.type !== UNKNOWN_PAYLOAD_KEY) return undefined;
  return { decisionId, applied: false, text: cause.message, at: new Date().toISOString() };
}

async function resolvedWithin<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function pollOutcome(
  ferry: MigrationClient,
  migrationId: string,
  decisionId: string,
  deadline: number,
  isAnswered: () => boolean,
): Promise<Outcome | undefined> {
  while (Date.now() < deadline && !isAnswered()) {
    const outcome = await readOutcomeIfAnswered(ferry, migrationId, decisionId, deadline - Date.now());
    if (outcome) return outcome;
    await delay(QUERY_EVERY_MS);
  }
  return undefined;
}

async function readOutcomeIfAnswered(
  ferry: MigrationClient,
  migrationId: string,
  decisionId: string,
  withinMs: number,
): Promise<Outcome | null> {
  try {
    const outcome = await queryMigration(ferry, migrationId, outcomeQuery, withinMs, { decisionId });
    return outcome ?? (ferry.db ? await readOutcome(ferry.db, migrationId, decisionId) : null);
  } catch {
    // Ignored, because Temporal already has the decision, and a worker can still start before the deadline.
    return null;
  }
}

/**
 * Reads the ledger's outcome of a decision that the migration has applied, and waits for it up to 3 s.
 *
 * Only the ledger's outcome counts: it decides what may be moved, and it has the number of companies that a decision
 * has changed. The migration's outcome can come first, for example while the database is down. A program that takes
 * tasks from the workers' task queue could even forge it.
 *
 * @returns null if the ledger has no outcome in time, or cannot be read. If `ferry` is not connected to the ledger,
 * returns the given outcome
 */
export async function outcomeInLedger(
  { db }: MigrationClient,
  migrationId: string,
  outcome: Outcome,
): Promise<Outcome | null> {
  if (!db) return outcome;
  const deadline = Date.now() + IN_LEDGER_WITHIN_MS;
  do {
    const recorded = await readOutcome(db, migrationId, outcome.decisionId).catch(() => null);
    if (recorded) return recorded;
    await delay(READ_LEDGER_EVERY_MS);
  } while (Date.now() < deadline);
  return null;
}
