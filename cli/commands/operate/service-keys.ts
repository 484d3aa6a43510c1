import type { Command } from 'commander';
import { loadConfig } from '../../../config';
import { serviceDatabaseUrl } from '../../../stack/service/standalone';
import {
  AccountMismatch,
  createKeyFor,
  listKeys,
  NewerSchema,
  revokeKey,
  rotateKey,
  type ApiKey,
  type CreatedKey,
  type KeyRequest,
} from '../../../stack/service/keys';
import { CommandFailed } from '../../shared/errors';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import { choiceOption } from '../../options/options';
import { USE_VERSION_OF_SCHEMA } from '../../suggestions/stack-advice';

/** `ferry service keys`: manages API keys. A key is shown only once, when it is created. */
export function addServiceKeys({ run, terminal }: Context, service: Command): void {
  const withDatabase = (work: (databaseUrl: string) => Promise<CommandResult>): Promise<void> =>
    run(() => withServiceDatabase(terminal.env, work));
  const keys = service.command('keys').description('Manage the accounts and API keys of the service');
  keys
    .command('create')
    .description('Create a key. It is shown only once')
    .requiredOption('--account <name>', 'name or id of the account; a new name creates a new account')
    .addOption(choiceOption('--plan <plan>', 'plan of a new account (default: paid)', ['paid', 'free', 'trial']))
    .addOption(
      choiceOption(
        '--role <role>',
        'role of the key; managed migrations need an administrator key, self-service migrations do not',
        ['client', 'administrator'],
      ).default('client'),
    )
    .action((request: KeyRequest) => withDatabase(async (url) => createdResult(await createKeyFor(url, request))));
  keys
    .command('list')
    .description('List the keys, without their secrets')
    .action(() => withDatabase(async (url) => listResult(await listKeys(url))));
  keys
    .command('revoke <id>')
    .description('Revoke a key; the service then refuses requests with this key (403)')
    .action((id: string) =>
      withDatabase(async (url) => {
        if (!(await revokeKey(url, id))) throw noSuchKey(id);
        const print = (output: Output): void => output.line(`Key ${id} is revoked.`);
        return { json: { schema: 'ferry.service-key-revoked/1', id }, print, printQuietly: PRINT_NOTHING };
      }),
    );
  keys
    .command('rotate <id>')
    .description('Create a key for the same account and role, and revoke the old key')
    .action((id: string) =>
      withDatabase(async (url) => {
        const key = await rotateKey(url, id);
        if (!key) throw noSuchKey(id);
        return createdResult(key, id);
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
    throw new CommandFailed(
      'cannot find the database of a Company Data Service on this machine',
      "if the service belongs to a stack, start it with ferry up; if not, with ferry service start, but without --temporary; if its database is elsewhere, set DATABASE_URL to the database's address",
    );
  }
  try {
    return await work(databaseUrl);
  } catch (error) {
    if (error instanceof CommandFailed || !(error instanceof Error)) throw error;
    throw new CommandFailed(error.message, adviceFor(error), { cause: error });
  }
}

function adviceFor(error: Error): string {
  if (error instanceof NewerSchema) return USE_VERSION_OF_SCHEMA;
  return error instanceof AccountMismatch
    ? error.advice
    : "check whether the Postgres of the service is running and, if DATABASE_URL is set, whether it is the address of the service's database";
}

/** @param revoked the id of the key that the new key replaces */
function createdResult({ id, key }: CreatedKey, revoked?: string): CommandResult {
  return {
    json: { schema: 'ferry.service-key/1', id, key },
    printQuietly: (output) => output.line(key),
    print: (output) => {
      const done = revoked === undefined ? `Created key ${id}` : `Revoked key ${revoked}, and created key ${id}`;
      output.line(`${output.styled('green', '✓')} ${done}. The new key is shown only once:`);
      output.line(key);
    },
  };
}

function listResult(keys: readonly ApiKey[]): CommandResult {
  return {
    json: { schema: 'ferry.service-keys/1', keys },
    print: (output) =>
      output.table(
        ['Id', 'Account', 'Plan', 'Role', 'State', 'Created'],
        keys.map(({ id, account, plan, role, state, createdAt }) => [
          id,
          account,
          plan,
          role,
          // `outdated` is the service's word for a revoked key.
          state === 'outdated' ? 'revoked' : state,
          localTime(createdAt),
        ]),
      ),
  };
}

function noSuchKey(id: string): CommandFailed {
  return new CommandFailed(`there is no key ${id}`, 'list the keys with: ferry service keys list');
}
