/** Reads the errors of the portal's API: whether a request was sent, and the texts for people. */
import type { ApiError } from '../../portal/client/api';
import { codeOf, isCertificateRefused, reasonOf } from '../../portal/client/failed-connection';

/** Words that have a capital letter only because they begin a sentence. */
const FIRST_WORDS =
  /^(?:A|An|Another|Ask|Call|It|Look|No|Nothing|Once|Only|Open|Please|Send|Set|Sign|Signing|Support|The|There|They|This|Too|Try|Use|You|Your)\b/;

/** Turns a sentence into a clause: `You are not signed in.` becomes `you are not signed in`. */
export function clause(text: string): string {
  const first = FIRST_WORDS.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
  return first.replace(/\.$/, '');
}

/** The codes of connections that were never established. */
const NOT_CONNECTED = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH'];

/** Returns whether a request has certainly not reached the portal. */
export function wasNotSent({ cause }: ApiError): boolean {
  return NOT_CONNECTED.includes(codeOf(cause)) || isCertificateRefused(cause);
}

/** Returns whether the portal might have stored a request that ended with this error. */
export const mayBeReceived = (error: ApiError): boolean =>
  (error.status === 0 && !wasNotSent(error)) || error.status >= 500;

export function unreachableText(origin: string, error: unknown): string {
  const cause = reasonOf(error);
  const code = codeOf(error);
  if (/EXPIRED|NOT_YET_VALID/.test(code))
    return `the certificate of ${origin} has expired or is not valid yet (${code}). If the clock of this machine is right, tell your contact`;
  if (/ALTNAME/.test(code))
    return `the certificate of ${origin} is for another address (${code}). Check the address; if it is right, tell your contact`;
  if (isCertificateRefused(error))
    return `the certificate of ${origin} is not trusted (${code}). If your organization has its own certificate authority, set NODE_EXTRA_CA_CERTS to the file with the certificate of this authority; otherwise, tell your contact`;
  if (code === 'EPROTO' || code.startsWith('ERR_SSL'))
    return `no encrypted connection to ${origin} is possible (${code})`;
  if (cause instanceof Error && cause.name === 'TimeoutError') return `${origin} does not answer in time`;
  if (cause instanceof Error && /redirect/.test(cause.message)) return `${origin} redirects to another address`;
  return `${origin} cannot be reached${code === '' ? '' : ` (${code})`}`;
}
