import { clientSecretProblem } from '../../domain/supply/client-secret';
import { Secret } from '../../security';
import type { Terminal } from '../terminal/terminal';
import { CommandFailed } from '../shared/errors';
import { readTextFile } from '../shared/unreadable-file';

const ADVICE = 'nothing was sent or sealed; specify a file that contains only the client secret';

/**
 * Reads a file that contains only a client secret, without the spaces around it.
 *
 * @throws CommandFailed if the file cannot be read, or its content cannot be a client secret
 */
export function readSecretFile(file: string): Secret {
  const text = readTextFile(file, ADVICE).trim();
  const problem = clientSecretProblem(text);
  if (problem !== null) throw new CommandFailed(`${file} ${problem}`, ADVICE);
  return new Secret(text);
}

/**
 * Reads the client secret from a file or a prompt. The secret is never an argument, because arguments are visible in
 * the process list and kept in the shell's history.
 *
 * @throws CommandFailed
 */
export async function readClientSecret(
  { prompts }: Pick<Terminal, 'prompts'>,
  { secretFile }: { readonly secretFile?: string },
): Promise<Secret> {
  if (secretFile !== undefined) return readSecretFile(secretFile);
  if (!prompts) {
    throw new CommandFailed(
      'cannot ask for the client secret, because the input or the output of the command is not a terminal',
      'put the client secret in a file, and pass the file with --secret-file',
    );
  }
  const secret = (await prompts.secret('Client secret')).trim();
  const problem = clientSecretProblem(secret);
  if (problem !== null)
    throw new CommandFailed(
      `the client secret ${problem}`,
      'nothing was sent; run the command again, and enter the client secret',
    );
  return new Secret(secret);
}
