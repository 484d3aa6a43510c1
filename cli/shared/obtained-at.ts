/** The option `--obtained-at`: when the client's application received the credentials of a file. */
import { InvalidArgumentError, Option } from 'commander';
import { obtainedAtProblem } from '../manifest';
import { parseTime } from '../terminal/times';

export function obtainedAtOption(): Option {
  return new Option(
    '--obtained-at <when>',
    "time at which the client's application received the credentials, or the word now (default: the obtainedAt column, or the file's modification time)",
  ).argParser(parseObtainedAt);
}

/** @throws InvalidArgumentError, to which commander adds the name of the option */
function parseObtainedAt(text: string): Date {
  const at = parseTime(text);
  const problem = obtainedAtProblem(at, new Date());
  if (problem !== null) throw new InvalidArgumentError(`It is ${problem}.`);
  return at;
}

/** Yields the credentials with the time of the option, if it was given. */
export async function* withObtainedAt<Credential extends { readonly obtainedAt: string }>(
  credentials: AsyncIterable<Credential>,
  obtainedAt: Date | undefined,
): AsyncGenerator<Credential> {
  for await (const credential of credentials)
    yield obtainedAt === undefined ? credential : { ...credential, obtainedAt: obtainedAt.toISOString() };
}
