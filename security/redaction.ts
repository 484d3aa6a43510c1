/**
 * Redaction: removes credentials from text before it is shown, logged or stored.
 *
 * Text from outside (a service, a proxy, a platform) can quote the secrets that we sent. It is therefore searched for
 * these secrets, in plain text and in common encodings, and for everything that looks like a token. Our own text is
 * searched only for credentials in known forms, because it contains ids that look like tokens.
 */
import { MASK } from './secret';
import { withoutUnsafeCharacters } from '../domain/text/untrusted-text';

/**
 * Secrets that are shorter than this are not masked, because masking a short value, such as `eu`, would make the text
 * unreadable.
 */
const MIN_SECRET_LENGTH = 8;
/**
 * Length of the shortest part of a secret that is masked. Parts are masked because a quoted secret might have been
 * truncated. A secret that is shorter than this is masked only as a whole.
 */
const FRAGMENT_LENGTH = 12;
/** Maximum length of an error text, in characters. */
const MAX_ERROR_LENGTH = 500;
/** Length of the searched part of an error text. Longer than the maximum, because masking shortens the text. */
const MAX_SEARCHED_LENGTH = 8 * MAX_ERROR_LENGTH;

/**
 * Redacts an error text from outside, and shortens it to one line of at most 500 characters.
 *
 * @param secrets the secret values that the call sent
 */
export function redactErrorText(text: string, secrets: readonly string[] = []): string {
  const line = withoutUnsafeCharacters(text.slice(0, MAX_SEARCHED_LENGTH));
  // Postgres cannot store half of a surrogate pair, which the text can contain or the cut can leave behind.
  return redactSecrets(line, secrets)
    .slice(0, MAX_ERROR_LENGTH)
    .replace(/\p{Cs}/gu, '');
}

/** Redacts text from outside. Masks `secrets`, and everything that looks like a credential. */
export function redactSecrets(text: string, secrets: readonly string[]): string {
  return redactCredentials(maskSecrets(text, secrets)).replace(TOKEN, MASK);
}

/** Masks secrets and parts of them, in plain text and in the encodings of JSON, URLs, HTML, base64 and hex. */
export function maskSecrets(text: string, secrets: readonly string[]): string {
  const encodings = secrets.filter(({ length }) => length >= MIN_SECRET_LENGTH).flatMap(encodingsOf);
  return encodings.reduce(maskFragments, text);
}

/** Redacts our own text, for example a log line. Masks only credentials in known forms. */
export function redactCredentials(text: string): string {
  return text
    .replace(AUTHORIZATION, `$1 ${MASK}`)
    .replace(USER_AND_PASSWORD, `$1${MASK}@`)
    .replace(NAMED_CREDENTIAL, `$1$2${MASK}`);
}

/** RFC 7617 and 6750: `Basic YWJj...`, `Bearer ey...`. */
const AUTHORIZATION = /\b([Bb]asic|[Bb]earer|BASIC|BEARER)(?:\s|%20|\+)+(?=[\w.~+/%-]*[\dA-Z=])[\w.~+/%=-]{6,}/g;
/** `postgres://user:password@host` */
const USER_AND_PASSWORD = /(\w:\/\/)[^\s/?#"'\\@]+@/g;
/** `access_token=...`, `"clientSecret":"..."`, including JSON inside JSON. Does not match `accessToken: is missing`. */
const NAMED_CREDENTIAL =
  /((?:access|refresh|id)[_-]?token|client[_-]?secret|api[_-]?key|password)(\\*["']?\s*(?:=|:\s*\\*["'])\\*["']?)[^\s"'\\&;<>]+/gi;
/**
 * A word of at least 24 letters, digits, hyphens and underscores that contains a letter and a digit and is not a UUID.
 */
const TOKEN = /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{24,}/gi;

function encodingsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const wellFormed = bytes.toString();
  const percent = encodeURIComponent(wellFormed);
  const escaped = (escape: (code: number) => string) =>
    wellFormed.replace(/[^\w.~-]/g, (character) => escape(character.charCodeAt(0)));
  const fourHexDigits = (code: number) => code.toString(16).padStart(4, '0');
  // Base64 of a longer text can contain the secret in three alignments. In two of them, the first encoded characters
  // also encode the bytes before the secret, so these characters are left out.
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(offset === 0 ? 0 : 4),
  );
  const encodings = new Set([
    wellFormed,
    JSON.stringify(wellFormed).slice(1, -1),
    escaped((code) => `\\u${fourHexDigits(code)}`),
    escaped((code) => `\\u${fourHexDigits(code).toUpperCase()}`),
    escaped((code) => `&#x${code.toString(16).toUpperCase()};`),
    percent,
    percent.replace(/%../g, (byte) => byte.toLowerCase()),
    percent.replaceAll('%20', '+'),
    encodeURIComponent(percent),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((encoded) => encoded.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ]);
  return [...encodings];
}

/**
 * One or two words, such as `unavailable`. If a part of a secret has this form, an ordinary sentence can contain it,
 * too. Such a part is therefore not masked if separators surround it, both in the text and in the secret. A random
 * token hardly ever has such a part, because the part would have to be between two separators and contain no digit and
 * no inner capital.
 */
const WORDS = /^[A-Za-z][a-z]+(?:-[a-z]+)?$/;
const MAX_WORDS_LENGTH = 20;
const ALPHANUMERIC = /[\p{L}\p{N}_]/u;

/**
 * Returns whether the part of the text from `from` to `to` consists of ordinary words and is not the complete secret.
 */
function isOrdinaryPart(text: string, from: number, to: number, secret: string): boolean {
  let [start, end] = [from, to];
  while (start < end && !ALPHANUMERIC.test(text.charAt(start))) start += 1;
  while (start < end && !ALPHANUMERIC.test(text.charAt(end - 1))) end -= 1;
  const words = text.slice(start, end);
  if (words.length > MAX_WORDS_LENGTH || words === secret || !WORDS.test(words)) return false;
  const at = secret.indexOf(words);
  const around = [text.charAt(start - 1), text.charAt(end), secret.charAt(at - 1), secret.charAt(at + words.length)];
  return !around.some((character) => ALPHANUMERIC.test(character));
}

/** Masks every part of `text` that consists of fragments of `secret`, unless the part consists of ordinary words. */
function maskFragments(text: string, secret: string): string {
  const length = Math.min(FRAGMENT_LENGTH, secret.length);
  const fragments = new Set<string>();
  for (let at = 0; at + length <= secret.length; at += 1) fragments.add(secret.slice(at, at + length));
  let masked = '';
  let from = 0;
  for (let at = 0; at + length <= text.length;) {
    if (!fragments.has(text.slice(at, at + length))) {
      at += 1;
      continue;
    }
    let end = at + length;
    while (end < text.length && fragments.has(text.slice(end + 1 - length, end + 1))) end += 1;
    if (!isOrdinaryPart(text, at, end, secret)) {
      masked += `${text.slice(from, at)}${MASK}`;
      from = end;
    }
    at = end;
  }
  return masked + text.slice(from);
}
