/**
 * Reads what somebody sent as a decision. Hand-written guards: the workflow runs them, and messages may be typed by
 * hand into Temporal's own tools, so nothing about their shape is taken for granted.
 */
import type { Companies, Decision, NextAfterRejection, Sender } from './decision';
import type { LimitsChange } from '../planning/limits';
import { readLimits } from '../planning/limits';
import type { Role } from './steps';
import { isRole, isStep, ROLES, STEPS } from './steps';

/** The messages that carry decisions, by their wire names. */
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
  'manifestAmended',
  'exclude',
  'skip',
  'retry',
  'relink',
  'replaceCredential',
  'adjust',
] as const;

export type DecisionMessage = (typeof DECISION_MESSAGES)[number];

/** A message may name this many companies; longer lists come in several messages. */
export const MOST_COMPANIES_IN_A_MESSAGE = 1_000;

const LONGEST_TEXT = 2_000;
/** A manifest's are no longer than this; a message full of them stays far below the 2 MB that Temporal takes. */
const LONGEST_REFERENCE = 200;
/** Names stand in the current details many times, which have room for 20 KB. */
const LONGEST_NAME = 200;
const LONGEST_ID = 200;

/** With its zone: what is said without one means another moment on each worker. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:?\d{2})$/;

export type ParsedDecision = { readonly decision: Decision } | { readonly malformed: string };

type Fields = Readonly<Record<string, unknown>>;

/**
 * The decision that a message carries, or why it is none.
 *
 * @param freshId names a decision whose sender gave it no id, as people who type by hand do.
 */
export function parseDecision(message: DecisionMessage, input: unknown, freshId: () => string): ParsedDecision {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return malformed('an object is expected');
  const fields = input as Fields;
  if (isText(fields['unreadable'])) return malformed(fields['unreadable']);
  const { role, by, reason, decisionId, digest, validUntil } = fields;
  if (!isRole(role)) return malformed(`role must be ${ROLES.join(' or ')}`);
  if (!isText(by) || by.length > LONGEST_NAME) return malformed('by must name the person who decides');
  if (reason !== undefined && !isText(reason)) return malformed('reason must be text');
  if (decisionId !== undefined && !isDecisionId(decisionId)) {
    return malformed(`decisionId must be text of at most ${LONGEST_ID} characters`);
  }
  if (digest !== undefined && !isText(digest)) return malformed('digest must be text');
  if (validUntil !== undefined && !isMoment(validUntil)) {
    return malformed('validUntil must be an ISO 8601 time with its zone, as 2026-03-07T20:00Z');
  }
  return readKind(message, fields, {
    decisionId: decisionId ?? freshId(),
    role,
    by,
    ...(reason === undefined ? {} : { reason }),
    ...(digest === undefined ? {} : { digest }),
    ...(validUntil === undefined ? {} : { validUntil: new Date(validUntil).toISOString() }),
  });
}

/** What a message that cannot be read says of itself all the same: who may have sent it, and under which id. */
export function claimedSender(input: unknown): {
  readonly decisionId: string | null;
  readonly role: Role | null;
  readonly by: string | null;
} {
  const { role, by, decisionId } = (typeof input === 'object' && input !== null ? input : {}) as Fields;
  return {
    decisionId: isDecisionId(decisionId) ? decisionId : null,
    role: isRole(role) ? role : null,
    by: isText(by) && by.length <= LONGEST_NAME ? by : null,
  };
}

