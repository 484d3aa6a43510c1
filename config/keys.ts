/**
 * Reads the keys of the configuration (master, payload and service keys, and a person's signing key) and finds the
 * folder of the vault secrets.
 */
import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { types } from 'node:util';
import {
  INVALID_SIGNING_KEY,
  KeyInvalid,
  parseKeyRing,
  parseSigningKey,
  Secret,
  SIGNING_KEY_ADVICE,
  type KeyRing,
  type SigningKey,
} from '../security';
import { sentence } from '../domain/text/sentences';
import type { Environment } from './environment';
import { readSmallFile } from './small-file';

/** The variables with the keys of each purpose. */
const KEY_VARIABLES = {
  'master key': 'TOKENFERRY_MASTER_KEY',
  'payload key': 'TOKENFERRY_PAYLOAD_KEY',
  'service key': 'TOKENFERRY_SERVICE_KEY',
} as const;

/**
 * Returns the message of an error that comes from the file system or is about the file's content. Rethrows any other
 * error.
 */
function fileProblem(error: unknown): string {
  if (types.isNativeError(error) && (error instanceof KeyInvalid || 'code' in error)) return error.message;
  throw error;
}

/**
 * Returns the keys in the variable, or in the file that `<variable>_FILE` names, or else in the file of the running
 * stack. Returns undefined if no source has any, or if a problem was added to `problems`.
 */
export function readKeys(
  environment: Environment,
  purpose: keyof typeof KEY_VARIABLES,
  problems: string[],
  stackKeyFile?: string,
): KeyRing | undefined {
  const variable = KEY_VARIABLES[purpose];
  const text = environment[variable];
  const file = environment[`${variable}_FILE`];
  if (text !== undefined && file !== undefined) {
    problems.push(`${variable} and ${variable}_FILE are both set. Set only one of them.`);
    return undefined;
  }
  if (text !== undefined) return parsed(variable, text);
  if (file !== undefined) return fromFile(`${variable}_FILE`, file, 'Check the path and your permissions');
  // If the file is missing, the next `ferry up` would create a new key, so advise to restore the file.
  const restore = 'Check your permissions; if the file is missing, restore it from a copy';
  return stackKeyFile === undefined ? undefined : fromFile(`The running stack's ${purpose}`, stackKeyFile, restore);

  function fromFile(name: string, file: string, advice: string): KeyRing | undefined {
    let content: string;
    try {
      content = readSmallFile(file);
    } catch (error) {
      problems.push(`${name} cannot be read: ${fileProblem(error)}. ${advice}.`);
      return undefined;
    }
    return parsed(`${name} (${file})`, content);
  }

  function parsed(name: string, content: string): KeyRing | undefined {
    try {
      return parseKeyRing(new Secret(content), purpose);
    } catch (error) {
      if (!(error instanceof KeyInvalid)) throw error;
      problems.push(`${name}: ${error.message}`);
      return undefined;
    }
  }
}

/**
 * Returns the folder of the vault secrets. A configured folder must exist, because otherwise a worker whose shared
 * storage is not mounted would create its own folder. Returns undefined if no source has one, or if a problem was added
 * to `problems`.
 */
export function findVaultSecretsFolder(
  { TOKENFERRY_VAULT_SECRETS: configured }: Environment,
  stackFolder: string | undefined,
  problems: string[],
): string | undefined {
  if (configured === undefined) return stackFolder;
  const folder = path.resolve(configured);
  try {
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return folder;
  } catch (error) {
    problems.push(
      `TOKENFERRY_VAULT_SECRETS cannot be read: ${fileProblem(error)}. Check the path and your permissions.`,
    );
    return undefined;
  }
  problems.push(
    `TOKENFERRY_VAULT_SECRETS: there is no folder ${folder}. Mount the folder, or create it on storage that all workers share.`,
  );
  return undefined;
}

/** Returns the path of a person's signing key: the configured path, or `signing.key` in the home folder. */
export function signingKeyFile(home: string, configured: string | undefined): string {
  return configured ?? path.join(home, 'signing.key');
}

/**
 * Returns the key that signs this person's decisions; undefined if there is none, or if a problem was added to
 * `problems`. Decisions are not signed if there is no key.
 */
export function readSigningKey(
  { TOKENFERRY_SIGNING_KEY_FILE: configured }: Environment,
  home: string,
  problems: string[],
): SigningKey | undefined {
  const file = signingKeyFile(home, configured);
  if (configured === undefined && !existsSync(file)) return undefined;
  try {
    return parseSigningKey(new Secret(readSmallFile(file)));
  } catch (error) {
    const check =
      configured === undefined
        ? 'Check that this is a file, and your permissions.'
        : 'Check the path (TOKENFERRY_SIGNING_KEY_FILE) and your permissions.';
    const problem = fileProblem(error);
    const advice = error instanceof KeyInvalid ? sentence(SIGNING_KEY_ADVICE) : check;
    // The message about the content of the file already contains the advice.
    problems.push(
      `The signing key ${file} cannot be used: ${problem.startsWith(INVALID_SIGNING_KEY) ? problem : `${problem}. ${advice}`}`,
    );
    return undefined;
  }
}
