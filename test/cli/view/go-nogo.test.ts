/** Tests `ferry go-nogo` with the real service, ledger and task queue. */
import type { RunningWorker } from '../../../worker';
import { startTestMigration, CLIENT, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { localTime } from '../../../cli/terminal/times';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestrator();
let worker: RunningWorker;
let migration: TestMigration;
beforeAll(async () => {
  worker = await orchestrator.startWorker();
  migration = await startTestMigration(orchestrator, 'nightly', ['sbx-ok-1.n1', 'sbx-ok-1.n2']);
});

/** Returns the exit code, and the checks that are answered with no-go. */
async function noGoChecks(env: NodeJS.ProcessEnv = {}): Promise<{ exitCode: number; check: readonly string[] }> {
  const { exitCode, out } = await ferry(['go-nogo', migration.id, '--json'], undefined, {
    ...orchestrator.env,
    ...env,
  });
  const { answers } = JSON.parse(out) as { answers: { check: string; go: boolean }[] };
  return { exitCode, check: answers.filter(({ go }) => !go).map(({ check }) => check) };
}

test('go-nogo answers no-go, with reasons, while decisions, confirmations and credentials are missing', async () => {
  await migration.until(({ preflight }) => preflight !== null);
  expect(await noGoChecks()).toEqual({
    exitCode: 1,
    check: ['decisions', 'sync-disabled', 'credentials', 'companies'],
  });
  const { exitCode, out } = await ferry(['go-nogo', migration.id], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain(`NO-GO  ${migration.id} (moves are not limited to certain hours)`);
  expect(out).toContain('✗ decisions: waiting for support: accept the supplied details (step 1, supply details)');
  expect(out).toContain('✗ sync-disabled: for 2 companies');
  expect(out).toContain(
    '✗ credentials: a credential cannot be used before its company is confirmed, and 2 companies are not confirmed yet',
  );
  expect(out).toContain('✗ companies: no company can be moved yet (2 not confirmed)');
  expect(out).toContain('✓ worker: a worker is answering');
  expect(out).toContain(
    "! application: the-clients-own (production); this application was not supplied for this migration, so check that it obtained the client's tokens",
  );
});

test('go-nogo answers no-go if the service refuses the key, cannot be reached or is not configured', async () => {
  for (const env of [
    { COMPANY_DATA_API_KEY: 'wrong' },
    { COMPANY_DATA_URL: 'http://127.0.0.1:1' },
    { COMPANY_DATA_URL: undefined, COMPANY_DATA_API_KEY: undefined, TOKENFERRY_HOME: '/nowhere' },
  ]) {
    expect((await noGoChecks(env)).check).toContain('service');
  }
});

test('go-nogo answers go once everything is supplied, and prints what will pause the migration and who to call', async () => {
  const later = new Date(Date.now() + 3_600_000).toISOString();
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: later, ...SUPPORT });
  for (const [step, who] of [
    ['schedule', SUPPORT],
    ['schedule', CLIENT],
    ['update-application', CLIENT],
    ['update-application', SUPPORT],
  ] as const) {
    await migration.send('approve', { step, ...who });
  }
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await migration.until(({ step }) => step === 'migrate-first-company');
  expect(await noGoChecks()).toEqual({ exitCode: 1, check: ['decisions', 'credentials', 'companies'] });

  await migration.supply('R-1', 'sbx-ok-1.n1');
  await migration.supply('R-2', 'sbx-ok-1.n2');
  await migration.send('credentialsSupplied', { companies: 2, ...CLIENT });
  const { exitCode, json } = await runJson(orchestrator, 'go-nogo', migration.id);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ schema: 'ferry.go-nogo/1', go: true, window: null, contact: 'the solutions team' });
  const { out } = await ferry(['go-nogo', migration.id], undefined, orchestrator.env);
  expect(out).toContain(`GO  nightly.quickbooks-online (moves can begin from ${localTime(later)})`);
  expect(out).toContain('Who to call: the solutions team');
  expect(out).toContain(
    'more than 20% of all tried companies could not be moved, from 20 tried companies on (counted so far: 0 of 0 tried companies)',
  );
});

test('go-nogo answers no-go if no worker is running, but still checks everything else', async () => {
  await worker.stop();
  const answers = await noGoChecks();
  expect(answers.exitCode).toBe(1);
  expect(answers.check).toContain('worker');
  expect(answers.check).not.toContain('service');
  await orchestrator.startWorker();
  await until(async () => (await noGoChecks()).exitCode === 0);
});

test('go-nogo fails for a migration that has ended', async () => {
  await migration.send('cancel', { reason: 'no longer wanted', ...SUPPORT });
  await until(async () => {
    const { err } = await ferry(['go-nogo', migration.id], undefined, orchestrator.env);
    return err.includes('is already cancelled') && err.includes(`see its outcome with: ferry report ${migration.id}`);
  });
});
