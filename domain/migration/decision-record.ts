/**
 * Records of decisions as the ledger receives them. A record comes from a workflow, and anyone who may write to the
 * Temporal namespace can start a workflow, so the record's form and time are checked. Also the refusals of decisions
 * whose senders reviewed something that has changed since.
 */
import type { Decision, Unreadable } from './decision';
import type { DecisionRecord } from './migration-state';
import { claimedSender, isDecisionMessage, parseDecision, type DecisionMessage } from './parse-decision';
import { isStorable } from './decision-fields';
import { canonicalJson, parseSignature, type SignedMessage } from './signatures';
import { type Fields, fieldsOf } from '../text/untrusted-text';

/** Parses a record. Returns null if a workflow of this version cannot have written it. */
export function parseRecord(value: unknown): DecisionRecord | null {
  const { decision, outcome, signed } = fieldsOf(value);
  if (!isWellFormed(fieldsOf(decision)) || !isStorable(value)) return null;
  const { decisionId, applied, text, at } = fieldsOf(outcome);
  if (decisionId !== fieldsOf(decision)['decisionId'] || typeof applied !== 'boolean') return null;
  if (typeof text !== 'string' || typeof at !== 'string' || Number.isNaN(Date.parse(at))) return null;
  if (signed !== undefined && !isSignedMessage(signed)) return null;
  return value as DecisionRecord;
}

/** Returns a record that refuses the decision of a malformed record; null if that record has no readable id. */
export function malformedRecord(value: unknown, at: string): DecisionRecord | null {
  const { decisionId } = claimedSender(fieldsOf(value)['decision']);
  if (decisionId === null) return null;
  const decision: Unreadable = { kind: 'unreadable', decisionId, message: 'recordDecisions', role: null, by: null };
  return { decision, outcome: { decisionId, applied: false, text: 'the record of this decision is malformed', at } };
}

/**
 * The longest time that a record can state between a decision and the request to record it. Allows minutes, because a
 * decision waits until the workflow has recorded earlier decisions.
 */
const LONGEST_DELAY_MS = 5 * 60_000;

/**
 * Limits the time of a record to the five minutes before the request to record it.
 *
 * @param requestedAt when the request to record the decision was made, by a clock that the workflow does not control
 */
export function withBoundedTime(record: DecisionRecord, requestedAt: Date): DecisionRecord {
  const latest = requestedAt.getTime();
  const ms = Math.min(latest, Math.max(latest - LONGEST_DELAY_MS, Date.parse(record.outcome.at)));
  return { ...record, outcome: { ...record.outcome, at: new Date(ms).toISOString() } };
}

function isWellFormed(decision: Fields): boolean {
  if (decision['kind'] === 'unreadable') return isUnreadable(decision);
  const sent = messageOf(decision as unknown as Decision);
  const parsed = sent && parseDecision(sent.message, sent.content, () => '');
  return parsed !== null && 'decision' in parsed && canonicalJson(parsed.decision) === canonicalJson(decision);
}

function isUnreadable({ kind: _kind, message, ...sender }: Fields): boolean {
  const { decisionId, role, by } = claimedSender(sender);
  return (
    isDecisionMessage(message) &&
    decisionId !== null &&
    canonicalJson(sender) === canonicalJson({ decisionId, role, by })
  );
}

/** Returns the message that a decision was sent as; null if the kind of the decision is unknown. */
function messageOf({
  kind,
  ...fields
}: Decision): { readonly message: DecisionMessage; readonly content: Fields } | null {
  if (kind === 'step') {
    const { verdict, afterwards, ...content } = fields as Fields;
    const { next, reference } = fieldsOf(afterwards);
    const message = verdict === 'approve' ? 'approve' : 'reject';
    return { message, content: afterwards === undefined ? content : { ...content, next, company: reference } };
  }
  if (kind === 'first-company') {
    const { reference, ...content } = fields as Fields;
    return { message: MESSAGES[kind], content: { ...content, company: reference } };
  }
  return Object.hasOwn(MESSAGES, kind) ? { message: MESSAGES[kind], content: fields } : null;
}

const MESSAGES: Readonly<Record<Exclude<Decision['kind'], 'step'>, DecisionMessage>> = {
  time: 'proposeTime',
  'first-company': 'chooseFirstCompany',
  'sync-disabled': 'confirmSyncDisabled',
  'credentials-supplied': 'credentialsSupplied',
  'application-supplied': 'applicationSupplied',
  'manifest-supplied': 'manifestSupplied',
  'manifest-amended': 'manifestAmended',
  exclude: 'exclude',
  skip: 'skip',
  retry: 'retry',
  relink: 'relink',
  'replace-credential': 'replaceCredential',
  adjust: 'adjust',
  'add-approver': 'addApprover',
  'remove-approver': 'removeApprover',
  pause: 'pause',
  resume: 'resume',
  cancel: 'cancel',
};

function isSignedMessage(value: unknown): value is SignedMessage {
  const { message, content, signature } = fieldsOf(value);
  const isObject = typeof content === 'object' && content !== null;
  return isDecisionMessage(message) && isObject && parseSignature(signature) !== null;
}

// `as const` makes the two refusals count as whole sentences for the test of the runbook.

/** The refusal of a decision whose sender reviewed something that has changed since. */
export const REVIEW_CHANGED = 'what you reviewed has changed; review it again before you decide' as const;

/** The refusal of a resume. */
export const PAUSES_CHANGED =
  'the pauses have changed since you reviewed them; review them again before you resume' as const;

/** Returns whether a decision was refused because what its sender reviewed has changed. */
export const isReviewChanged = ({ text }: { readonly text: string }): boolean =>
  text === REVIEW_CHANGED || text === PAUSES_CHANGED;
