/** Tests `ferry replace-credential` and `self-service` if a company changes before the decision is recorded. */
import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { tempFile } from '../manifest/manifest-files';
import { platform } from '../../support/migrations/platforms';
import { manifestOf, openSelfServiceClient, type SelfServiceClient } from './self-service-set-up';

let me: SelfServiceClient;
let sql: Client;
beforeAll(async () => {
  me = await openSelfServiceClient();
  sql = new Client({ connectionString: me.env['DATABASE_URL'] });
  // Dropping the database at the end closes this connection, which emits an error.
  sql.on('error', () => undefined);
  await sql.connect();
  await sql.query(
    `create function leave_out() returns trigger language plpgsql as
     $$ begin
       update tokenferry.companies set state = 'excluded', failure = null, failure_text = null
       where migration_id = new.migration_id and row = new.row;
       return new;
     end $$`,
  );
});
afterAll(() => me.close());

/** Leaves out the second company of a migration as soon as a credential is staged for it. */
async function leaveOutOnSupply(migrationId: string): Promise<void> {
  const name = `leave_out_${migrationId.replaceAll('.', '_')}`;
  await sql.query(
    `create trigger ${name} after insert on tokenferry.staged_credentials for each row
     when (new.migration_id = '${migrationId}' and new.row = 2) execute function leave_out()`,
  );
}

test('replace-credential counts only the companies that are tried again, and shows no success', async () => {
  const id = 'me.xero.replaced';
  await me.selfService('xero', 'replaced', [{ credential: 'sbx-revoked' }, { credential: 'sbx-revoked' }]);
  const lines = (await me.companiesOf(id)).map(
    ({ reference, organization }) => `${reference},any,sbx-ok-1.${randomUUID()},${organization}`,
  );
  const file = tempFile(['reference,accessToken,refreshToken,tenantId', ...lines].join('\n'));
  await leaveOutOnSupply(id);
  const partial = 'applied to 1 of 2 companies: the other company does not exist, or its state does not allow';
  const { exitCode, out } = await me.run('replace-credential', id, file, '--as', 'client', '--by', 'Cleo');
  expect(out).toContain(`✗ ${id}: 1 company will be tried again with a new credential; ${partial}`);
  expect(out).not.toMatch(/✓|sealed and stored/);
  expect(exitCode).toBe(1);
});

test('self-service keeps the file if a credential is not used', async () => {
  const id = 'me.wave.supplied';
  const file = manifestOf(platform('wave'), [{ credential: 'sbx-ok-1' }, { credential: 'sbx-ok-1' }]);
  await leaveOutOnSupply(id);
  const args = ['self-service', file, '--platform', 'wave', '--client', 'me', '--label', 'supplied', '--yes'];
  const { exitCode, out } = await me.run(...args);
  expect(out).toContain(
    `  Keep ${file}: 1 credential supplied, although the decision says 2: 1 other credential did not`,
  );
  expect(out).not.toContain('Delete it');
  expect(exitCode).toBe(1);
});
