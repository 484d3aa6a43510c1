import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Outcome } from '../../domain/decision';
import type { DecisionMessage } from '../../domain/read-decision';
import type { Role } from '../../domain/steps';
import { readMigration, readOutcome } from '../../store';
import { outcomeQuery } from '../../workflows/messages';
import { ask } from './ask';
import { NoSuchMigration } from './no-such-migration';
import type { Ferry } from './open-ferry';

/** Who decides, and whatever else the message carries. */
export interface Sent {
  readonly role: Role;
  readonly by: string;
  readonly reason?: string;
  readonly [field: string]: unknown;
}

/** What became of a decision. */
export type Answer =
  | { readonly became: 'applied' | 'refused'; readonly decisionId: string; readonly text: string }
  /** Temporal keeps it; a worker applies it as soon as one runs. */
  | { readonly became: 'recorded'; readonly decisionId: string; readonly text: string };

/** A worker that runs answers an update at once. */
const UPDATED_WITHIN_MS = 2_000;
const ANSWER_WITHIN_MS = 10_000;
const ASK_EVERY_MS = 100;

/**
 * Sends a decision as an update, which a worker answers in one round trip. When none does it is left as a signal, which
 * Temporal keeps until a worker runs, and asked for: should both arrive, they count once.
 *
 * @throws NoSuchMigration
 * @throws MigrationClosed
 */
export async function decide(ferry: Ferry, migrationId: string, message: DecisionMessage, sent: Sent): Promise<Answer> {
  const decision: Decided = { decisionId: randomUUID(), ...sent };
  try {
    const outcome =
      (await updated(ferry, migrationId, message, decision)) ??
      (await signalled(ferry, migrationId, message, decision));
    if (outcome) return await answerOf(ferry, migrationId, message, outcome);
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await closedOrMissing(ferry, migrationId);
    throw error;
  }
  const { decisionId } = decision;
  return { became: 'recorded', decisionId, text: 'recorded, not yet applied: no worker answers' };
}

interface Decided extends Sent {
  readonly decisionId: string;
}

/** Undefined: nobody answered, or not with an outcome; whether it was applied is not known. */
async function updated(
  { temporal }: Ferry,
  migrationId: string,
  message: DecisionMessage,
  decision: Decided,
): Promise<Outcome | undefined> {
  const handle = temporal.workflow.getHandle(migrationId);
  try {
    return await temporal.withDeadline(Date.now() + UPDATED_WITHIN_MS, () =>
      handle.executeUpdate<Outcome, [Decided]>(message, { args: [decision], updateId: decision.decisionId }),
    );
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw error;
    return undefined;
  }
}

/** Undefined: Temporal has it, and no worker has said what became of it. */
async function signalled(
  ferry: Ferry,
  migrationId: string,
  message: DecisionMessage,
  decision: Decided,
): Promise<Outcome | undefined> {
  await ferry.temporal.workflow.getHandle(migrationId).signal(message, decision);
  const until = Date.now() + ANSWER_WITHIN_MS;
  while (Date.now() < until) {
    const outcome = await outcomeOf(ferry, migrationId, decision.decisionId, until - Date.now());
    if (outcome) return outcome;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return undefined;
}

async function answerOf(
  ferry: Ferry,
  migrationId: string,
  message: DecisionMessage,
  outcome: Outcome,
): Promise<Answer> {
  const settles = outcome.applied && ABOUT_COMPANIES.includes(message);
  const { text } = settles ? await carriedOut(ferry, migrationId, outcome) : outcome;
  return { became: outcome.applied ? 'applied' : 'refused', decisionId: outcome.decisionId, text };
}

async function outcomeOf(
  ferry: Ferry,
  migrationId: string,
  decisionId: string,
  withinMs: number,
): Promise<Outcome | null> {
  try {
    const outcome = await ask(ferry, migrationId, outcomeQuery, withinMs, { decisionId });
    return outcome ?? (await readOutcome(ferry.db, migrationId, decisionId));
  } catch {
    // Temporal has the decision, whatever keeps us from asking what became of it; a worker may start while we wait.
    return null;
  }
}

const ABOUT_COMPANIES: readonly DecisionMessage[] = ['exclude', 'skip', 'retry', 'relink', 'replaceCredential'];
const CARRIED_OUT_WITHIN_MS = 3_000;

/** What became of a decision about companies, once the ledger has it: some of them may have gone on meanwhile. */
async function carriedOut({ db }: Ferry, migrationId: string, outcome: Outcome): Promise<Outcome> {
  const until = Date.now() + CARRIED_OUT_WITHIN_MS;
  while (Date.now() < until) {
    const recorded = await readOutcome(db, migrationId, outcome.decisionId);
    if (recorded) return recorded;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return outcome;
}

async function closedOrMissing({ db }: Ferry, migrationId: string): Promise<Error> {
  const migration = await readMigration(db, migrationId);
  if (!migration) return new NoSuchMigration(migrationId);
  return new MigrationClosed(
    `migration ${migrationId} is ${migration.ending ?? 'closed'}: nothing is decided any more`,
  );
}

/** Thrown when a migration has ended: its decisions stand. */
export class MigrationClosed extends Error {
  override readonly name = 'MigrationClosed';
}
