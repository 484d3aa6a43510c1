/** A platform that rejects the client's application before any company has moved. */
import { findCompany, readMigration } from '../../../store';
import { runJson } from '../../cli/command-line';
import { removeTempFiles, tempFile } from '../../cli/manifest/manifest-files';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT } from '../running-migration';

const orchestrator = useOrchestratorWithWorker();
afterAll(removeTempFiles);

test('a corrected application is accepted in step 5 without new approvals, and moves the first company', async () => {
  const migration = await startTestMigration(orchestrator, 'secret', ['sbx-ok-1.secret1', 'sbx-ok-1.secret2']);
  const { db } = orchestrator.ferry;
  const supplySecret = (secret: string) => {
    const options = ['--client-id', 'the-clients-own', '--environment', 'production'];
    const given = ['application', migration.id, ...options, '--secret-file', tempFile(secret)];
    return runJson(orchestrator, ...given, '--as', 'client', '--by', 'Cleo');
  };
  // The platform refuses this secret.
  expect(await supplySecret('sbx-wrong-secret')).toMatchObject({ exitCode: 0 });
  await migration.until(({ checking }) => !checking);
  await migration.readyToMove();
  const paused = await migration.until(({ state }) => state === 'paused');
  expect(paused).toMatchObject({ firstCompany: null, pause: { stopReason: 'application-refused' } });
  expect(await findCompany(db, migration.id, { reference: 'R-1' })).toMatchObject({ state: 'waiting', tries: 1 });

  expect(await supplySecret('the new secret')).toMatchObject({ exitCode: 0 });
  const corrected = await migration.until(({ checking }) => !checking);
  expect(corrected).toMatchObject({ state: 'paused', step: 'migrate-first-company' });
  expect(await readMigration(db, migration.id)).toMatchObject({ released: 'first-company', paused: true });
  expect(await migration.send('resume', SUPPORT)).toBe('applied');
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});
