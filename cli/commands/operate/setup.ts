import { setUpNamespace, SetupFailed, type NamespaceSetup } from '../../../client';
import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import type { Secret } from '../../../security';
import {
  checkPortalConnection,
  DatabaseUnavailable,
  grantPortalRole,
  openDatabase,
  PortalRoleRefused,
} from '../../../store';
import type { Context } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { integerOption } from '../../options/options';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';

/**
 * The default retention of a new namespace, long enough to look at ended migrations in the Temporal UI. Audit trails
 * and reports come from the ledger.
 */
const RETENTION_DAYS = 30;
const MS_PER_DAY = 86_400_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface SetupOptions {
  readonly retentionDays: number;
}

/** `ferry setup`: prepares Temporal and the ledger for the workers. */
export function addSetup({ program, run, terminal }: Context): void {
  program
    .command('setup')
    .description('Create what workers need in Temporal and in the database. You can run this command again at any time')
    .addOption(
      integerOption(
        '--retention-days <days>',
        'number of days for which a new namespace keeps ended migrations',
        1,
      ).default(RETENTION_DAYS),
    )
    .action((options: SetupOptions) => run(() => runSetup(terminal.env, options)));
}

async function runSetup(env: NodeJS.ProcessEnv, { retentionDays }: SetupOptions): Promise<CommandResult> {
  const config = loadConfig(['temporal'], env, ['databaseUrl', 'portalDatabaseUrl']);
  const setup = await setUpNamespace(config, retentionDays * MS_PER_DAY).catch((error: unknown) => {
    throw error instanceof SetupFailed ? new CommandFailed(error.message, error.advice, { cause: error }) : error;
  });
  const { databaseUrl, portalDatabaseUrl } = config;
  const ledger = databaseUrl === undefined ? 'not-configured' : 'ready';
  const { ledgerCreated, role } =
    databaseUrl === undefined
      ? { ledgerCreated: false, role: null }
      : await setUpDatabase(databaseUrl, portalDatabaseUrl);
  return {
    json: { schema: 'ferry.setup/1', ...setup, ledger, ledgerCreated, portalRole: role?.name ?? null },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      for (const [about, what] of rows(setup)) printRow(output, '✓', about, what);
      if (ledger === 'ready')
        printRow(output, '✓', 'ledger', ledgerCreated ? 'was created' : 'its schema is up to date');
      else printRow(output, '-', 'ledger', 'not configured (DATABASE_URL); the first worker creates the ledger');
      if (role !== null)
        printRow(output, '✓', 'portal', `database role ${role.name} ${role.isNew ? 'was created' : 'exists'}`);
      else printRow(output, '-', 'portal', 'not configured (needs DATABASE_URL and PORTAL_DATABASE_URL)');
      output.line();
      output.line('If the workers are not running, start them. Then check everything with: ferry doctor');
    },
  };
}

/** Creates the ledger or updates its schema, and creates the portal's role if one is configured. */
async function setUpDatabase(databaseUrl: Secret, portalDatabaseUrl: Secret | undefined) {
  let ledgerCreated = false;
  const onLedgerCreated = (): void => void (ledgerCreated = true);
  const db = await openDatabase({ url: databaseUrl.reveal(), connections: 1, createLedger: true, onLedgerCreated });
  try {
    if (portalDatabaseUrl === undefined) return { ledgerCreated, role: null };
    const role = await grantPortalRole(db, portalDatabaseUrl);
    await checkPortalConnection(portalDatabaseUrl, CONNECT_TIMEOUT_MS);
    return { ledgerCreated, role };
  } catch (error) {
    if (error instanceof PortalRoleRefused) throw new CommandFailed(error.message, error.advice, { cause: error });
    if (error instanceof DatabaseUnavailable)
      throw new CommandFailed(`the portal cannot connect: ${error.message}`, PORTAL_ADVICE, { cause: error });
    throw error;
  } finally {
    await db.destroy();
  }
}

const PORTAL_ADVICE =
  'check PORTAL_DATABASE_URL: its host and database must be the same as in DATABASE_URL. If its user existed before ferry setup ran, the URL must contain the existing password of this user, because ferry setup does not change it';

function rows(setup: NamespaceSetup): readonly (readonly [string, string])[] {
  const { namespace, namespaceCreated, retentionMs, searchAttributesCreated, sweepCreated } = setup;
  const days = retentionMs === null ? null : Math.round(retentionMs / MS_PER_DAY);
  const keeps = days === null ? '' : `; it keeps ended migrations for ${counted(days, 'day')}`;
  const created = searchAttributesCreated.length;
  return [
    ['namespace', `${namespace} ${namespaceCreated ? 'was created' : 'exists'}${keeps}`],
    ['search attributes', created === 0 ? 'exist' : `${counted(created, 'attribute')} created`],
    ['sweep', `the Schedule that closes terminated migrations ${sweepCreated ? 'was created' : 'exists'}`],
  ];
}

const WIDEST_LABEL = 'search attributes'.length;

function printRow(output: Output, mark: '✓' | '-', about: string, what: string): void {
  output.line(`${mark === '✓' ? output.styled('green', mark) : mark} ${about.padEnd(WIDEST_LABEL)}  ${what}`);
}
