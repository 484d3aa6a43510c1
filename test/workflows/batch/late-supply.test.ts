/**
 * A company with a long sync does not delay other companies, and a decision that arrives during a count is not missed.
 */
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

// Syncs are slow, so that the sync of an organization with many invoices outlasts the test.
const orchestrator = useOrchestratorWithWorker({ syncMsPerRecord: 50 });

/** A credential whose organization has so many invoices that its sync takes longer than the test. */
const LONG_SYNC = 'sbx-ok-3000';

test('a company that gets a new credential while another company is syncing is moved at once', async () => {
  const tokens = ['sbx-ok-1.mw1', `${LONG_SYNC}.mw2`, 'sbx-revoked.mw3', 'sbx-ok-1.mw4'];
  const migration = await startTestMigration(orchestrator, 'meanwhile', tokens, null, { waves: [1, 1, 1, 2] });
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.failed === 1 && counts.syncing === 1);
  expect(await migration.replace('R-3', 'sbx-ok-1.mw3-new')).toBe('applied');
  const { counts } = await migration.until(({ counts: now }) => now.moved === 3);
  expect(counts).toMatchObject({ syncing: 1, failed: 0 });
});

test.each([
  ['default ramp', DEFAULT_LIMITS.rampCompanies],
  ['small ramp', 3],
])('the other companies of a batch are moved while a straggler of its %s is still syncing', async (_, ramp) => {
  const tokens = [...Array.from({ length: ramp + 4 }, (_, index) => `sbx-ok-1.ramp-${ramp}-${index}`)];
  tokens[3] = `${LONG_SYNC}.ramp-${ramp}-slow`;
  const migration = await startTestMigration(orchestrator, `ramp-${ramp}`, tokens);
  expect(await migration.send('adjust', { limits: { rampCompanies: ramp }, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const { counts } = await migration.until(({ counts: now }) => now.moved === tokens.length - 1);
  expect(counts.syncing).toBe(1);
});

/** Starts a migration whose first company has been approved. `limits` are set before the first move. */
async function startBatch(client: string, tokens: readonly string[], limits: object) {
  const migration = await startTestMigration(orchestrator, client, tokens);
  expect(await migration.send('adjust', { limits, ...SUPPORT })).toBe('applied');
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  return migration;
}

test('the other companies of a batch are moved while the platform defers two companies of its ramp', async () => {
  const tokens = Array.from({ length: 16 }, (_, index) => `sbx-ok-1.put-off-${index}`);
  tokens[3] = 'sbx-inaccessible';
  tokens[6] = 'sbx-unavailable';
  const migration = await startBatch('put-off', tokens, { rampCompanies: 10 });
  const { counts } = await migration.until(({ counts: now }) => now.moved === tokens.length - 2);
  expect(counts).toMatchObject({ failed: 0, waiting: 2 - counts.importing });
  expect((await migration.until(({ outage }) => outage === null)).state).toBe('running');
});

test('a ramp of 0 ends a ramp in progress at once', async () => {
  const tokens = Array.from({ length: 8 }, (_, index) => `sbx-ok-1.at-once-${index}`);
  tokens[1] = `${LONG_SYNC}.at-once-slow-1`;
  tokens[2] = `${LONG_SYNC}.at-once-slow-2`;
  const migration = await startBatch('at-once', tokens, { rampCompanies: 3 });
  await migration.until(({ counts }) => counts.syncing === 2 && counts.moved === 2);
  expect(await migration.send('adjust', { limits: { rampCompanies: 0 }, ...SUPPORT })).toBe('applied');
  const { counts } = await migration.until(({ counts: now }) => now.moved === tokens.length - 2);
  expect(counts.syncing).toBe(2);
});

test('a decision that arrives while the companies are being counted is not missed', async () => {
  // The test uses six migrations, because the decision must arrive during the count at the end of a batch in at least
  // one of them.
  const clients = Array.from({ length: 6 }, (_, index) => `counted-${index}`);
  await Promise.all(
    clients.map(async (client) => {
      const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`, `sbx-revoked.${client}`]);
      await migration.readyToMove();
      await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
      await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
      await migration.until(({ counts, waitingFor }) => counts.failed === 1 && waitingFor.roles.length === 2);
      expect(await migration.replace('R-2', `sbx-ok-1.${client}-new`)).toBe('applied');
      await migration.until(({ counts }) => counts.moved === 2);
    }),
  );
});
