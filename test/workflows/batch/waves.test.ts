/** Waves are confirmed, exported and moved one at a time, so that the data of each wave is out of date only briefly. */
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

test('the tokens of the second wave stay in use while the first wave is moved, and the second wave is moved after its own confirmation', async () => {
  const tokens = [1, 2, 3, 4, 5].map((number) => `sbx-ok-1.waves${number}`);
  const migration = await startTestMigration(orchestrator, 'waves', tokens, null, { waves: [2, 1, 1, 2] });
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...CLIENT });
  await migration.send('approve', { step: 'update-application', ...CLIENT });
  await migration.send('approve', { step: 'update-application', ...SUPPORT });

  await migration.send('confirmSyncDisabled', { companies: ['R-2'], ...CLIENT });
  const partlyConfirmed = await migration.until(
    ({ step, counts }) => step === 'disable-syncing' && counts.unconfirmed === 4,
  );
  expect(partlyConfirmed.waitingFor).toEqual({
    roles: ['client'],
    what: 'confirm that syncing is off for 1 company of the first wave',
  });
  await migration.send('confirmSyncDisabled', { companies: ['R-3'], ...CLIENT });
  await migration.until(({ step }) => step === 'migrate-first-company');
  for (const reference of ['R-2', 'R-3']) await migration.supply(reference, `sbx-ok-1.waves${reference.slice(2)}`);
  await migration.send('credentialsSupplied', { companies: 2, ...CLIENT });
  const first = await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(first.firstCompany?.reference).toBe('R-2');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });

  const betweenWaves = await migration.until(
    ({ counts, waitingFor }) => counts.moved === 2 && waitingFor.roles.length > 0,
  );
  expect(betweenWaves.waitingFor.roles).toEqual(['client']);
  expect(betweenWaves.waitingFor.what).toContain('turn off syncing for 2 companies of the next wave');
  expect(await migration.send('approve', { step: 'complete-migration', ...SUPPORT })).toContain(
    '3 companies have no final outcome yet',
  );

  await migration.send('confirmSyncDisabled', { companies: ['R-1', 'R-4', 'R-5'], ...CLIENT });
  await migration.until(({ counts }) => counts.unconfirmed === 0);
  for (const reference of ['R-1', 'R-4', 'R-5'])
    await migration.supply(reference, `sbx-ok-1.waves${reference.slice(2)}`);
  await migration.send('credentialsSupplied', { companies: 3, ...CLIENT });
  await migration.until(({ counts, waitingFor }) => counts.moved === 5 && waitingFor.roles.length === 2);
});
