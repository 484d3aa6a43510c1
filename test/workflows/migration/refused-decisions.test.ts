/** Decisions that are refused cause no calls to the service. */
import { startHttpProxy, type HttpProxy } from '../../support/faults/http-proxy';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestrator();
let between: HttpProxy;
beforeAll(async () => {
  between = await startHttpProxy(orchestrator.service.url);
  const { service } = orchestrator.config;
  await orchestrator.startWorker({ service: { ...service, url: between.url } });
});
afterAll(() => between.close());

const LONG_AGO = '2026-01-01T00:00:00Z';

test('refused decisions cause no call to the service, even if only one approval is missing', async () => {
  const migration = await startTestMigration(orchestrator, 'denied', ['sbx-ok-1.denied']);
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  await migration.send('approve', { step: 'update-application', ...CLIENT });
  await migration.send('approve', { step: 'update-application', ...SUPPORT });
  await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  await migration.until(({ counts }) => counts.unconfirmed === 0);
  await migration.supply('R-1', 'sbx-ok-1.denied');
  await migration.send('credentialsSupplied', { companies: 1, ...CLIENT });
  await migration.until(({ counts }) => counts.waiting - counts.withoutCredential - counts.unconfirmed === 1);

  // Only the client's approval of the start is missing. With it, the first company would be moved.
  between.reset();
  const approval = { step: 'schedule', ...CLIENT };
  for (const [message, sent] of [
    ['approve', { ...approval, digest: 'of something else' }],
    ['approve', { ...approval, validUntil: LONG_AGO }],
    ['approve', { ...approval, role: 'support' as const }],
    ['approve', { step: 'migrate-first-company', ...SUPPORT }],
    ['retry', { companies: 'all', ...SUPPORT }],
    ['relink', { companies: 'all', ...SUPPORT }],
    ['resume', SUPPORT],
    ['approve', { step: 'complete-migration', ...SUPPORT }],
  ] as const) {
    expect(await migration.send(message, sent)).toMatch(/^refused: /);
  }
  await migration.send('pause', SUPPORT);
  expect(await migration.send('approve', approval)).toBe('applied');
  expect(await migration.send('cancel', { reason: 'not now', ...SUPPORT })).toBe('applied');
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).result();
  expect(between.arrived('POST', /./)).toEqual([]);
  expect(between.arrived('PUT', /./)).toEqual([]);
  expect(between.arrived('GET', /./)).toEqual([]);
});

test('a valid approval from the right role moves the company', async () => {
  const migration = await startTestMigration(orchestrator, 'granted', ['sbx-ok-1.granted']);
  between.reset();
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  expect(between.arrived('PUT', /authorization$/)).toHaveLength(1);
});
