/** The option `--obtained-at`: when the client's application received the credentials of a file. */
import { InvalidArgumentError, Option } from 'commander';
import { obtainedAtProblem, type CredentialTimes } from '../manifest';
import { CommandFailed } from '../shared/errors';
import { parseTime } from '../terminal/times';

export function obtainedAtOption(): Option {
  return new Option(
    '--obtained-at <when>',
    "time at which the client's application received the credentials, or the word now; cannot be used if the file is sealed, or if a row contains obtainedAt (default: the file's modification time)",
  ).argParser(parseObtainedAt);
}

/** Returns the times for reading a credential file with this option. */
export const timesFrom = ({ obtainedAt }: { readonly obtainedAt?: Date }): CredentialTimes => ({
  now: new Date(),
  forAllRows: 'specify the time of the export with --obtained-at',
  ...(obtainedAt && { obtainedAt }),
});

/**
 * Refuses the option for a sealed file, because each sealed credential is bound to the time that the file contains.
 *
 * @throws CommandFailed
 */
export function assertNoTimeFor(sealedFile: string, { obtainedAt }: { readonly obtainedAt?: Date }): void {
  if (obtainedAt === undefined) return;
  throw new CommandFailed(
    `${sealedFile} is sealed, and contains the times at which its credentials were obtained`,
    'leave out --obtained-at; if these times are wrong, the client must seal the original file again: with the right times in obtainedAt or, if no row contains obtainedAt, with the option --obtained-at of ferry seal',
  );
}

/** @throws InvalidArgumentError, to which commander adds the name of the option */
function parseObtainedAt(text: string): Date {
  const at = parseTime(text);
  const problem = obtainedAtProblem(at, new Date());
  if (problem !== null) throw new InvalidArgumentError(`This time is ${problem}.`);
  return at;
}