function readKind(message: DecisionMessage, fields: Fields, sender: Sender): ParsedDecision {
  switch (message) {
    case 'approve':
    case 'reject':
      return readStepDecision(message, fields, sender);
    case 'proposeTime': {
      const { startAt } = fields;
      if (!isText(startAt) || !ISO_TIME.test(startAt) || Number.isNaN(Date.parse(startAt))) {
        return malformed('startAt must be an ISO 8601 time with its zone, as 2026-03-07T20:00Z');
      }
      const proposed = readWindows(fields);
      if ('malformed' in proposed) return malformed(proposed.malformed);
      return { decision: { kind: 'time', ...sender, startAt: new Date(startAt).toISOString(), ...proposed } };
    }
    case 'chooseFirstCompany': {
      const { company } = fields;
      if (!isReference(company)) return malformed('company must be the reference of one company');
      return { decision: { kind: 'first-company', ...sender, reference: company } };
    }
    case 'confirmSyncDisabled': {
      const companies = readCompanies(fields);
      if (typeof companies === 'string') return malformed(companies);
      return { decision: { kind: 'sync-disabled', ...sender, companies: companies.named } };
    }
    case 'credentialsSupplied': {
      const { companies } = fields;
      if (!isCount(companies)) return malformed('companies must be a number');
      return { decision: { kind: 'credentials-supplied', ...sender, companies } };
    }
    case 'pause':
    case 'resume':
      return { decision: { kind: message, ...sender } };
    case 'cancel':
      if (sender.reason === undefined) return malformed('reason must say why the migration is cancelled');
      return { decision: { kind: message, ...sender } };
    case 'applicationSupplied': {
      const { clientId, environment } = fields;
      if (!isText(clientId)) return malformed('clientId must be text');
      if (environment !== 'production' && environment !== 'sandbox') {
        return malformed('environment must be production or sandbox');
      }
      return { decision: { kind: 'application-supplied', ...sender, clientId, environment } };
    }
    case 'manifestAmended': {
      const { added, corrected } = fields;
      if (!isCount(added) || !isCount(corrected)) return malformed('added and corrected must be numbers');
      return { decision: { kind: 'manifest-amended', ...sender, added, corrected } };
    }
    case 'exclude':
    case 'skip': {
      const companies = readCompanies(fields);
      if (typeof companies === 'string') return malformed(companies);
      if (companies.named === 'all') return malformed('companies must be named one by one');
      const { reason } = sender;
      if (reason === undefined) return malformed('reason must say why they are not moved');
      return { decision: { kind: message, ...sender, reason, companies: companies.named } };
    }
    case 'retry':
    case 'relink': {
      const companies = readCompanies(fields);
      if (typeof companies === 'string') return malformed(companies);
      return { decision: { kind: message, ...sender, companies: companies.named } };
    }
    case 'replaceCredential': {
      const companies = readCompanies(fields);
      if (typeof companies === 'string') return malformed(companies);
      if (companies.named === 'all') return malformed('companies must be named one by one');
      return { decision: { kind: 'replace-credential', ...sender, companies: companies.named } };
    }
    case 'adjust': {
      const read = readLimits(fields['limits']);
      if ('malformed' in read) return malformed(read.malformed);
      return { decision: { kind: 'adjust', ...sender, limits: read.limits } };
    }
  }
}

function readStepDecision(verdict: 'approve' | 'reject', fields: Fields, sender: Sender): ParsedDecision {
  const { step } = fields;
  if (!isStep(step)) return malformed(`step must be one of ${STEPS.join(', ')}`);
  const afterwards = readNext(fields);
  if (typeof afterwards === 'string') return malformed(afterwards);
  return { decision: { kind: 'step', ...sender, step, verdict, ...(afterwards ? { afterwards } : {}) } };
}

function readNext({ next, company }: Fields): NextAfterRejection | string | null {
  switch (next) {
    case undefined:
      return null;
    case 'same-company':
    case 'abandon':
      return { next };
    case 'another-company':
      return isReference(company)
        ? { next, reference: company }
        : 'company must name the other company by its reference';
    default:
      return 'next must be same-company, another-company or abandon';
  }
}

/** The companies that a message names, or what is wrong with it. */
function readCompanies({ companies }: Fields): { readonly named: Companies } | string {
  if (companies === 'all') return { named: 'all' };
  if (!Array.isArray(companies) || companies.length === 0 || !companies.every(isReference)) {
    return 'companies must be "all" or a list of references';
  }
  if (companies.length > MOST_COMPANIES_IN_A_MESSAGE) {
    return `companies may name ${MOST_COMPANIES_IN_A_MESSAGE} at most in one message`;
  }
  return { named: companies };
}

function readWindows({ windows }: Fields): Pick<LimitsChange, 'windows'> | { readonly malformed: string } {
  if (windows === undefined) return {};
  const read = readLimits({ windows });
  return 'malformed' in read ? read : read.limits;
}

function malformed(what: string): ParsedDecision {
  return { malformed: what };
}

/** Text that can be stored: Postgres takes no NUL, and no half of a character that is written as a pair. */
function isText(value: unknown): value is string {
  return (
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.length <= LONGEST_TEXT &&
    !/[\0\p{Surrogate}]/u.test(value)
  );
}

function isReference(value: unknown): value is string {
  return isText(value) && value.length <= LONGEST_REFERENCE;
}

function isDecisionId(value: unknown): value is string {
  return isText(value) && value.length <= LONGEST_ID;
}

function isMoment(value: unknown): value is string {
  return typeof value === 'string' && ISO_TIME.test(value) && !Number.isNaN(Date.parse(value));
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
