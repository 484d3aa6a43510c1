import { randomUUID } from 'node:crypto';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { DecisionMessage } from '../domain/migration/parse-decision';
import { bytesToSign, parseSigned, signatureRefusal, signingOf, type Signature } from '../domain/migration/signatures';
import type { Role } from '../domain/migration/steps';
import { inSpan } from '../observability/tracing';
import { UnknownPayloadKey, type SigningKey } from '../security';
import { readMigration, readOutcome, readRecordedDecisions, type StoredMigration } from '../store';
import type { LedgerClient, MigrationClient } from './connect';
import { abnormalStatus } from './ended-migrations';
import { outcomeInLedger, send } from './delivery';
import { LedgerBehind, MigrationClosed, NoSuchMigration } from './errors';
import { readWorkflowTaskProblem } from './health';
import { assertPayloadKeyConfigured } from './payload-keys';
import { isLedgerProvenBehind } from './reconcile';
import { describeIfFound } from './workflow-ids';

/** The fields of a decision: who decides, and the fields of this kind of decision, for example `step` and `digest`. */
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

/**
 * Sends a decision and waits up to 12 s for its outcome. If the migration has applied the decision, and `ferry` is
 * connected to the ledger's database, waits up to 3 s more for the ledger's outcome.
 *
 * Sends the decision as an update, which the migration answers once the decision is in the ledger. If no answer arrives
 * within 2 s, also sends the same decision as a signal, because Temporal keeps signals until a worker runs. Then
 * queries the outcome. The duplicate is harmless, because a migration applies each decision id only once.
 *
 * @param message the kind of decision: `approve`, `reject`, `pause`, `retry`, ...
 * @throws NoSuchMigration also if the migration is not in the ledger, which is then the ledger of other migrations, or
 *   was restored to a state before the start; nothing has been sent
 * @throws MigrationClosed
 * @throws PayloadKeyMissing if the payload key is not configured on this machine; nothing has been sent
 * @throws LedgerBehind if the ledger is known to be behind; nothing has been sent
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
 * @throws NoSuchMigration also if the migration is not in the ledger, which is then the ledger of other migrations, or
 *   was restored to a state before the start; nothing has been sent
 * @throws MigrationClosed
 * @throws PayloadKeyMissing if the payload key is not configured on this machine; nothing has been sent
 * @throws LedgerBehind if the ledger is known to be behind; nothing has been sent
 */
export async function sendSigned(
  ferry: LedgerClient,
  migrationId: string,
  message: DecisionMessage,
  decision: SignedDecision,
): Promise<DecisionResult> {
  const { decisionId, by } = decision;
  // A decision that has ended the migration cannot be sent again, but the ledger has its outcome.
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
      const text = `the decision was sent, but its outcome cannot be read on this machine: payload key ${outcome.keyId} is missing. To see the outcome, run: ferry audit ${migrationId}`;
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
  return { outcome: 'recorded', decisionId, text: `the decision was sent, but not applied yet: ${why}`, signedBy };
}

/**
 * Returns why the migration would refuse this decision because of its signature, or because it is not signed;
 * otherwise null. A command that changes the ledger before it sends its decision must check this first.
 */
export async function signatureProblem(
  ferry: LedgerClient,
  { id, rules }: Pick<StoredMigration, 'id' | 'rules'>,
  message: DecisionMessage,
  content: DecisionContent,
): Promise<string | null> {
  const { approverChanges } = await readRecordedDecisions(ferry.db, id);
  const signing = signingOf(id, rules?.approvers ?? null, approverChanges);
  const signer = signerOf(ferry, content);
  const decision = signer && signed(signer, id, message, { decisionId: randomUUID(), ...content });
  return signatureRefusal(signing, content.role, decision && parseSigned(message, decision));
}

function signerOf({ signer }: MigrationClient, { by }: DecisionContent): SigningKey | null {
  return signer?.by === by ? signer : null;
}

/** Decisions that stop moves and are accepted even while the ledger is behind. */
const ALWAYS_ACCEPTED: readonly DecisionMessage[] = ['pause', 'cancel'];

async function assertLedgerIsCurrent(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
): Promise<void> {
  const { db } = ferry;
  if (!db || ALWAYS_ACCEPTED.includes(message)) return;
  if (!(await isLedgerProvenBehind({ ...ferry, db }, migrationId))) return;
  throw (await readMigration(db, migrationId)) ? new LedgerBehind(migrationId) : new NoSuchMigration(migrationId);
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

function notInLedgerText(migrationId: string): string {
  return `the migration has accepted the decision, but it is not in the ledger yet, so it can still be refused. To see the outcome, run: ferry audit ${migrationId}`;
}

/**
 * Returns the error for a migration that is not running. Reads the ledger as well as Temporal, because Temporal deletes
 * workflows some time after their end. If Temporal does not have the workflow, and the ledger does not show that the
 * migration has ended, returns `NoSuchMigration`: the address or the namespace of Temporal can be wrong.
 */
async function closedOrMissing({ db, temporalWithoutCodec }: MigrationClient, migrationId: string): Promise<Error> {
  const described = await describeIfFound(temporalWithoutCodec.workflow, migrationId);
  const migration = db && (await readMigration(db, migrationId));
  if (described === null && (migration?.ending ?? null) === null) return new NoSuchMigration(migrationId);
  const isTerminated = described !== null && abnormalStatus(described.status.name) !== null;
  return new MigrationClosed(migrationId, migration?.ending ?? (isTerminated ? 'terminated' : 'closed'));
}
