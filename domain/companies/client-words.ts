/**
 * Puts the technical text of a failed call into the client's words. The ledger keeps the technical text, with which
 * support can find the call at the service. call-words.ts puts calls into words for support.
 */
import { withCallReplaced } from './call-words';

const ANSWER = /^answered (\d{3})(.*)$/s;
/** Matches, at the end of the text, the source of the answer and the id of the call. */
const SOURCE = /\s*\((?:from [^()]*|correlation id [^()]*)\)$/;

const UNANSWERED = /^(?:could not connect: |no complete response arrived |the connection broke: |not sent)/;

/** Matches the text of a request that was not sent, because an earlier answer has announced a limit. */
const NOT_SENT = /^not sent, because the service's rate limit was reached/;

const LIMITS_REQUESTS = 'the Company Data Service is limiting the number of requests';
const NO_ANSWER = 'the Company Data Service did not answer';
const HAS_A_PROBLEM = 'the Company Data Service has a technical problem';

/** Returns the text without methods, paths, status codes and ids. A text without a call stays as it is. */
export function inClientWords(text: string): string {
  return withCallReplaced(text, wordsOf);
}

function wordsOf(failure: string): string {
  const answer = ANSWER.exec(failure);
  if (answer === null) {
    if (NOT_SENT.test(failure)) return LIMITS_REQUESTS;
    return UNANSWERED.test(failure) ? NO_ANSWER : HAS_A_PROBLEM;
  }
  const [, status = '', rest = ''] = answer;
  if (status === '401') return 'the Company Data Service refuses access';
  if (status === '402') return 'the account at the Company Data Service has reached a limit or has expired';
  if (status === '429') return LIMITS_REQUESTS;
  const message = rest.trim().replace(SOURCE, '').trim();
  // A proxy's page, or an answer that cannot be read, contains nothing that people can use.
  const isReadable =
    Number(status) >= 400 && Number(status) < 500 && rest.startsWith(' ') && !/^(with a|instead of) /.test(message);
  return isReadable && message !== '' && !/[{}<>]/.test(message) ? message : HAS_A_PROBLEM;
}
