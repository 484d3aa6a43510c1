import { setUpNamespace, SetupFailed, type NamespaceSetup } from '../../../client';
import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import { openDatabase } from '../../../store';
import type { Context } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { integerOption } from '../../shared/options';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';

/** Long enough to look at ended migrations in the Temporal UI. Audit trails and reports come from the ledger. */
const RETENTION_DAYS = 30;
const MS_PER_DAY = 86_400_000;

interface SetupOptions {
  readonly retentionDays: number;
}

/** `ferry setup`: creates what the workers need in Temporal and in the ledger. */
export function addSetup({ program, run, terminal }: Context): void {
  program
    .command('setup')
    .description('Create what workers need in Temporal and in the database; can be run again at any time')
    .addOption(
      integerOption('--retention-days <days>', 'how long a new namespace keeps ended migrations', 1).default(
        RETENTION_DAYS,
      ),
    )
    .action((options: SetupOptions) => run(() => runSetup(terminal.env, options)));
}

async function runSetup(env: NodeJS.ProcessEnv, { retentionDays }: SetupOptions): Promise<CommandResult> {
  const config = loadConfig(['temporal'], env, ['databaseUrl']);
  const setup = await setUpNamespace(config, retentionDays * MS_PER_DAY).catch((error: unknown) => {
    throw error instanceof SetupFailed ? new CommandFailed(error.message, error.advice, { cause: error }) : error;
  });
  const { databaseUrl } = config;
  if (databaseUrl !== undefined) await (await openDatabase({ url: databaseUrl.reveal(), connections: 1 })).destroy();
  const ledger = databaseUrl === undefined ? 'not-configured' : 'ready';
  return {
    json: { schema: 'ferry.setup/1', ...setup, ledger },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      for (const [about, what] of rows(setup)) printRow(output, '✓', about, what);
      if (ledger === 'ready') printRow(output, '✓', 'ledger', 'its schema is up to date');
      else printRow(output, '-', 'ledger', 'not configured (DATABASE_URL); the first worker creates its schema');
      output.line();
      output.line('Now start the workers, and check everything with: ferry doctor');
    },
  };
}

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
