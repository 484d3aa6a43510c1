import { createHash } from 'node:crypto';
import { Migrator, type Migration } from 'kysely';
import { Client } from 'pg';
import { NewerSchema, startService } from '../../../company-data-service';
import { openDatabase } from '../../../company-data-service/database/database';
import { firstSchema } from '../../../company-data-service/database/migrations/first-schema';
import {
  settingsPushesQuotas,
  sharedRateLimit,
  pushedRecords,
} from '../../../company-data-service/database/migrations/settings-pushes-quotas';
import { lastSync, scheduledSyncs } from '../../../company-data-service/database/migrations/sync-times';
import { ferry } from '../../cli/captured-terminal';
import { createTestDatabase } from '../../support/servers/database';
import { SERVICE_CIPHER } from '../../support/servers/keys';
import { callerWith, waitForSyncs } from '../running-service';

/** The schema of the last version that stored tokens unencrypted. */
const OLD_SCHEMA: Record<string, Migration> = {
  '001-first-schema': firstSchema,
  '002-settings-pushes-quotas': settingsPushesQuotas,
  '003-shared-rate-limit': sharedRateLimit,
  '004-pushed-records': pushedRecords,
  '005-last-sync': lastSync,
  '006-scheduled-syncs': scheduledSyncs,
};

const KEY = 'key-of-the-old-version';
const ID = '3f0c1c5e-7d1e-4b57-9a5f-2f0a86c2a001';
const TOKEN = 'sbx-ok-4.old~marker-of-a-token';

/**
 * Rows as the version with `OLD_SCHEMA` wrote them: a synced connection, whose next sync of `accounts` was interrupted.
 */
const OLD_ROWS = `
  set search_path to company_data_service;
  insert into accounts (id, name, plan) values ('${ID}', 'Example', 'paid');
  insert into api_keys (account_id, role, digest) values ('${ID}', 'administrator', sha256('${KEY}'));
  insert into companies (id, account_id, name, created_at) values ('${ID}', '${ID}', 'Acme', '2026-01-02T03:04:05.678Z');
  insert into connections (id, company_id, platform_key, status, data_types, organization_id, organization_name)
    values ('${ID}', '${ID}', 'qhyg', 'Linked', '{accounts,bills,invoices}', '7', 'Organization 7');
  insert into credentials (connection_id, fields, accepted_digest)
    values ('${ID}', '{"accessToken": "${TOKEN}", "refreshToken": "${TOKEN}", "realmId": "7"}', sha256('body'));
  insert into applications values ('${ID}', 'qhyg', 'acme', 'marker-of-a-client-secret', 'production');
  insert into sync_settings values ('${ID}', 'accounts', true, 24, 0), ('${ID}', 'bills', false, 0, 1);
  insert into syncs (id, company_id, connection_id, data_type, cursor) values ('${ID}', '${ID}', '${ID}', 'accounts', '0');
  insert into data_sets values ('${ID}', 'accounts', '${ID}', '${ID}', '${ID}', now());
  insert into records values ('${ID}', 'accounts', 'old', '${ID}', gen_random_uuid(), now(), '{"id": "old", "name": "Bank"}');
  insert into push_operations (company_id, connection_id, data_type, record, status, changes, due_at) values
    ('${ID}', '${ID}', 'accounts', '{}', 'Success',
     '[{"type": "Created", "recordRef": {"id": "pushed", "dataType": "accounts"}}]', null)`;

const cleanUp: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const step of cleanUp.splice(0).reverse()) await step();
});

it('the service upgrades a database with unencrypted tokens, and continues its work', async () => {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  const db = openDatabase(database.url, 2);
  const provider = { getMigrations: async () => OLD_SCHEMA };
  const { error } = await new Migrator({
    db,
    provider,
    migrationTableSchema: 'company_data_service',
  }).migrateToLatest();
  expect(error).toBeUndefined();
  await db.destroy();
  const inspector = new Client({ connectionString: database.url });
  await inspector.connect();
  cleanUp.push(() => inspector.end());
  await inspector.query(OLD_ROWS);

  const options = { databaseUrl: database.url, cipher: SERVICE_CIPHER, requestsPerMinute: 100_000 };
  const service = await startService({ ...options, syncBaseMs: 200, syncMsPerRecord: 0 });
  cleanUp.push(() => service.close());
  const call = callerWith(service.url, KEY);
  const company = `/companies/${ID}`;
  const read = async (path: string) => (await call('GET', company + path)).body;

  const renamed = { dataType: 'chartOfAccounts' };
  expect(await read('/syncSettings')).toMatchObject({ settings: [renamed, { dataType: 'bills' }, {}, {}, {}, {}, {}] });
  expect(await read('/push')).toMatchObject({ results: [{ ...renamed, changes: [{ recordRef: renamed }] }] });
  expect(await read('/data/chartOfAccounts')).toMatchObject({ results: [{ id: 'old', name: 'Bank' }] });
  const { body: companies } = await call('GET', '/companies?orderBy=-modifiedDate');
  expect(companies).toMatchObject({ results: [{ name: 'Acme', created: '2026-01-02T03:04:05.678Z' }] });

  // The interrupted sync continues, and needs the old token and the old client secret.
  expect(await waitForSyncs(call, company)).toMatchObject({ chartOfAccounts: { currentStatus: 'Complete' } });
  expect((await read('/data/chartOfAccounts')).totalResults).toBe(12);
  await call('POST', `${company}/data/all`);
  expect(await waitForSyncs(call, company)).toMatchObject({ invoices: { currentStatus: 'Complete' } });
  const { rows } = await inspector.query<{ text: string }>(
    'select c::text || a::text as text from credentials c cross join applications a',
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]?.text).not.toContain('marker');
  expect(rows[0]?.text).toContain(createHash('sha256').update('body').digest('hex'));
});

it('the service does not start with a schema that a newer version has updated', async () => {
  const database = await createTestDatabase();
  cleanUp.push(() => database.drop());
  const options = { databaseUrl: database.url, cipher: SERVICE_CIPHER };
  await (await startService(options)).close();
  const inspector = new Client({ connectionString: database.url });
  await inspector.connect();
  cleanUp.push(() => inspector.end());
  await inspector.query(`insert into company_data_service.kysely_migration values ('999-of-the-future', now()::text)`);
  await expect(startService(options)).rejects.toThrow(NewerSchema);

  const env = { DATABASE_URL: database.url };
  expect(await ferry(['service', 'keys', 'list'], undefined, env)).toMatchObject({
    exitCode: 1,
    err: expect.stringMatching(
      /of the Company Data Service has updated its schema \(999-of-the-future\); use the version of ferry that has updated this database/,
    ) as string,
  });
});
