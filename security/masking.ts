import { MASK } from './secret';

/** Shorter values are no secrets, and would tear up every text. */
const SHORTEST_SECRET = 8;
/** So many characters of a longer secret are masked wherever they stand: whoever quotes it may have cut it. */
const PIECE = 12;

/**
 * A text that somebody else has written, without what they may have quoted: these secrets, whole or in pieces, as they
 * are and as JSON, URLs, HTML, base64 and hexadecimal digits hold them; and whatever looks like a credential.
 */
export function withoutSecrets(text: string, secrets: readonly string[]): string {
  const forms = secrets.filter(({ length }) => length >= SHORTEST_SECRET).flatMap(formsOf);
  return withoutCredentials(forms.reduce(withoutPieces, text)).replace(TOKEN, MASK);
}

/** A text of our own, without what certainly is a credential: for what is logged, whoever has written it. */
export function withoutCredentials(text: string): string {
  return text
    .replace(AUTHORIZATION, `$1 ${MASK}`)
    .replace(USER_AND_PASSWORD, `$1${MASK}@`)
    .replace(NAMED_CREDENTIAL, `$1$2${MASK}`);
}

/** RFC 7617 and 6750: `Basic YWJj...`, `Bearer ey...`. */
const AUTHORIZATION = /\b([Bb]asic|[Bb]earer|BASIC|BEARER)(?:\s|%20|\+)+(?=[\w.~+/%-]*[\dA-Z=])[\w.~+/%=-]{6,}/g;
/** `postgres://user:password@host` */
const USER_AND_PASSWORD = /(\w:\/\/)[^\s/?#"'\\@]+@/g;
/** `access_token=...`, `"clientSecret":"..."`, also as JSON within JSON. Not `accessToken: is missing`. */
const NAMED_CREDENTIAL =
  /((?:access|refresh|id)[_-]?token|client[_-]?secret|api[_-]?key|password)(\\*["']?\s*(?:=|:\s*\\*["'])\\*["']?)[^\s"'\\&;<>]+/gi;
/** A long word of digits and letters that is no UUID. */
const TOKEN = /(?<![\w-])(?![0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b)(?=[\w-]*\d)(?=[\w-]*[a-z])[\w-]{24,}/gi;

function formsOf(secret: string): readonly string[] {
  const bytes = Buffer.from(secret);
  const wellFormed = bytes.toString();
  const percent = encodeURIComponent(wellFormed);
  const escaped = (escape: (code: number) => string) =>
    wellFormed.replace(/[^\w.~-]/g, (character) => escape(character.charCodeAt(0)));
  const four = (code: number) => code.toString(16).padStart(4, '0');
  // Within a longer text, base64 looks different for each of three places; its first characters hold what stands before.
  const base64 = [0, 1, 2].map((place) =>
    Buffer.concat([Buffer.alloc(place), bytes])
      .toString('base64')
      .slice(place === 0 ? 0 : 4),
  );
  const forms = new Set([
    wellFormed,
    JSON.stringify(wellFormed).slice(1, -1),
    escaped((code) => `\\u${four(code)}`),
    escaped((code) => `\\u${four(code).toUpperCase()}`),
    escaped((code) => `&#x${code.toString(16).toUpperCase()};`),
    percent,
    percent.replace(/%../g, (byte) => byte.toLowerCase()),
    percent.replaceAll('%20', '+'),
    encodeURIComponent(percent),
    bytes.toString('hex'),
    bytes.toString('hex').toUpperCase(),
    ...base64,
    ...base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')),
  ]);
  return [...forms];
}

function withoutPieces(text: string, form: string): string {
  const length = Math.min(PIECE, form.length);
  const pieces = new Set<string>();
  for (let at = 0; at + length <= form.length; at += 1) pieces.add(form.slice(at, at + length));
  let shown = '';
  let from = 0;
  for (let at = 0; at + length <= text.length;) {
    if (!pieces.has(text.slice(at, at + length))) {
      at += 1;
      continue;
    }
    let end = at + length;
    while (end < text.length && pieces.has(text.slice(end + 1 - length, end + 1))) end += 1;
    shown += `${text.slice(from, at)}${MASK}`;
    from = at = end;
  }
  return shown + text.slice(from);
}
