/** Parses and checks the fields of decision messages. A parser returns the field, or what is wrong with it. */
import { type Fields, fieldsOf, hasUnsafeCharactersInMultilineText } from '../text/untrusted-text';
import { parseLimits, type LimitsChange } from '../planning/limits';
import { isPublicKey, type Approver } from './approvers';
import type { Companies, NextAfterRejection } from './decision';
import { isRole, ROLES } from './steps';
import { numberText } from '../text/sentences';

/** Maximum number of companies in one message. Senders split longer lists. */
export const MAX_COMPANIES_PER_MESSAGE = 1_000;

/** Maximum number of companies in a manifest, because one transaction replaces them within an activity's time limit. */
export const MAX_MANIFEST_COMPANIES = 100_000;

export const MAX_TEXT_LENGTH = 2_000;
/**
 * Maximum length of a reference: more than the 100 characters that a manifest allows, but short enough to keep the
 * longest message far below Temporal's limit of 2 MB.
 */
const MAX_REFERENCE_LENGTH = 200;
/**
 * Maximum length of a person's name. A low limit is needed, because names appear many times on the migration's page in
 * Temporal's UI (its "current details"), and Temporal limits that page to 20 KB.
 */
export const MAX_NAME_LENGTH = 200;
export const MAX_ID_LENGTH = 200;

/** A phrase for messages about invalid text. People cannot see some of the characters that {@link isText} refuses. */
export const NO_UNSAFE = 'without invisible control characters';

/** Returns the sender's choice after a rejection, or what is wrong with it; null if the message contains no choice. */
export function parseNext({ next, company }: Fields): NextAfterRejection | string | null {
  switch (next) {
    case undefined:
      return null;
    case 'same-company':
      if (company === undefined) return { next };
      if (isReference(company)) return { next, reference: company };
      return '"company" must be the reference of the first company';
    case 'abandon':
      return { next };
    case 'another-company':
      if (isReference(company)) return { next, reference: company };
      return '"company" must be the reference of the company to try next';
    default:
      return '"next" must be same-company, another-company or abandon';
  }
}

/** Returns the approver in a message, or what is wrong with it. */
export function parseApprover(value: unknown): Approver | string {
  const { role, by, publicKey } = fieldsOf(value);
  if (!isRole(role)) return `the role of the approver must be ${ROLES.join(' or ')}`;
  if (!isText(by) || by.length > MAX_NAME_LENGTH)
    return `"by" of the approver must be a name of at most ${MAX_NAME_LENGTH} characters, ${NO_UNSAFE}`;
  if (!isPublicKey(publicKey))
    return 'publicKey of the approver must be an Ed25519 public key: 64 lower-case hexadecimal digits';
  return { role, by, publicKey };
}

/** Returns the companies listed in a message, or what is wrong with the list. */
export function parseCompanies({ companies }: Fields): { readonly companies: Companies } | string {
  return companies === 'all' ? { companies } : parseList(companies, NOT_COMPANIES);
}

/** Like {@link parseCompanies}, for decisions that must list their companies. */
export function parseReferences({ companies }: Fields): { readonly companies: readonly string[] } | string {
  return parseList(companies, NOT_REFERENCES);
}

/** @param problem says what is expected if the value is not a list of references */
function parseList(companies: unknown, problem: string): { readonly companies: readonly string[] } | string {
  if (!Array.isArray(companies) || companies.length === 0 || !companies.every(isReference)) return problem;
  if (companies.length > MAX_COMPANIES_PER_MESSAGE) {
    return `"companies" must be a list of at most ${numberText(MAX_COMPANIES_PER_MESSAGE)} references; split it into several messages`;
  }
  return { companies };
}

const NOT_COMPANIES = '"companies" must be "all" or a list of references';
const NOT_REFERENCES = '"companies" must be a list of references, not "all"';

/** Returns the digest of the boxes that a message supplies, or what is wrong with it. */
export function parseSealedDigest({ sealedDigest }: Fields): { readonly sealedDigest?: string } | string {
  if (sealedDigest === undefined) return {};
  if (typeof sealedDigest === 'string' && /^[0-9a-f]{64}$/.test(sealedDigest)) return { sealedDigest };
  return 'sealedDigest must be 64 lower-case hexadecimal digits';
}

/** Returns the windows in a message, or what is wrong with them. */
export function parseWindows({ windows }: Fields): Pick<LimitsChange, 'windows'> | { readonly malformed: string } {
  if (windows === undefined) return {};
  const parsed = parseLimits({ windows });
  return 'malformed' in parsed ? parsed : parsed.limits;
}

/**
 * Checks that text is not blank, not too long, can be stored, and does not change how the text around it is shown.
 * Postgres accepts neither NUL nor an unpaired surrogate.
 */
export function isText(value: unknown): value is string {
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

export function isReference(value: unknown): value is string {
  return isText(value) && value.length <= MAX_REFERENCE_LENGTH;
}

export function isDecisionId(value: unknown): value is string {
  return isText(value) && value.length <= MAX_ID_LENGTH;
}

/** Returns whether a value has more levels than this. Does not recurse, because that could overflow the stack. */
export function isDeeperThan(value: unknown, levels: number): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > levels) return true;
    level = level.flatMap((each): readonly unknown[] =>
      typeof each === 'object' && each !== null ? Object.values(each) : [],
    );
  }
  return false;
}

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
