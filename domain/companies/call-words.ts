/**
 * Puts a failed call into words for support: `could not read the account: the service answered 503: Maintenance`. If an
 * answer is lost, the call might have taken effect, so the text does not say that it failed. Logs and JSON keep the
 * method and the path. client-words.ts puts calls into the client's words, without details.
 */
import { momentText } from '../text/sentences';

/** Matches a failed call at the end of a text: `GET /account: answered 503 Maintenance (from PublicApi)`. */
const CALL = /\b(GET|POST|PUT|PATCH|DELETE) (\/\S*): (.*)$/s;

/** Returns the reference of the company with this id at the service; null if it is unknown. */
type ReferenceOf = (serviceId: string) => string | null;

const UNKNOWN: ReferenceOf = () => null;

/** Returns the text with the call in words. A text without a call stays as it is. */
export function inSupportWords(text: string, referenceOf: ReferenceOf = UNKNOWN): string {
  return withCallReplaced(text, (failure, method, path) => {
    const call = callWords(method, path, referenceOf);
    const isUnclear = method !== 'GET' && !WITHOUT_EFFECT.test(failure);
    const outcome = isUnclear ? `the attempt to ${call} had no clear outcome` : `could not ${call}`;
    return `${outcome}: ${failureWords(failure)}`;
  });
}

/** Matches the failures after which a call certainly had no effect, see the failure table in failures.ts. */
const WITHOUT_EFFECT =
  /^(?:could not connect: |not sent|answered 429|answered 4\d\d(?!; the answer is not from the service|, not from the service))/;

/** Replaces the failed call in a text. A text without a call stays as it is. */
export function withCallReplaced(
  text: string,
  wordsOf: (failure: string, method: string, path: string) => string,
): string {
  const call = CALL.exec(text);
  if (call === null) return text;
  const [, method = '', path = '', failure = ''] = call;
  const before = text.slice(0, call.index);
  // The importer adds the call in parentheses to the text of the failure.
  const isInParentheses = before.endsWith('(') && failure.endsWith(')');
  const words = wordsOf(isInParentheses ? failure.slice(0, -1) : failure, method, path);
  return `${before}${words}${isInParentheses ? ')' : ''}`;
}

/** Returns the id of the company that the call in the text is about; empty if there is no call or no company id. */
export function companyIdsIn(text: string): readonly string[] {
  const [, , path = ''] = CALL.exec(text) ?? [];
  const [, id] = COMPANY_ID.exec(path) ?? [];
  return id === undefined ? [] : [id];
}

const COMPANY_ID = /\/companies\/([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})(?:\/|$)/i;

/** The words for calls about a company. The pattern matches the path after its id; `{company}` stands for it. */
const COMPANY_CALLS: readonly (readonly [method: string, path: RegExp, words: string])[] = [
  ['GET', /^$/, 'read {company}'],
  ['PUT', /^$/, 'update {company}'],
  ['DELETE', /^$/, 'delete {company}'],
  ['GET', /^\/connections$/, 'list the connections of {company}'],
  ['POST', /^\/connections$/, 'create the connection of {company}'],
  ['GET', /^\/connections\/[^/]+$/, 'read the connection of {company}'],
  ['PATCH', /^\/connections\/[^/]+$/, 'unlink the connection of {company}'],
  ['DELETE', /^\/connections\/[^/]+$/, 'delete the connection of {company}'],
  ['PUT', /\/authorization$/, 'hand over the credential of {company}'],
  ['POST', /^\/data\//, 'start the sync of {company}'],
  ['GET', /^\/data(?:Status$|\/history)/, 'read the progress of the sync of {company}'],
  ['GET', /^\/data\//, 'read the records of {company}'],
  ['GET', /^\/syncSettings$/, 'read the sync settings of {company}'],
  ['POST', /^\/syncSettings$/, 'change the sync settings of {company}'],
];

const OTHER_CALLS: readonly (readonly [method: string, path: RegExp, words: string])[] = [
  ['GET', /\/account$/, 'read the account'],
  ['GET', /\/healthz$/, 'check whether the service is running'],
  ['GET', /\/companies$/, 'list the companies at the service'],
  ['POST', /\/companies$/, 'create a company'],
  ['GET', /\/integrations(?:\/[^/]+)?$/, 'read the registered application'],
  ['PUT', /\/integrations\/[^/]+\/credentials$/, 'register the application'],
];

function callWords(method: string, path: string, referenceOf: ReferenceOf): string {
  const isCall = (calls: typeof OTHER_CALLS, at: string): string | undefined =>
    calls.find(([calledWith, pattern]) => calledWith === method && pattern.test(at))?.[2];
  const [, id, rest = ''] = /\/companies\/([^/]+)(.*)$/.exec(path) ?? [];
  if (id === undefined) return isCall(OTHER_CALLS, path) ?? 'make a call';
  const company = referenceOf(id) ?? 'a company';
  return (isCall(COMPANY_CALLS, rest) ?? 'make a call about {company}').replace('{company}', () => company);
}

/**
 * The ledger can contain texts of earlier versions, in which an answer is `not from the service (probably a proxy)`.
 */
const ANSWER =
  /^answered (\d{3})(; the answer is not from the service, but probably from a proxy:|, not from the service \(probably a proxy\):)?(.*)$/s;
const RETRY_AFTER = / and asks for a retry after (\S+)$/;
const NOT_SENT = /^(not sent, because the service's rate limit was reached; the next request can be sent after) (\S+)$/;

function failureWords(failure: string): string {
  const [, limited, sendableAt] = NOT_SENT.exec(failure) ?? [];
  if (limited !== undefined && sendableAt !== undefined) return `${limited} ${momentText(sendableAt)}`;
  const [isAnswer, status = '', isForeign, rest = ''] = ANSWER.exec(failure) ?? [];
  if (isAnswer === undefined)
    return failure
      .replace(/^could not connect: /, 'the service cannot be reached: ')
      .replace(/^no complete response arrived within (\d+) ms/, (_, ms) => `no answer within ${Number(ms) / 1_000} s`);
  const [, after] = RETRY_AFTER.exec(rest) ?? [];
  if (after !== undefined) return `the service answered ${status}, and asks for a retry after ${momentText(after)}`;
  const text = rest
    .trim()
    .replace(/\(from [^(),]*(?:, (correlation id [^()]*))?\)$/, (_, id?: string) => (id ? `(${id})` : ''));
  const who =
    isForeign === undefined
      ? 'the service answered'
      : 'an answer that is not from the service, but probably from a proxy, says';
  if (/^(?:with a|instead of) /.test(text)) return `${who} ${status} ${text.trim()}`;
  return `${who} ${status}: ${text.trim()}`;
}
