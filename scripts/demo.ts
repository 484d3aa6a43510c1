/**
 * `npm run demo`: one managed migration of 25 companies, from the manifest to the signed handover, with real servers.
 *
 * Every line that starts with `support`, `client` or `both` is a `ferry` command, run by the same code as in a
 * terminal. The demo ends with a summary, writes the report as an HTML page, and fails if the outcome is wrong.
 */
import path from 'node:path';
import { DemoTerminal } from './demo-terminal';
import { readOutcome } from './demo-outcome';
import { createTemporaryFolder } from '../stack/folders';
import { duration } from '../domain/text/sentences';
import { startStack } from '../stack/stack';

/** Relative, so that the printed commands are short. */
const EXAMPLE = path.relative('', path.join(__dirname, '..', '..', 'examples', 'quickbooks-online-25'));
/** In the working folder, so that the report remains when everything else has been removed. */
const REPORT = 'demo-handover.html';
const MIGRATION = 'acme.quickbooks-online';

async function main(keep: boolean, signal: AbortSignal): Promise<void> {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);

  say('Tokenferry demo: 25 QuickBooks Online companies move into the Company Data Service.');
  say('Starting Postgres, Temporal, the service and a worker in a temporary folder (a few seconds).');
  const dataFolder = createTemporaryFolder();
  const stack = await startStack({
    dataFolder,
    ephemeral: true,
    env: process.env,
    databaseUrl: process.env['DATABASE_URL'] || undefined,
    logLevel: 'warn',
    workers: 1,
    signal,
    log: say,
    warn: say,
  });
  try {
    const terminal = new DemoTerminal(dataFolder, signal);
    const startedAt = Date.now();
    await Promise.race([migrate(terminal), stack.failed.then(fail)]);
    const took = duration(Date.now() - startedAt);
    terminal.title(`Summary: six steps in ${took}, with the outcome that this example should have`);
    for (const line of await readOutcome(terminal, MIGRATION)) say(`  ${line}`);
    say(`  Handover report, for a browser: ${path.resolve(REPORT)}`);
    if (keep) await waitForInterruption(say, stack.temporalUiUrl, dataFolder, signal);
    else say('  To look at the migration in the Temporal UI, run: npm run demo -- --keep');
  } finally {
    await stack.stop();
  }
}

function fail(reason: string): never {
  throw new Error(reason);
}

/** Runs the commands of the six steps. */
async function migrate(terminal: DemoTerminal): Promise<void> {
  terminal.title('Step 1: supply details');
  const manifest = path.join(EXAMPLE, 'manifest.csv');
  // With the default ramp of 20 companies, the last four would wait until the ramp has been verified.
  await terminal.support('start', manifest, '-p', 'quickbooks-online', '--client', 'acme', '--ramp', '0');
  const secret = terminal.writeFile('application-secret.txt', 'the secret of the application');
  await terminal.client(
    ...['application', MIGRATION, '--client-id', 'acme-app', '--environment', 'production', '--secret-file', secret],
  );
  await terminal.support('approve', MIGRATION, 'supply-details');

  terminal.title('Step 2: schedule the migration');
  await terminal.support('propose-time', MIGRATION, 'now');
  await terminal.support('approve', MIGRATION, 'schedule');
  await terminal.client('approve', MIGRATION, 'schedule');

  terminal.title('Step 3: update the application');
  await terminal.client('approve', MIGRATION, 'update-application');
  await terminal.support('approve', MIGRATION, 'update-application');

  terminal.title('Step 4: disable data syncing, then export the credentials');
  await terminal.client('confirm-sync-disabled', MIGRATION, '--all');
  const exported = await terminal.exportCredentials(path.join(EXAMPLE, 'credentials.csv'));
  await terminal.client('credentials', MIGRATION, exported);

  terminal.title('Step 5: migrate the first company');
  await terminal.watch(MIGRATION);
  await terminal.support('show', MIGRATION);
  await terminal.support('approve', MIGRATION, 'migrate-first-company');

  terminal.title('Step 6: complete the migration');
  await terminal.watch(MIGRATION);
  await terminal.support('companies', MIGRATION, '--state', 'must-reconnect');
  await terminal.support('companies', MIGRATION, '--state', 'not-moved');
  await terminal.support('approve', MIGRATION, 'complete-migration');
  await terminal.client('approve', MIGRATION, 'complete-migration');
  await terminal.watch(MIGRATION);

  await terminal.save(REPORT, 'report', MIGRATION, '--format', 'html');
}

async function waitForInterruption(
  say: (line: string) => void,
  uiUrl: string,
  home: string,
  signal: AbortSignal,
): Promise<void> {
  say(`\nTemporal UI: ${uiUrl}/namespaces/default/workflows/${MIGRATION}`);
  say(`To use ferry with this stack, set: TOKENFERRY_HOME=${home}`);
  say('Press Ctrl-C to stop and remove everything.');
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interruption.abort());

main(process.argv.includes('--keep'), interruption.signal).catch((error: unknown) => {
  const why = error instanceof Error ? error.message : 'failed';
  process.stderr.write(interruption.signal.aborted ? 'demo: stopped and removed everything\n' : `demo: ${why}\n`);
  process.exitCode = 1;
});
