import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { Option } from 'commander';
import { loadConfig, signingKeyFile } from '../../../config';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { CommandFailed } from '../../shared/command-failed';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';

interface CreateOptions {
  readonly by: string;
  readonly file?: string;
}

/** `ferry keys`: the key of the person at the keyboard, which signs their decisions. */
export function addKeys({ program, run, terminal }: Context): void {
  const keys = program.command('keys').description('Your own key, which signs what you decide');
  keys
    .command('create')
    .description('Make a signing key; what it prints is public, and goes to whoever starts the migration')
    .addOption(
      new Option('--by <name>', 'your name, as your decisions say it').default(
        userInfo().username,
        'the user of this machine',
      ),
    )
    .option(
      '--file <file>',
      'where it goes, and TOKENFERRY_SIGNING_KEY_FILE has to point to (default: your home folder)',
    )
    .action((options: CreateOptions) => run(async () => created(terminal.env, options)));
  keys
    .command('show')
    .description('Print the public half of your signing key')
    .action(() => run(async () => shown(terminal.env)));
}

function created(env: NodeJS.ProcessEnv, { by, ...options }: CreateOptions): CommandResult {
  const file = signingKeyFile(loadConfig([], env).home, options.file);
  if (existsSync(file)) {
    throw new CommandFailed(`${file} is there already`, 'whatever was signed with it needs it; name another --file');
  }
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${createSigningKey(by)}\n`, { mode: 0o600, flag: 'wx' });
  return keyResult(file);
}

function shown(env: NodeJS.ProcessEnv): CommandResult {
  const file = signingKeyFile(loadConfig([], env).home, env['TOKENFERRY_SIGNING_KEY_FILE']);
  if (!existsSync(file))
    throw new CommandFailed(`there is no signing key at ${file}`, 'make one with: ferry keys create');
  return keyResult(file);
}

function keyResult(file: string): CommandResult {
  const { by, publicKey } = parseSigningKey(new Secret(readFileSync(file, 'utf8')));
  return {
    json: { schema: 'ferry.signing-key/1', by, publicKey, file },
    printQuietly: (output) => output.line(publicKey),
    print: (output) => {
      output.line(`The signing key of ${by} lies in ${file}; it goes to nobody.`);
      output.line('Whoever starts the migration names its public half, with your role:');
      output.line(`  ferry start ... --approver "support:${by}:${publicKey}"`);
    },
  };
}
