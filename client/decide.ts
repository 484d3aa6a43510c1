import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { Outcome } from '../domain/migration/decision';
import { signingRules } from '../domain/migration/approvers';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import type { Signature } from '../domain/migration/signatures';
import { parseSigned, signatureRefusal, bytesToSign } from '../domain/migration/signatures';
import type { Role } from '../domain/migration/steps';
import { inSpan } from '../observability/tracing';
import type { SigningKey } from '../security';
import { UnknownPayloadKey } from '../security';
import type { StoredMigration } from '../store';
import { readMigration, readOutcome, readRecordedDecisions } from '../store';
import { outcomeQuery, UNKNOWN_PAYLOAD_KEY } from '../workflows/messages';
import type { LedgerClient, MigrationClient } from './connect';
import { LedgerBehind, MigrationClosed, NoSuchMigration } from './errors';
import { readWorkflowTaskProblem } from './health';
import { assertPayloadKeyConfigured } from './payload-keys';
import { queryMigration } from './query';
import { isLedgerProvenBehind } from './reconcile';

/** The fields of a decision: who decides, and what this kind of decision needs, for example `step` and `digest`. */
export interface DecisionContent {
  readonly role: Role;
  /** The person who decides. The decision is signed if this person holds the configured signing key. */
  readonly by: string;
  readonly reason?: string;
  readonly [field: string]: unknown;
}

/** The result of sending a decision. */
export interface DecisionResult {
  /**
   * `recorded` means that Temporal has the decision, but its outcome is not known to this program: no worker has
   * applied or refused it yet, it is not in the ledger yet, or the outcome cannot be decrypted.
   */
  readonly outcome: 'applied' | 'refused' | 'recorded';
  /** Identifies the decision in the audit trail. */
  readonly decisionId: string;
  /** The outcome in a sentence. */
  readonly text: string;
  /** The name in the key that signed the decision; null if it is not signed. */
  readonly signedBy: string | null;
}

/** The time to wait for the update before also sending the signal. A running worker answers sooner. */
const SIGNAL_AFTER_MS = 2_000;
const ANSWER_WITHIN_MS = 12_000;
/** Queries that are more frequent would slow down a busy worker. */
const QUERY_EVERY_MS = 500;
const READ_LEDGER_EVERY_MS = 100;

/**
 * Sends a decision and waits up to 12 s for its outcome. If the migration has applied the decision, and `ferry` is
 * connected to the ledger's database, waits up to 3 s more for the ledger's outcome.
 *
 * Sends the decision as an update, which the migration answers once the decision is in the ledger. If no answer arrives
 * within 2 s, also sends the same decision as a signal, because Temporal keeps signals until a worker runs. Then
 * queries the outcome. The duplicate is harmless, because a migration applies each decision id only once.
 *
 * @param message the kind of decision: `approve`, `reject`, `pause`, `retry`, ...
 * @throws NoSuchMigration
 * @throws MigrationClosed
 * @throws PayloadKeyMissing if the payload key is not configured on this machine; nothing has been sent
 * @throws LedgerBehind nothing has been sent
 */
export async function decide(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  content: DecisionContent,
): Promise<DecisionResult> {
  const signer = signerOf(ferry, content);
  const unsigned: IdentifiedDecision = { decisionId: randomUUID(), ...content };
  const decision = signer ? signed(signer, migrationId, message, unsigned) : unsigned;
  return sendAndWait(ferry, migrationId, message, decision, signer?.by ?? null);
}

/** A decision with its signature, as its signer has sent it. */
export interface SignedDecision extends IdentifiedDecision {
  readonly signedAt: string;
  readonly signature: Signature;
}

/**
 * Sends a decision that another program has signed, unchanged, and waits for its outcome like {@link decide}. Does not
 * verify the signature. If the decision is already in the ledger, returns its outcome and sends nothing.
 *
 * @throws NoSuchMigration
 * @throws MigrationClosed
 * @throws PayloadKeyMissing if the payload key is not configured on this machine; nothing has been sent
 * @throws LedgerBehind nothing has been sent
 */
export async function sendSigned(
  ferry: LedgerClient,
  migrationId: string,
  message: DecisionMessage,
  decision: SignedDecision,
): Promise<DecisionResult> {
  const { decisionId, by } = decision;
  // The decision may have ended the migration, so that it could not be sent again.
  const recorded = await readOutcome(ferry.db, migrationId, decisionId);
  if (!recorded) return sendAndWait(ferry, migrationId, message, decision, by);
  return { outcome: recorded.applied ? 'applied' : 'refused', decisionId, text: recorded.text, signedBy: by };
}

function sendAndWait(...args: Parameters<typeof sendUntraced>): Promise<DecisionResult> {
  const [, migrationId, message] = args;
  const span = { name: `decide ${message}`, attributes: { 'tokenferry.migration': migrationId } };
  return inSpan(span, () => sendUntraced(...args));
}

