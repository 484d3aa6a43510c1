/**
 * `npm run demo`: one managed migration of 25 companies, from the manifest to the signed handover, on the real parts.
 *
 * Every line that starts with a role is a `ferry` command, run by the same code as in a terminal. What it ends with is
 * checked, so that a demo that only looks right fails.
 */
import path from 'node:path';
import { DemoTerminal } from './demo-terminal';
import { assertOutcome } from './demo-outcome';
import { createTemporaryFolder } from '../stack/temporary-folder';
import { startWholeStack } from '../stack/whole-stack';

const EXAMPLE = path.join(__dirname, '..', '..', 'examples', 'quickbooks-online-25');
const MIGRATION = 'acme.quickbooks-online';

async function main(keep: boolean, signal: AbortSignal): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);

  say('Tokenferry demo: 25 companies of QuickBooks Online move into the Company Data Service.');
  say('Starting Postgres, Temporal, the service and a worker in a temporary folder: some seconds.');
  const dataFolder = createTemporaryFolder();
  const stack = await startWholeStack({
    dataFolder,
    ephemeral: true,
    env: process.env,
    databaseUrl: process.env['DATABASE_URL'],
    logLevel: 'warn',
    signal,
    log: say,
  });
  try {
    const desk = new DemoTerminal(dataFolder, signal);
    await migrate(desk);
    await assertOutcome(desk, MIGRATION);
    say('\nAs expected: 23 migrated, 1 must reconnect, 1 incomplete.');
    if (keep) await stay(say, stack.temporalUiUrl, dataFolder, signal);
    else say('See it in the Temporal UI with: npm run demo -- --keep');
  } finally {
    await stack.stop();
  }
}

/** The six steps, as support and client would type them. */
async function migrate(desk: DemoTerminal): Promise<void> {
  desk.title('Step 1: supply migration and platform details');
  await desk.support(
    'start',
    path.join(EXAMPLE, 'manifest.csv'),
    '--platform',
    'quickbooks-online',
    '--client',
    'acme',
  );
  const secret = desk.fileWith('application-secret.txt', 'known to the service alone');
  await desk.client(
    ...['application', MIGRATION, '--client-id', 'acme-app', '--environment', 'production', '--secret-file', secret],
  );
  await desk.support('approve', MIGRATION, 'supply-details');

  desk.title('Step 2: schedule the migration');
  await desk.support('propose-time', MIGRATION, 'now');
  await desk.support('approve', MIGRATION, 'schedule');
  await desk.client('approve', MIGRATION, 'schedule');

  desk.title('Step 3: update the application');
  await desk.client('approve', MIGRATION, 'update-application');
  await desk.support('approve', MIGRATION, 'update-application');

  desk.title('Step 4: disable data syncing, then export the credentials');
  await desk.client('confirm-sync-disabled', MIGRATION, '--all');
  const exported = await desk.exportAnew(path.join(EXAMPLE, 'credentials.csv'));
  await desk.client('credentials', MIGRATION, exported);

  desk.title('Step 5: migrate the first company');
  await desk.watch(MIGRATION);
  await desk.support('show', MIGRATION);
  await desk.support('approve', MIGRATION, 'migrate-first-company');

  desk.title('Step 6: complete the migration');
  await desk.watch(MIGRATION);
  await desk.support('companies', MIGRATION, '--state', 'failed');
  await desk.support('approve', MIGRATION, 'complete-migration');
  await desk.client('approve', MIGRATION, 'complete-migration');
  await desk.watch(MIGRATION);

  desk.title('The handover report');
  await desk.support('report', MIGRATION);
}

async function stay(
  say: (line: string) => void,
  uiUrl: string | undefined,
  home: string,
  signal: AbortSignal,
): Promise<void> {
  say(`\nTemporal UI: ${uiUrl ?? 'as configured'}/namespaces/default/workflows/${MIGRATION}`);
  say(`Commands find this stack with: TOKENFERRY_HOME=${home}`);
  say('Ctrl-C stops everything and removes it.');
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interruption.abort());

main(process.argv.includes('--keep'), interruption.signal).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : 'failed';
  process.stderr.write(interruption.signal.aborted ? 'demo: stopped, and everything removed\n' : `demo: ${why}\n`);
  process.exitCode = 1;
});
