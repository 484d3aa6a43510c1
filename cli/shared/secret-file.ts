import { readFileSync } from 'node:fs';
import { Secret } from '../../security';
import { CommandFailed } from './errors';

/**
 * Reads a file that contains only a secret, without the spaces around it.
 *
 * @throws CommandFailed if it cannot be read or is empty
 */
export function readSecretFile(file: string): Secret {
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read`, 'specify a file that contains only the secret', {
      cause: error,
    });
  }
  if (text === '') throw new CommandFailed(`${file} is empty`, 'specify a file that contains only the secret');
  return new Secret(text);
}
