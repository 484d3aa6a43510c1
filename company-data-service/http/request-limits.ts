/** How large a request may be: beyond that it is nobody's request, and is refused before anything is done with it. */
import { badRequest } from './errors';

/** Of a body. Headers and address together have 16 KB, as Node's HTTP server has it. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** For a whole request to arrive. */
export const ARRIVES_WITHIN_MS = 60_000;

const DEEPEST = 32;

/**
 * What is read by going down into it (validation, the database) ends the process or the request with depth.
 *
 * @throws ServiceError 400
 */
export function assertShallow(json: string): void {
  let depth = 0;
  let inText = false;
  for (let at = 0; at < json.length; at += 1) {
    const character = json[at];
    if (inText) {
      if (character === '\\') at += 1;
      else if (character === '"') inText = false;
    } else if (character === '"') inText = true;
    else if (character === '{' || character === '[') depth += 1;
    else if (character === '}' || character === ']') depth -= 1;
    if (depth > DEEPEST) throw badRequest([{ message: `The body is nested more than ${DEEPEST} levels deep.` }]);
  }
}
