/** Limits on the size, the encoding, the nesting and the duration of a request. */
import { badRequest } from '../errors/errors';

/** Limit on the body. Node.js limits headers and URL together to 16 KB. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** Time within which the complete request must arrive. */
export const REQUEST_TIMEOUT_MS = 60_000;

const MAX_DEPTH = 32;

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Decodes a body. A lenient decoder would replace invalid bytes, so a name could be stored differently from how it was
 * sent.
 *
 * @throws ServiceError 400
 */
export function decodeUtf8(bytes: Buffer): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw badRequest([{ message: 'The body is not valid UTF-8.' }]);
  }
}

/**
 * Refuses deeply nested JSON, because recursive validation of it would overflow the stack.
 *
 * @throws ServiceError 400
 */
export function assertShallow(json: string): void {
  let depth = 0;
  let inString = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inString) {
      if (character === '\\') at += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > MAX_DEPTH) throw badRequest([{ message: `The body is nested more than ${MAX_DEPTH} levels deep.` }]);
  }
}
