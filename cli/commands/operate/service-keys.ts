import { Option, type Command } from 'commander';
import { loadConfig } from '../../../config';
import { serviceDatabaseUrl } from '../../../stack/service/standalone';
import {
  AccountUnclear,
  createKeyFor,
  listKeys,
  retireKey,
  rotateKey,
  type ApiKey,
  type CreatedKey,
  type KeyRequest,
} from '../../../stack/service/keys';
import { CommandFailed } from '../../shared/command-failed';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';

/** `ferry service keys`: each is shown once, when it is made. */
export function addServiceKeys({ run, terminal }: Context, service: Command): void {
  const withDatabase = (work: (databaseUrl: string) => Promise<CommandResult>): Promise<void> =>
    run(() => withServiceDatabase(terminal.env, work));
  const keys = service.command('keys').description('Manage the accounts and API keys of the service that runs here');
  keys
    .command('create')
    .description('Create a key; it is shown once')
    .requiredOption('--account <name>', 'the account, by name or id; a new name makes a new account')
    .addOption(new Option('--plan <plan>', 'of a new account').choices(['paid', 'free', 'trial']))
    .addOption(
      new Option('--role <role>', 'what the key may do').choices(['client', 'administrator']).default('client'),
    )
    .action((request: KeyRequest) => withDatabase(async (url) => created(await createKeyFor(url, request))));
  keys
    .command('list')
    .description('List the keys; what they are, nobody knows')
    .action(() => withDatabase(async (url) => listed(await listKeys(url))));
  keys
    .command('revoke <id>')
    .description('Make a key outdated: from now on it is answered 403')
    .action((id: string) =>
      withDatabase(async (url) => {
        if (!(await retireKey(url, id))) throw noKey(id);
        const print = (output: Output): void => output.line(`The key ${id} is outdated.`);
        return { json: { schema: 'ferry.service-key-revoked/1', id }, print, printQuietly: PRINT_NOTHING };
      }),
    );
  keys
    .command('rotate <id>')
    .description('Create a key of the same account and role, and make the old one outdated')
    .action((id: string) =>
      withDatabase(async (url) => {
        const key = await rotateKey(url, id);
        if (!key) throw noKey(id);
        return created(key);
      }),
    );
}

async function withServiceDatabase(
  env: NodeJS.ProcessEnv,
  work: (databaseUrl: string) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { home } = loadConfig([], env);
  const databaseUrl = serviceDatabaseUrl(home, env['DATABASE_URL'] || undefined);
  if (databaseUrl === undefined) {
    throw new CommandFailed('no service runs here', 'start it with: ferry service start; or set DATABASE_URL');
  }
  try {
    return await work(databaseUrl);
  } catch (error) {
    if (error instanceof CommandFailed || !(error instanceof Error)) throw error;
    const advice =
      error instanceof AccountUnclear ? 'see them with: ferry service keys list' : 'look whether its Postgres runs';
    throw new CommandFailed(error.message, advice, { cause: error });
  }
}

function created({ id, key }: CreatedKey): CommandResult {
  return {
    json: { schema: 'ferry.service-key/1', id, key },
    printQuietly: (output) => output.line(key),
    print: (output) => {
      output.line(`${output.styled('green', '✓')} Key ${id}. It is shown this once:`);
      output.line(key);
    },
  };
}

function listed(keys: readonly ApiKey[]): CommandResult {
  return {
    json: { schema: 'ferry.service-keys/1', keys },
    print: (output) =>
      output.table(
        [
          { title: 'Id' },
          { title: 'Account' },
          { title: 'Plan' },
          { title: 'Role' },
          { title: 'State' },
          { title: 'Created' },
        ],
        keys.map(({ id, account, plan, role, state, createdAt }) => [
          id,
          account,
          plan,
          role,
          state,
          localTime(createdAt),
        ]),
      ),
  };
}

function noKey(id: string): CommandFailed {
  return new CommandFailed(`there is no key ${id}`, 'see them with: ferry service keys list');
}
