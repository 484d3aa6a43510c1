import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { Outcome } from '../domain/migration/decision';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import { signedText } from '../domain/migration/signatures';
import type { Role } from '../domain/migration/steps';
import type { SigningKey } from '../security';
import { UnknownPayloadKey } from '../security';
import { readMigration, readOutcome } from '../store';
import { outcomeQuery } from '../workflows/messages';
import { ask } from './ask';
import { assertReadable } from './missing-key';
import { NoSuchMigration } from './no-such-migration';
import type { MigrationClient } from './open';

/** Who decides, and whatever else the message carries. */
export interface Sent {
  readonly role: Role;
  readonly by: string;
  readonly reason?: string;
  readonly [field: string]: unknown;
}

/** What became of a decision. */
export interface Answer {
  /** `recorded`: Temporal keeps it; a worker applies it as soon as one runs. */
  readonly became: 'applied' | 'refused' | 'recorded';
  readonly decisionId: string;
  readonly text: string;
  /** Whose key has signed it; null: it is not signed. */
  readonly signedBy: string | null;
}

/** A worker that runs answers sooner; when none does, Temporal has the decision from then on. */
const SIGNALLED_AFTER_MS = 2_000;
const ANSWER_WITHIN_MS = 12_000;
const ASK_EVERY_MS = 100;

/**
 * Sends a decision as an update, which a worker answers in one round trip. When none does it is left as a signal too,
 * which Temporal keeps until a worker runs: both together count once.
 *
 * @throws NoSuchMigration
 * @throws MigrationClosed
 * @throws NotReadable nothing was sent
 */
export async function decide(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  sent: Sent,
): Promise<Answer> {
  const signer = ferry.signer?.by === sent.by ? ferry.signer : null;
  const undecided: Decided = { decisionId: randomUUID(), ...sent };
  const decision = signer ? signed(signer, migrationId, message, undecided) : undecided;
  const { decisionId } = decision;
  const signedBy = signer?.by ?? null;
  try {
    await assertReadable(ferry, migrationId);
    const outcome = await sendDecision(ferry, migrationId, message, decision);
    if (outcome instanceof UnknownPayloadKey) {
      const text = `sent; what became of it cannot be read here: payload key ${outcome.keyId} is missing`;
      return { became: 'recorded', decisionId, text, signedBy };
    }
    if (outcome) {
      const text = await textOf(ferry, migrationId, message, outcome);
      return { became: outcome.applied ? 'applied' : 'refused', decisionId, text, signedBy };
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await closedOrMissing(ferry, migrationId);
    throw error;
  }
  return { became: 'recorded', decisionId, text: 'recorded, not yet applied: no worker answers', signedBy };
}

interface Decided extends Sent {
  readonly decisionId: string;
}

/** With the signature of the person at the keyboard, in whose name it is. */
function signed(signer: SigningKey, migrationId: string, message: DecisionMessage, decision: Decided): Decided {
  const content: Decided = { ...decision, signedAt: new Date().toISOString() };
  const value = signer.sign(signedText(migrationId, { message, content }));
  return { ...content, signature: { publicKey: signer.publicKey, value } };
}

/** Undefined: Temporal has it, and no worker has said what became of it. */
async function sendDecision(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  decision: Decided,
): Promise<Outcome | UnknownPayloadKey | undefined> {
  const handle = ferry.temporal.workflow.getHandle(migrationId);
  const until = Date.now() + ANSWER_WITHIN_MS;
  const answer = ferry.temporal
    .withDeadline(until, () => handle.executeUpdate<Outcome, [Decided]>(message, { args: [decision] }))
    // It was not answered, or not with an outcome: whether it was applied is asked for.
    .catch((error: unknown) => (error instanceof UnknownPayloadKey ? error : undefined));
  const outcome = await soonerThan(SIGNALLED_AFTER_MS, answer);
  if (outcome) return outcome;
  await handle.signal(message, decision);
  return (await answer) ?? (await outcomeWithin(ferry, migrationId, decision.decisionId, until));
}

async function soonerThan<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(() => resolve(undefined), ms)));
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function outcomeWithin(
  ferry: MigrationClient,
  migrationId: string,
  decisionId: string,
  until: number,
): Promise<Outcome | undefined> {
  while (Date.now() < until) {
    const outcome = await outcomeOf(ferry, migrationId, decisionId, until - Date.now());
    if (outcome) return outcome;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return undefined;
}

async function textOf(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  outcome: Outcome,
): Promise<string> {
  const settles = outcome.applied && ABOUT_COMPANIES.includes(message);
  const { text } = settles ? await carriedOut(ferry, migrationId, outcome) : outcome;
  return text;
}

async function outcomeOf(
  ferry: MigrationClient,
  migrationId: string,
  decisionId: string,
  withinMs: number,
): Promise<Outcome | null> {
  try {
    const outcome = await ask(ferry, migrationId, outcomeQuery, withinMs, { decisionId });
    return outcome ?? (ferry.db ? await readOutcome(ferry.db, migrationId, decisionId) : null);
  } catch {
    // Temporal has the decision, whatever keeps us from asking what became of it; a worker may start while we wait.
    return null;
  }
}

const ABOUT_COMPANIES: readonly DecisionMessage[] = ['exclude', 'skip', 'retry', 'relink', 'replaceCredential'];
const CARRIED_OUT_WITHIN_MS = 3_000;

/** What became of a decision about companies, once the ledger has it: some of them may have gone on meanwhile. */
async function carriedOut({ db }: MigrationClient, migrationId: string, outcome: Outcome): Promise<Outcome> {
  const until = Date.now() + CARRIED_OUT_WITHIN_MS;
  while (db && Date.now() < until) {
    const recorded = await readOutcome(db, migrationId, outcome.decisionId);
    if (recorded) return recorded;
    await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
  }
  return outcome;
}

/** Long after its end only the ledger remembers a migration. */
async function closedOrMissing({ db, closed }: MigrationClient, migrationId: string): Promise<Error> {
  const isRemembered = await closed.workflow
    .getHandle(migrationId)
    .describe()
    .then(
      () => true,
      () => false,
    );
  const migration = db && (await readMigration(db, migrationId));
  if (!migration && !isRemembered) return new NoSuchMigration(migrationId);
  return new MigrationClosed(
    `migration ${migrationId} is ${migration?.ending ?? 'closed'}: nothing is decided any more`,
  );
}

/** Thrown when a migration has ended: its decisions stand. */
export class MigrationClosed extends Error {
  override readonly name = 'MigrationClosed';
}