async function sendUntraced(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  decision: IdentifiedDecision,
  signedBy: string | null,
): Promise<DecisionResult> {
  const { decisionId } = decision;
  try {
    await assertPayloadKeyConfigured(ferry, migrationId);
    await assertLedgerIsCurrent(ferry, migrationId, message);
    const outcome = await send(ferry, migrationId, message, decision);
    if (outcome instanceof UnknownPayloadKey) {
      const text = `sent, but its outcome cannot be read on this machine: payload key ${outcome.keyId} is missing`;
      return { outcome: 'recorded', decisionId, text, signedBy };
    }
    if (outcome) {
      const final = outcome.applied ? await outcomeInLedger(ferry, migrationId, outcome) : outcome;
      if (final === null) return { outcome: 'recorded', decisionId, text: notInLedgerText(migrationId), signedBy };
      return { outcome: final.applied ? 'applied' : 'refused', decisionId, text: final.text, signedBy };
    }
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) throw await closedOrMissing(ferry, migrationId);
    throw error;
  }
  const problem = await readWorkflowTaskProblem(ferry, migrationId).catch(() => null);
  const why = problem === null ? 'no worker is answering' : `the worker cannot continue: ${problem}`;
  return { outcome: 'recorded', decisionId, text: `sent, but not applied yet: ${why}`, signedBy };
}

/**
 * Returns why the migration would refuse the signature of this decision, or its absence; null if it would accept it. A
 * command that changes the ledger before it sends its decision must check this first.
 */
export async function signatureProblem(
  ferry: LedgerClient,
  { id, rules }: Pick<StoredMigration, 'id' | 'rules'>,
  message: DecisionMessage,
  content: DecisionContent,
): Promise<string | null> {
  const { approverChanges } = await readRecordedDecisions(ferry.db, id);
  const signing = { migrationId: id, ...signingRules(rules?.approvers ?? null, approverChanges) };
  const signer = signerOf(ferry, content);
  const decision = signer && signed(signer, id, message, { decisionId: randomUUID(), ...content });
  return signatureRefusal(signing, content.role, decision && parseSigned(message, decision));
}

function signerOf({ signer }: MigrationClient, { by }: DecisionContent): SigningKey | null {
  return signer?.by === by ? signer : null;
}

/** The decisions that end or hold up moves. They are accepted at any time. */
const ALWAYS_ACCEPTED: readonly DecisionMessage[] = ['pause', 'cancel'];

async function assertLedgerIsCurrent(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
): Promise<void> {
  const { db } = ferry;
  if (!db || ALWAYS_ACCEPTED.includes(message)) return;
  if (await isLedgerProvenBehind({ ...ferry, db }, migrationId)) throw new LedgerBehind(migrationId);
}

interface IdentifiedDecision extends DecisionContent {
  readonly decisionId: string;
}

/** Adds the time and a signature. The signature covers the time, the migration, the message and the content. */
function signed(
  signer: SigningKey,
  migrationId: string,
  message: DecisionMessage,
  decision: IdentifiedDecision,
): IdentifiedDecision {
  const content: IdentifiedDecision = { ...decision, signedAt: new Date().toISOString() };
  const value = signer.sign(bytesToSign(migrationId, { message, content }));
  return { ...content, signature: { publicKey: signer.publicKey, value } };
}

/**
 * Returns the outcome; undefined if Temporal has the decision but no worker has answered; an `UnknownPayloadKey` if the
 * answer cannot be decrypted.
 */
async function send(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  decision: IdentifiedDecision,
): Promise<Outcome | UnknownPayloadKey | undefined> {
  const handle = ferry.temporal.workflow.getHandle(migrationId);
  const deadline = Date.now() + ANSWER_WITHIN_MS;
  const update = ferry.temporal
    .withDeadline(deadline, () => handle.executeUpdate<Outcome, [IdentifiedDecision]>(message, { args: [decision] }))
    // After any other failure, it is unknown whether the decision was applied, so the code below sends it again as a
    // signal and queries its outcome.
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
 * Returns the refusal by a worker that lacks the key to decrypt the decision; undefined if the update failed for another
 * reason.
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
    await new Promise((resolve) => setTimeout(resolve, QUERY_EVERY_MS));
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

const IN_LEDGER_WITHIN_MS = 3_000;

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
async function outcomeInLedger(
  { db }: MigrationClient,
  migrationId: string,
  outcome: Outcome,
): Promise<Outcome | null> {
  if (!db) return outcome;
  const deadline = Date.now() + IN_LEDGER_WITHIN_MS;
  do {
    const recorded = await readOutcome(db, migrationId, outcome.decisionId).catch(() => null);
    if (recorded) return recorded;
    await new Promise((resolve) => setTimeout(resolve, READ_LEDGER_EVERY_MS));
  } while (Date.now() < deadline);
  return null;
}

function notInLedgerText(migrationId: string): string {
  return `accepted by the migration, but without effect until it is in the ledger. To check, run: ferry audit ${migrationId}`;
}

/**
 * Returns the error for a migration that is not running. Reads the ledger as well as Temporal, because Temporal deletes
 * workflows some time after their end.
 */
async function closedOrMissing({ db, temporalWithoutCodec }: MigrationClient, migrationId: string): Promise<Error> {
  const isInTemporal = await temporalWithoutCodec.workflow
    .getHandle(migrationId)
    .describe()
    .then(
      () => true,
      () => false,
    );
  const migration = db && (await readMigration(db, migrationId));
  if (!migration && !isInTemporal) return new NoSuchMigration(migrationId);
  return new MigrationClosed(migrationId, migration?.ending ?? 'closed');
}
