/** Tests a self-service migration whose credentials are stored, but not in use yet. */
import { setTimeout } from 'node:timers/promises';
import { Client } from 'pg';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();
afterAll(() => removeTempFiles());

/** The key of an advisory lock. While the test holds it, no decision that supplies credentials is recorded. */
const LOCK = 7;

let holder: Client;
beforeAll(async () => {
  holder = new Client({ connectionString: orchestrator.env['DATABASE_URL'] });
  // Dropping the database at the end closes this connection, which emits an error.
  holder.on('error', () => undefined);
  await holder.connect();
  await holder.query(
    `create function wait_here() returns trigger language plpgsql as
     $$ begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end $$`,
  );
  await holder.query(
    `create trigger wait_here before insert on tokenferry.decisions for each row
     when (new.content ->> 'kind' = 'credentials-supplied') execute function wait_here()`,
  );
  await holder.query(`select pg_advisory_lock(${LOCK})`);
});

const HEADER = 'reference,name,businessId,expectedInvoices,accessToken,obtainedAt\n';

function selfService(file: string, label: string, ...more: string[]): ReturnType<typeof ferry> {
  const args = ['self-service', file, '--platform', 'wave', '--client', 'late', '--label', label, '--yes', ...more];
  return ferry(args, undefined, orchestrator.env);
}

const manifestFor = (organization: string): string =>
  tempFile(`${HEADER}E-1,Early,${organization},1,sbx-ok-1.${organization},${new Date().toISOString()}\n`);

test('the client keeps the file until the decision is applied', async () => {
  const file = manifestFor('9000000000000001');
  const { out } = await selfService(file, 'detached', '--detach');
  expect(out).toContain(
    `  Keep ${file} until the credentials are used: the migration has accepted the decision, but it is not in the ledger yet, so it can still be refused.`,
  );
  expect(out).not.toContain('Delete it');
});

test('the file is no longer needed if the decision was applied while the migration was watched', async () => {
  const file = manifestFor('9000000000000002');
  const watched = selfService(file, 'watched');
  // The command waits about 5 s for the outcome of the decision, and then watches the migration. The test also passes
  // on a slow machine, where the lock is released before the watch begins.
  await setTimeout(8_000);
  await holder.query(`select pg_advisory_unlock(${LOCK})`);
  const { exitCode, out } = await watched;
  expect(out).toContain(`${file} still contains credentials in plain text. Delete it and all copies.`);
  expect(out).not.toContain('Keep ');
  expect(exitCode).toBe(0);
});
