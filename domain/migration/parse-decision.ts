/**
 * Parses messages as decisions. People can send messages with Temporal's own tools, so every field is checked. The
 * checks do not use zod, because they run in the workflow sandbox.
 */
import { isMoment } from '../text/sentences';
import { hasUnsafeCharactersInMultilineText } from '../text/untrusted-text';
import type { Approver } from './approvers';
import { isPublicKey } from './approvers';
import type { Companies, Decision, NextAfterRejection, DecisionBase } from './decision';
import type { LimitsChange } from '../planning/limits';
import { parseLimits } from '../planning/limits';
import type { Role } from './steps';
import { isRole, isStep, ROLES, STEPS } from './steps';
import { UnreadablePayload } from './decision';

/** The names of the messages that carry decisions. */
export const DECISION_MESSAGES = [
  'approve',
  'reject',
  'proposeTime',
  'chooseFirstCompany',
  'confirmSyncDisabled',
  'credentialsSupplied',
  'pause',
  'resume',
  'cancel',
  'applicationSupplied',
  'manifestSupplied',
  'manifestAmended',
  'exclude',
  'skip',
  'retry',
  'relink',
  'replaceCredential',
  'adjust',
  'addApprover',
  'removeApprover',
] as const;

export type DecisionMessage = (typeof DECISION_MESSAGES)[number];

/** Maximum number of companies in one message. Senders split longer lists. */
export const MAX_COMPANIES_PER_MESSAGE = 1_000;

/** The ledger replaces the companies in one transaction, within the time limit of an activity. */
export const MAX_MANIFEST_COMPANIES = 100_000;

const MAX_TEXT_LENGTH = 2_000;
/**
 * More than the 100 characters that a manifest allows. Keeps the longest message far below Temporal's limit of 2 MB.
 */
const MAX_REFERENCE_LENGTH = 200;
/** Names appear many times in the current details, which are limited to 20 KB. */
export const MAX_NAME_LENGTH = 200;
const MAX_ID_LENGTH = 200;

/**
 * More than the longest decision: 1,000 references of 200 characters. The record of a decision contains the message,
 * and Temporal accepts 2 MB per payload.
 */
const MAX_MESSAGE_LENGTH = 500_000;
/** A decision has four levels. JSON of thousands of levels can be parsed, but neither written again nor stored. */
const MAX_DEPTH = 20;

export type ParsedDecision = { readonly decision: Decision } | { readonly malformed: string };

type Fields = Readonly<Record<string, unknown>>;

/**
 * Parses a message as a decision.
 *
 * @param freshId creates an id for a decision that was sent without one
 * @returns the decision, or what is wrong with the message
 */
export function parseDecision(message: DecisionMessage, input: unknown, freshId: () => string): ParsedDecision {
  if (typeof input !== 'object' || input === null || Array.isArray(input))
    return malformed('the message must be an object');
  if (input instanceof UnreadablePayload) return malformed(input.unreadable);
  if (isDeeperThan(input, MAX_DEPTH)) return malformed(`the message is nested more than ${MAX_DEPTH} levels deep`);
  const fields = input as Fields;
  const { role, by, reason, decisionId, digest, validUntil } = fields;
  if (!isRole(role)) return malformed(`role must be ${ROLES.join(' or ')}`);
  if (!isText(by) || by.length > MAX_NAME_LENGTH)
    return malformed(`"by" must be the name of the person who decides, at most ${MAX_NAME_LENGTH} characters`);
  if (reason !== undefined && !isText(reason)) {
    return malformed(`reason must be text of at most ${MAX_TEXT_LENGTH} characters`);
  }
  if (decisionId !== undefined && !isDecisionId(decisionId)) {
    return malformed(`decisionId must be text of at most ${MAX_ID_LENGTH} characters`);
  }
  if (digest !== undefined && !isText(digest)) return malformed('digest must be text');
  if (validUntil !== undefined && !isMoment(validUntil)) {
    return malformed('validUntil must be an ISO 8601 time with a zone, e.g. 2026-03-07T20:00Z');
  }
  const parsed = parseKind(message, fields, {
    decisionId: decisionId ?? freshId(),
    role,
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(digest === undefined ? {} : { digest }),
    ...(validUntil === undefined ? {} : { validUntil: new Date(validUntil).toISOString() }),
  });
  if ('malformed' in parsed) return parsed;
  // A signed message is stored with all of its fields, including those that are not part of the decision. So the limits
  // apply to the whole message.
  if (JSON.stringify(input).length > MAX_MESSAGE_LENGTH)
    return malformed(`the message has more than ${MAX_MESSAGE_LENGTH} characters`);
  if (isStorable(input)) return parsed;
  return malformed('the message contains a character that cannot be stored');
}

