import { readFileSync } from 'node:fs';
import { clientSecretProblem } from '../../domain/supply/client-secret';
import { Secret } from '../../security';
import { CommandFailed } from './errors';

const ADVICE = 'nothing was sent or sealed; specify a file that contains only the client secret';

/**
 * Reads a file that contains only a client secret, without the spaces around it.
 *
 * @throws CommandFailed if it cannot be read, or if its content cannot be a client secret
 */
export function readSecretFile(file: string): Secret {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read`, ADVICE, { cause: error });
  }
  const problem = clientSecretProblem(text);
  if (problem !== null) throw new CommandFailed(`${file} ${problem}`, ADVICE);
  return new Secret(text);
}
