/** Exceptions: companies are retried, reconnected, given up on or left out. */
import { checkReconnected } from '../../../client';
import { findCompany } from '../../../store';
import { until } from '../../support/async';
import { readRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

const company = async ({ id }: TestMigration, reference: string) =>
  findCompany(orchestrator.ferry.db, id, { reference });
const stateOf = async (migration: TestMigration, reference: string) => (await company(migration, reference))?.state;

const triesOf = async ({ id }: TestMigration, row: number) => (await readRow(orchestrator.ferry.db, id, row)).tries;

/** Returns a migration in step 6 whose second company was not moved, because its grant has been revoked. */
async function withOneRevoked(client: string, options: { exclude?: string } = {}): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, [
    `sbx-ok-1.${client}`,
    `sbx-revoked.${client}`,
    `sbx-ok-1.${client}3`,
  ]);
  if (options.exclude !== undefined) {
    await migration.until(({ preflight }) => preflight !== null);
    const leftOut = { companies: [options.exclude], reason: 'sold', ...CLIENT };
    expect(await migration.send('exclude', leftOut)).toBe('applied');
  }
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts, waitingFor }) => counts.failed === 1 && waitingFor.roles.length === 2);
  return migration;
}

test('a company whose end customer has reconnected is verified', async () => {
  const migration = await withOneRevoked('relink');
  const { linkUrl } = (await company(migration, 'R-2')) ?? {};
  expect(await migration.send('relink', { companies: ['R-2'], ...SUPPORT })).toBe('applied');
  // The end customer has not reconnected yet.
  await until(async () => (await company(migration, 'R-2'))?.state === 'failed');
  // The end customer opens the link and presses its button.
  expect((await fetch(linkUrl ?? '', { method: 'POST' })).ok).toBe(true);
  expect(await migration.send('relink', { companies: ['R-2'], ...SUPPORT })).toBe('applied');
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
});

test('a sign-off checks companies that must reconnect, and is refused if one of them has reconnected', async () => {
  const migration = await withOneRevoked('relink-late');
  expect(await migration.send('relink', { companies: ['R-2'], ...SUPPORT })).toBe('applied');
  const checked = await migration.until(({ reconnections }) => reconnections?.checkedAt != null);
  expect(checked.reconnections).toMatchObject({ waiting: 1 });
  // The end customer has not opened the link yet, so the check finds no reconnected company, and the sign-off is
  // applied after the check. The progress shows the time of the new check.
  expect(await migration.send('approve', { step: 'complete-migration', ...CLIENT })).toBe('applied');
  const signedOff = await migration.until(({ waitingFor }) => waitingFor.roles.length === 1);
  expect(signedOff.reconnections?.checkedAt).not.toBe(checked.reconnections?.checkedAt);
  const { linkUrl, organization } = (await company(migration, 'R-2')) ?? {};
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  expect(await migration.send('approve', { step: 'complete-migration', ...SUPPORT })).toBe(
    'refused: 1 company has no final outcome yet',
  );
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
});

test('a check of reconnections can be asked for before a sign-off is shown', async () => {
  const { ferry } = orchestrator;
  const migration = await withOneRevoked('relink-asked');
  expect(await migration.send('relink', { companies: ['R-2'], ...SUPPORT })).toBe('applied');
  const before = await migration.until(({ reconnections }) => reconnections?.checkedAt != null);
  const { linkUrl, organization } = (await company(migration, 'R-2')) ?? {};
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  const after = await checkReconnected(ferry, before);
  expect(after.reconnections?.waiting).toBe(0);
  expect(after.counts.mustReconnect).toBe(0);
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
});

test('a sign-off also checks companies that must reconnect and that nobody has decided to relink', async () => {
  const { ferry } = orchestrator;
  const migration = await withOneRevoked('relink-nobody');
  const before = await migration.until(() => true);
  expect(before.reconnections).toEqual({ waiting: 0, checkedAt: null });
  const checked = await checkReconnected(ferry, before);
  expect(checked.reconnections).toEqual({ waiting: 1, checkedAt: expect.any(String) as string });
  const { linkUrl, organization } = (await company(migration, 'R-2')) ?? {};
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  expect(await migration.send('approve', { step: 'complete-migration', ...SUPPORT })).toBe(
    'refused: 1 company has no final outcome yet',
  );
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
});

test('a check that does not end while a person waits for it is followed by a check with more time', async () => {
  const { ferry } = orchestrator;
  const migration = await withOneRevoked('relink-slow');
  const before = await migration.until(() => true);
  const rename = (from: string, to: string) =>
    ferry.db.schema.alterTable('migrations').renameColumn(from, to).execute();
  // Without this column, no check can end.
  await rename('reconnections_checked_at', 'missing');
  try {
    await checkReconnected(ferry, before).catch(() => undefined);
    await migration.until(({ reconnections }) => reconnections?.waiting === 1);
  } finally {
    await rename('missing', 'reconnections_checked_at');
  }
  await migration.until(({ reconnections }) => reconnections?.checkedAt != null);
});

test('a company whose end customer reconnects during a batch run is verified during that run', async () => {
  const tokens = ['sbx-ok-1.rl1', 'sbx-revoked.rl2', 'sbx-slow-8000-ok-1.rl3', 'sbx-inaccessible'];
  const migration = await startTestMigration(orchestrator, 'relink-in-run', tokens);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await until(async () => (await stateOf(migration, 'R-2')) === 'failed');
  const { linkUrl, organization } = (await company(migration, 'R-2')) ?? {};
  expect((await fetch(`${linkUrl}?organization=${organization}`, { method: 'POST' })).ok).toBe(true);
  expect(await migration.send('relink', { companies: ['R-2'], ...SUPPORT })).toBe('applied');
  await until(async () => (await stateOf(migration, 'R-2')) === 'moved');
  // The company that the platform defers keeps the run going.
  const run = orchestrator.ferry.temporal.workflow.getHandle(`${migration.id}.batch`);
  expect((await run.describe()).status.name).toBe('RUNNING');
});

test('a company can be retried, and support can give up on it', async () => {
  const migration = await withOneRevoked('retry');
  const failed = await company(migration, 'R-2');
  expect(failed).toMatchObject({ failure: 'reauthorization-required' });
  expect(await migration.send('retry', { companies: 'all', ...SUPPORT })).toBe('applied');
  await until(async () => (await triesOf(migration, 2)) === 2);
  await migration.until(({ counts, waitingFor }) => counts.failed === 1 && waitingFor.roles.length === 2);
  expect(await migration.send('skip', { companies: ['R-2'], reason: 'closed its books', ...SUPPORT })).toBe('applied');
  await until(async () => (await stateOf(migration, 'R-2')) === 'skipped');
  const retry = () => migration.send('retry', { companies: 'all', ...SUPPORT });
  await until(async () => (await retry()) === 'refused: no company has failed or has an unknown outcome');
});

test('a company that is left out is not moved, and needs no confirmation', async () => {
  const migration = await withOneRevoked('exclude', { exclude: 'R-3' });
  expect(await stateOf(migration, 'R-3')).toBe('excluded');
});

test('only support can resolve exceptions, and only in step 6', async () => {
  const migration = await startTestMigration(orchestrator, 'settling', ['sbx-ok-1.settling']);
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('retry', { companies: 'all', ...SUPPORT })).toMatch(
    /^refused: companies can be retried, relinked or skipped only in step 6/,
  );
  expect(await migration.send('skip', { companies: ['R-1'], reason: 'any', ...CLIENT })).toMatch(
    /only support can decide what happens to companies/,
  );
});
