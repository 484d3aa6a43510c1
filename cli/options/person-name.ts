/** The rules for the name of a person, which decisions, reports and signing keys show. */
import { InvalidArgumentError } from 'commander';
import { MAX_NAME_LENGTH } from '../../domain/migration/decision-fields';
import { isPlaceholder } from '../../domain/text/placeholders';
import { hasUnsafeCharacters } from '../../domain/text/untrusted-text';

const EXPECTED = `Expected a name of at most ${MAX_NAME_LENGTH} characters, on one line and without invisible control characters.`;

/**
 * Matches a command that was pasted in place of a name: it begins like a command of the documentation, or contains a
 * long option, a path or certain shell characters. `CORP\sam` and `Sam <sam@acme.com>` are allowed as names.
 */
const COMMAND = /^(?:ferry|npm|npx|cd|cp|export|sudo|docker|git) |[$`;{}=]|&&|(?:^|\s)--\w|(?:^|\s)[.~]*\/\w/;

/** Parses the value of an option with the name of a person. */
export function parseName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= MAX_NAME_LENGTH && !hasUnsafeCharacters(name)) return name;
  throw new InvalidArgumentError(EXPECTED);
}

/**
 * Returns why the answer to a question for a name is rejected; null if it is accepted.
 *
 * @param more ends the sentence about a command, for example `; --by "your name" avoids the question`
 */
export function nameRejection(name: string, more = ''): string | null {
  if (name === '' || isPlaceholder(name)) return 'A name is needed.';
  if (/^(y|yes|n|no)$/i.test(name)) return 'A name is needed, not yes or no.';
  if (name.length > MAX_NAME_LENGTH || hasUnsafeCharacters(name)) return EXPECTED;
  return COMMAND.test(name) ? `This looks like a command. Type the name of a person${more}.` : null;
}