/** Returns the id, the role and the name in an unreadable message, each null if it is not readable either. */
export function claimedSender(input: unknown): {
  readonly decisionId: string | null;
  readonly role: Role | null;
  readonly by: string | null;
} {
  const { role, by, decisionId } = (typeof input === 'object' && input !== null ? input : {}) as Fields;
  return {
    decisionId: isDecisionId(decisionId) ? decisionId : null,
    role: isRole(role) ? role : null,
    by: isText(by) && by.length <= MAX_NAME_LENGTH ? by : null,
  };
}

function parseKind(message: DecisionMessage, fields: Fields, sender: DecisionBase): ParsedDecision {
  switch (message) {
    case 'approve':
    case 'reject':
      return parseStepDecision(message, fields, sender);
    case 'proposeTime': {
      const { startAt } = fields;
      if (!isMoment(startAt)) {
        return malformed('startAt must be an ISO 8601 time with a zone, e.g. 2026-03-07T20:00Z');
      }
      const proposed = parseWindows(fields);
      if ('malformed' in proposed) return malformed(proposed.malformed);
      return { decision: { kind: 'time', ...sender, startAt: new Date(startAt).toISOString(), ...proposed } };
    }
    case 'chooseFirstCompany': {
      const { company } = fields;
      if (!isReference(company)) return malformed('company must be the reference of one company');
      return { decision: { kind: 'first-company', ...sender, reference: company } };
    }
    case 'confirmSyncDisabled': {
      const parsed = parseCompanies(fields);
      if (typeof parsed === 'string') return malformed(parsed);
      return { decision: { kind: 'sync-disabled', ...sender, companies: parsed.companies } };
    }
    case 'credentialsSupplied': {
      const { companies } = fields;
      if (!isCount(companies)) return malformed('companies must be a whole number, 0 or more');
      const sealed = parseSealedDigest(fields);
      if (typeof sealed === 'string') return malformed(sealed);
      return { decision: { kind: 'credentials-supplied', ...sender, companies, ...sealed } };
    }
    case 'pause':
    case 'resume':
      return { decision: { kind: message, ...sender } };
    case 'cancel':
      if (sender.reason === undefined) return malformed('a reason for the cancellation is required');
      return { decision: { kind: message, ...sender } };
    case 'applicationSupplied': {
      const { clientId, environment } = fields;
      if (!isText(clientId)) return malformed('clientId must be text');
      if (environment !== 'production' && environment !== 'sandbox') {
        return malformed('environment must be production or sandbox');
      }
      const sealed = parseSealedDigest(fields);
      if (typeof sealed === 'string') return malformed(sealed);
      return { decision: { kind: 'application-supplied', ...sender, clientId, environment, ...sealed } };
    }
    case 'manifestSupplied': {
      const { manifestDigest, companies } = fields;
      if (typeof manifestDigest !== 'string' || !/^[0-9a-f]{64}$/.test(manifestDigest))
        return malformed('manifestDigest must be 64 lower-case hexadecimal digits');
      if (!isCount(companies) || companies === 0 || companies > MAX_MANIFEST_COMPANIES)
        return malformed(`companies must be a whole number from 1 to ${MAX_MANIFEST_COMPANIES}`);
      return { decision: { kind: 'manifest-supplied', ...sender, manifestDigest, companies } };
    }
    case 'manifestAmended': {
      const { added, corrected } = fields;
      if (!isCount(added) || !isCount(corrected))
        return malformed('added and corrected must be whole numbers, 0 or more');
      return { decision: { kind: 'manifest-amended', ...sender, added, corrected } };
    }
    case 'exclude':
    case 'skip': {
      const parsed = parseCompanies(fields);
      if (typeof parsed === 'string') return malformed(parsed);
      if (parsed.companies === 'all') return malformed('companies must be a list of references, not "all"');
      const { reason } = sender;
      if (reason === undefined) return malformed('a reason for leaving the companies out is required');
      return { decision: { kind: message, ...sender, reason, companies: parsed.companies } };
    }
    case 'retry':
    case 'relink': {
      const parsed = parseCompanies(fields);
      if (typeof parsed === 'string') return malformed(parsed);
      return { decision: { kind: message, ...sender, companies: parsed.companies } };
    }
    case 'replaceCredential': {
      const parsed = parseCompanies(fields);
      if (typeof parsed === 'string') return malformed(parsed);
      if (parsed.companies === 'all') return malformed('companies must be a list of references, not "all"');
      const sealed = parseSealedDigest(fields);
      if (typeof sealed === 'string') return malformed(sealed);
      return { decision: { kind: 'replace-credential', ...sender, companies: parsed.companies, ...sealed } };
    }
    case 'adjust': {
      const parsed = parseLimits(fields['limits']);
      if ('malformed' in parsed) return malformed(parsed.malformed);
      return { decision: { kind: 'adjust', ...sender, limits: parsed.limits } };
    }
    case 'addApprover':
    case 'removeApprover': {
      const approver = parseApprover(fields['approver']);
      if (typeof approver === 'string') return malformed(approver);
      return {
        decision: { kind: message === 'addApprover' ? 'add-approver' : 'remove-approver', ...sender, approver },
      };
    }
  }
}

