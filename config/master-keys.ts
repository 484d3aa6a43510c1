import { readFileSync } from 'node:fs';
import { MasterKeyInvalid, parseMasterKeys, Secret, type MasterKeys } from '../security';
import type { Environment } from './environment';
import type { RunningStack } from './running-stack';

/** Reads the keys under which every other key is kept: from a variable, a file, or the running stack's file. */
export function readMasterKeys(
  environment: Environment,
  stack: RunningStack | undefined,
  problems: string[],
): MasterKeys | undefined {
  const { TOKENFERRY_MASTER_KEY: text, TOKENFERRY_MASTER_KEY_FILE: file } = environment;
  if (text !== undefined && file !== undefined) {
    problems.push('TOKENFERRY_MASTER_KEY and TOKENFERRY_MASTER_KEY_FILE are both set: set one of them.');
    return undefined;
  }
  if (text !== undefined) return parsed('TOKENFERRY_MASTER_KEY', text, problems);
  if (file !== undefined) return fromFile('TOKENFERRY_MASTER_KEY_FILE', file, problems);
  return stack && fromFile("The running stack's master key", stack.masterKeyFile, problems);
}

function fromFile(name: string, file: string, problems: string[]): MasterKeys | undefined {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    problems.push(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    return undefined;
  }
  return parsed(`${name} (${file})`, text, problems);
}

function parsed(name: string, text: string, problems: string[]): MasterKeys | undefined {
  try {
    return parseMasterKeys(new Secret(text));
  } catch (error) {
    if (!(error instanceof MasterKeyInvalid)) throw error;
    problems.push(`${name}: ${error.message}`);
    return undefined;
  }
}
