import { readFileSync } from 'node:fs';
import { Secret } from '../security/secret';
import type { Environment } from './environment';
import type { RunningStack } from './running-stack';

const KEY_BYTES = 32;

/** The key under which every other key is kept: 32 bytes in base64, from a variable, a file, or the running stack. */
export function readMasterKey(
  environment: Environment,
  stack: RunningStack | undefined,
  problems: string[],
): Secret<Buffer> | undefined {
  const { TOKENFERRY_MASTER_KEY: text, TOKENFERRY_MASTER_KEY_FILE: file } = environment;
  if (text !== undefined && file !== undefined) {
    problems.push('TOKENFERRY_MASTER_KEY and TOKENFERRY_MASTER_KEY_FILE are both set: set one of them.');
    return undefined;
  }
  if (text !== undefined) return decoded(text, 'TOKENFERRY_MASTER_KEY', problems);
  const source = file ?? stack?.masterKeyFile;
  if (source === undefined) return undefined;
  const name =
    file === undefined ? `the running stack's master key, ${source},` : `TOKENFERRY_MASTER_KEY_FILE, ${source},`;
  try {
    return decoded(readFileSync(source, 'utf8'), name, problems);
  } catch (error) {
    problems.push(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
}

function decoded(text: string, name: string, problems: string[]): Secret<Buffer> | undefined {
  const key = Buffer.from(text.trim(), 'base64');
  if (key.length === KEY_BYTES) return new Secret(key);
  problems.push(`${name} must hold ${KEY_BYTES} bytes in base64. Make one with: openssl rand -base64 ${KEY_BYTES}`);
  return undefined;
}