function parseStepDecision(verdict: 'approve' | 'reject', fields: Fields, sender: DecisionBase): ParsedDecision {
  const { step } = fields;
  if (!isStep(step)) return malformed(`step must be one of ${STEPS.join(', ')}`);
  const afterwards = parseNext(fields);
  if (typeof afterwards === 'string') return malformed(afterwards);
  return { decision: { kind: 'step', ...sender, step, verdict, ...(afterwards ? { afterwards } : {}) } };
}

function parseNext({ next, company }: Fields): NextAfterRejection | string | null {
  switch (next) {
    case undefined:
      return null;
    case 'same-company':
      if (company === undefined) return { next };
      return isReference(company) ? { next, reference: company } : 'company must be the reference of the first company';
    case 'abandon':
      return { next };
    case 'another-company':
      return isReference(company) ? { next, reference: company } : 'company must be the reference of the other company';
    default:
      return '"next" must be same-company, another-company or abandon';
  }
}

/** Returns the approver in a message, or what is wrong with it. */
function parseApprover(value: unknown): Approver | string {
  const { role, by, publicKey } = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  if (!isRole(role)) return `the role of the approver must be ${ROLES.join(' or ')}`;
  if (!isText(by) || by.length > MAX_NAME_LENGTH)
    return `"by" of the approver must be a name of at most ${MAX_NAME_LENGTH} characters`;
  if (!isPublicKey(publicKey)) return 'publicKey of the approver must be an Ed25519 public key: 64 hexadecimal digits';
  return { role, by, publicKey };
}

/** Returns the companies listed in a message, or what is wrong with the list. */
function parseCompanies({ companies }: Fields): { readonly companies: Companies } | string {
  if (companies === 'all') return { companies };
  if (!Array.isArray(companies) || companies.length === 0 || !companies.every(isReference)) {
    return 'companies must be "all" or a list of references';
  }
  if (companies.length > MAX_COMPANIES_PER_MESSAGE) {
    return `companies must be a list of at most ${MAX_COMPANIES_PER_MESSAGE} references; split it into several messages`;
  }
  return { companies };
}

/** Returns the digest of the boxes that a message supplies, or what is wrong with it. */
function parseSealedDigest({ sealedDigest }: Fields): { readonly sealedDigest?: string } | string {
  if (sealedDigest === undefined) return {};
  if (typeof sealedDigest === 'string' && /^[0-9a-f]{64}$/.test(sealedDigest)) return { sealedDigest };
  return 'sealedDigest must be 64 hexadecimal digits';
}

function parseWindows({ windows }: Fields): Pick<LimitsChange, 'windows'> | { readonly malformed: string } {
  if (windows === undefined) return {};
  const parsed = parseLimits({ windows });
  return 'malformed' in parsed ? parsed : parsed.limits;
}

function malformed(what: string): ParsedDecision {
  return { malformed: what };
}

/**
 * Checks that text is not blank, not too long, can be stored, and does not change how the text around it is shown.
 * Postgres accepts neither NUL nor an unpaired surrogate.
 */
function isText(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= MAX_TEXT_LENGTH &&
    !/\p{Surrogate}/u.test(value) &&
    !hasUnsafeCharactersInMultilineText(value)
  );
}

/** Returns whether Postgres can store a value as JSON. A signed message is stored with all of its fields. */
export function isStorable(value: unknown): boolean {
  return !/(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/.test(JSON.stringify(value));
}

function isReference(value: unknown): value is string {
  return isText(value) && value.length <= MAX_REFERENCE_LENGTH;
}

function isDecisionId(value: unknown): value is string {
  return isText(value) && value.length <= MAX_ID_LENGTH;
}

/** Checks level by level, because a recursive check would itself overflow the stack. */
function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((each): readonly unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
