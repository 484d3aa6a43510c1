import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { Option } from 'commander';
import { loadConfig, signingKeyFile } from '../../../config';
import {
  createSigningKey,
  INVALID_SIGNING_KEY,
  KeyInvalid,
  parseSigningKey,
  SIGNING_KEY_ADVICE,
  Secret,
  type SigningKey,
} from '../../../security';
import { ROLES } from '../../../domain/migration/steps';
import { CommandFailed } from '../../shared/errors';
import { parseName } from '../../options/person-name';
import { shellQuoted } from '../../../domain/text/shell-quoted';
import type { CommandResult } from '../../terminal/output';
import type { Context } from '../../shared/context';

interface CreateOptions {
  readonly by: string;
  readonly file?: string;
}

/** `ferry keys`: creates and shows the signing key of the current user. */
export function addKeys({ program, run, terminal }: Context): void {
  const keys = program.command('keys').description('Manage your signing key, which signs your decisions');
  keys
    .command('create')
    .description('Create a signing key, and print its public key for the person who starts the migration')
    .addOption(
      new Option('--by <name>', 'your name, as it will appear in your decisions')
        .default(userInfo().username, 'your user name')
        .argParser(parseName),
    )
    .option(
      '--file <file>',
      'file to store the key in (default: the file that TOKENFERRY_SIGNING_KEY_FILE names, or else signing.key in the folder TOKENFERRY_HOME); if you choose a file here, set TOKENFERRY_SIGNING_KEY_FILE to it, so that other commands find the key',
    )
    .action((options: CreateOptions) => run(async () => createKey(terminal.env, options)));
  keys
    .command('show')
    .description('Print your public key')
    .action(() => run(async () => showKey(terminal.env)));
}

function createKey(env: NodeJS.ProcessEnv, { by, ...options }: CreateOptions): CommandResult {
  const file = signingKeyFile(loadConfig([], env).home, options.file ?? env['TOKENFERRY_SIGNING_KEY_FILE']);
  if (existsSync(file)) {
    throw new CommandFailed(
      `${file} already exists`,
      'keep this file: if it contains your signing key, running migrations might accept your decisions only if this key has signed them. To create another key, choose another --file',
    );
  }
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${createSigningKey(by)}\n`, { mode: 0o600, flag: 'wx' });
  return keyResult(file);
}

function showKey(env: NodeJS.ProcessEnv): CommandResult {
  const file = signingKeyFile(loadConfig([], env).home, env['TOKENFERRY_SIGNING_KEY_FILE']);
  if (!existsSync(file))
    throw new CommandFailed(
      `there is no signing key at ${file}`,
      'if your key is in another file, set TOKENFERRY_SIGNING_KEY_FILE to this file; otherwise, create a key with: ferry keys create',
    );
  return keyResult(file);
}

/** @throws CommandFailed that names the file, if it contains no valid key */
function readKey(file: string): SigningKey {
  try {
    return parseSigningKey(new Secret(readFileSync(file, 'utf8')));
  } catch (error) {
    if (!(error instanceof KeyInvalid)) throw error;
    const message = `the signing key ${file} cannot be used: ${INVALID_SIGNING_KEY}`;
    throw new CommandFailed(message, SIGNING_KEY_ADVICE, { cause: error });
  }
}

function keyResult(file: string): CommandResult {
  const { by, publicKey } = readKey(file);
  return {
    json: { schema: 'ferry.signing-key/1', by, publicKey, file },
    printQuietly: (output) => output.line(publicKey),
    print: (output) => {
      output.line(`The signing key of ${by} is stored in ${file}. Do not share this file.`);
      output.line(
        'Send the option for your role to the person who starts the migration. This person adds the option to ferry start:',
      );
      const approvers = ROLES.map((role) => ({ role, approver: shellQuoted(`${role}:${by}:${publicKey}`) }));
      for (const { role, approver } of approvers) output.line(`  ${role}: --approver ${approver}`);
      output.line('If the migration is already running, support adds your key with the command for your role:');
      for (const { role, approver } of approvers)
        output.line(`  ${role}: ferry approver add "id of the migration" ${approver}`);
      output.line('The command for support works only if the migration was started with --approver.');
    },
  };
}
