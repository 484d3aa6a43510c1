/**
 * Parses messages as decisions. People can send messages with Temporal's own tools, so every field is checked. The
 * checks do not use zod, because they run in the workflow sandbox.
 */
import { isMoment, numberText } from '../text/sentences';
import { type Fields, fieldsOf } from '../text/untrusted-text';
import { parseLimits } from '../planning/limits';
import { UnreadablePayload, type Decision, type DecisionBase } from './decision';
import {
  isCount,
  isDecisionId,
  isDeeperThan,
  isReference,
  isStorable,
  isText,
  MAX_ID_LENGTH,
  MAX_MANIFEST_COMPANIES,
  MAX_NAME_LENGTH,
  MAX_TEXT_LENGTH,
  NO_UNSAFE,
  parseApprover,
  parseCompanies,
  parseNext,
  parseReferences,
  parseSealedDigest,
  parseWindows,
} from './decision-fields';
import { isRole, isStep, ROLES, STEPS, type Role } from './steps';

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

/** Returns whether a value is the name of a decision message. */
export function isDecisionMessage(message: unknown): message is DecisionMessage {
  return DECISION_MESSAGES.some((each) => each === message);
}

/**
 * Maximum length of a message, in characters of JSON: more than the longest decision, which has 1,000 references of 200
 * characters. The record of a decision contains the message, and Temporal accepts 2 MB per payload.
 */
const MAX_MESSAGE_LENGTH = 500_000;
/** Decisions have five levels or fewer. JSON of thousands of levels can be parsed, but not serialized or stored. */
const MAX_DEPTH = 20;

export type ParsedDecision = { readonly decision: Decision } | { readonly malformed: string };

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
    return malformed(
      `"by" must be the name of the person who decides, at most ${MAX_NAME_LENGTH} characters, ${NO_UNSAFE}`,
    );
  if (reason !== undefined && !isText(reason)) {
    return malformed(`reason must be ${textOf(MAX_TEXT_LENGTH)}`);
  }
  if (decisionId !== undefined && !isDecisionId(decisionId)) {
    return malformed(`decisionId must be ${textOf(MAX_ID_LENGTH)}`);
  }
  if (digest !== undefined && !isText(digest)) return malformed(`digest must be ${textOf(MAX_TEXT_LENGTH)}`);
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
  // A signed message is stored with all of its fields, including those that are not part of the decision. Therefore,
  // the limits apply to the whole message.
  if (JSON.stringify(input).length > MAX_MESSAGE_LENGTH)
    return malformed(`the message has more than ${numberText(MAX_MESSAGE_LENGTH)} characters`);
  if (isStorable(input)) return parsed;
  return malformed(
    'the message contains a NUL character (U+0000) or half of a surrogate pair (U+D800 to U+DFFF), which cannot be stored; remove it, and send the decision again',
  );
}

/** Returns the id, the role and the name in an unreadable message, each null if it is not readable either. */
export function claimedSender(input: unknown): {
  readonly decisionId: string | null;
  readonly role: Role | null;
  readonly by: string | null;
} {
  const { role, by, decisionId } = fieldsOf(input);
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
      if (!isReference(company)) return malformed('"company" must be the reference of one company');
      return { decision: { kind: 'first-company', ...sender, reference: company } };
    }
    case 'confirmSyncDisabled': {
      const parsed = parseCompanies(fields);
      if (typeof parsed === 'string') return malformed(parsed);
      return { decision: { kind: 'sync-disabled', ...sender, companies: parsed.companies } };
    }
    case 'credentialsSupplied': {
      const { companies } = fields;
      if (!isCount(companies)) return malformed('"companies" must be a whole number, 0 or more');
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
      if (!isText(clientId)) return malformed(`clientId must be ${textOf(MAX_TEXT_LENGTH)}`);
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
        return malformed(`"companies" must be a whole number from 1 to ${numberText(MAX_MANIFEST_COMPANIES)}`);
      return { decision: { kind: 'manifest-supplied', ...sender, manifestDigest, companies } };
    }
    case 'manifestAmended': {
      const { added, corrected } = fields;
      if (!isCount(added) || !isCount(corrected))
        return malformed('"added" and "corrected" must be whole numbers, 0 or more');
      return { decision: { kind: 'manifest-amended', ...sender, added, corrected } };
    }
    case 'exclude':
    case 'skip': {
      const parsed = parseReferences(fields);
      if (typeof parsed === 'string') return malformed(parsed);
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
      const parsed = parseReferences(fields);
      if (typeof parsed === 'string') return malformed(parsed);
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

/** Says what {@link isText} accepts, to follow "must be". */
const textOf = (maxLength: number): string =>
  `text that is not blank, at most ${numberText(maxLength)} characters, ${NO_UNSAFE}`;

function malformed(what: string): ParsedDecision {
  return { malformed: what };
}
