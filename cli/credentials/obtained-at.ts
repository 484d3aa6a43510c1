/** The option `--obtained-at`: when the client's application received the credentials of a file. */
import { InvalidArgumentError, Option } from 'commander';
import { obtainedAtProblem, type CredentialTimes } from '../manifest';
import { parseTime } from '../terminal/times';

export function obtainedAtOption(): Option {
  return new Option(
    '--obtained-at <when>',
    "time at which the client's application received the credentials, or the word now; cannot be used if a row contains obtainedAt (default: the file's modification time)",
  ).argParser(parseObtainedAt);
}

/** Returns the times for reading a credential file with this option. */
export const timesFrom = ({ obtainedAt }: { readonly obtainedAt?: Date }): CredentialTimes => ({
  now: new Date(),
  forAllRows: 'specify the time of the export with --obtained-at',
  ...(obtainedAt && { obtainedAt }),
});

/** @throws InvalidArgumentError, to which commander adds the name of the option */
function parseObtainedAt(text: string): Date {
  const at = parseTime(text);
  const problem = obtainedAtProblem(at, new Date());
  if (problem !== null) throw new InvalidArgumentError(`This time is ${problem}.`);
  return at;
}
