import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { KeyInvalid, parseSigningKey, Secret, type SigningKey } from '../security';
import type { Environment } from './environment';

/** Where a person's signing key lies: where they say, or in their home folder. */
export function signingKeyFile(home: string, named: string | undefined): string {
  return named ?? path.join(home, 'signing.key');
}

/** The key that decisions are signed with; undefined: there is none, and they are not signed. */
export function readSigningKey(
  { TOKENFERRY_SIGNING_KEY_FILE: named }: Environment,
  home: string,
  problems: string[],
): SigningKey | undefined {
  const file = signingKeyFile(home, named);
  if (named === undefined && !existsSync(file)) return undefined;
  try {
    return parseSigningKey(new Secret(readFileSync(file, 'utf8')));
  } catch (error) {
    const cannotBeRead = error instanceof Error && 'code' in error;
    if (!(error instanceof KeyInvalid) && !cannotBeRead) throw error;
    problems.push(`The signing key (${file}): ${error.message}`);
    return undefined;
  }
}
