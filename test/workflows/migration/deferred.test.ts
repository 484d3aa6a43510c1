/** A migration whose last company is deferred again and again. */
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();

test('while only a deferred company is left, the migration asks for decisions about companies that were not moved', async () => {
  const migration = await startTestMigration(orchestrator, 'deferred', [
    'sbx-ok-1.deferred',
    'sbx-revoked.deferred',
    'sbx-inaccessible.deferred',
  ]);
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const waiting = await migration.until(({ state }) => state === 'waiting');
  expect(waiting.waitingFor).toEqual({
    roles: ['support'],
    what: 'decide what to do about 1 company that was not moved',
  });
  expect(waiting.waitingSince).not.toBeNull();
  expect(await migration.send('skip', { companies: ['R-2'], reason: 'sold', ...SUPPORT })).toBe('applied');
  const continued = await migration.until(({ counts }) => counts.skipped === 1);
  expect(continued).toMatchObject({ state: 'running', counts: { waiting: 1 } });
  expect(await migration.send('skip', { companies: ['R-3'], reason: 'sold', ...SUPPORT })).toBe('applied');
  await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);
});
