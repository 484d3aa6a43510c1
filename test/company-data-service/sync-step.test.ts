import pino from 'pino';
import { createAccount } from '../../company-data-service';
import { insertCompany } from '../../company-data-service/companies/companies';
import { authorizeConnection } from '../../company-data-service/connections/authorize';
import { insertConnection } from '../../company-data-service/connections/connections';
import { openDatabase, prepareSchema, type Database } from '../../company-data-service/database/database';
import { PlatformRefusal, type Platforms } from '../../company-data-service/platform/platform';
import { SandboxPlatforms } from '../../company-data-service/platform/sandbox/sandbox-platforms';
import { processDueSyncs } from '../../company-data-service/syncs/sync-step';
import { queueSyncs } from '../../company-data-service/syncs/syncs';
import { findPlatform } from '../../platforms/platforms';
import { createTestDatabase, type TestDatabase } from '../support/servers/database';
import { SERVICE_CIPHER } from '../support/servers/keys';
import { quickBooksCredential } from './running-service';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase('service');
  db = openDatabase(database.url, 5);
  await prepareSchema(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/**
 * Syncs a new connection whose grant ends, and returns the connection's status after the step.
 *
 * @param duringFetch called while the platform is being asked
 */
async function statusAfterSync(duringFetch: (authorize: () => Promise<boolean>) => Promise<unknown>): Promise<string> {
  const platform = findPlatform('qhyg');
  if (!platform) throw new Error('The platform table does not contain QuickBooks Online');
  const accountId = await createAccount(database.url, { name: 'Example', plan: 'paid' });
  const company = await insertCompany(db, accountId, { name: 'Acme', description: null, tags: {} });
  const { id: connectionId } = await insertConnection(db, company.id, platform);
  const sandbox = new SandboxPlatforms(db, { syncBaseMs: 0, syncMsPerRecord: 0 });
  const dependencies = { db, waitingDb: db, cipher: SERVICE_CIPHER, logger: pino({ enabled: false }) };
  const authorize = () =>
    authorizeConnection(
      { ...dependencies, platforms: sandbox },
      { connectionId, accountId, platform, credential: quickBooksCredential('sbx-ok-1') },
    );
  const platforms: Platforms = {
    identify: (grant) => sandbox.identify(grant),
    refresh: (grant, exchangeId) => sandbox.refresh(grant, exchangeId),
    push: (...push) => sandbox.push(...push),
    fetch: async () => {
      await duringFetch(authorize);
      throw new PlatformRefusal('GrantRefused', 'The grant was revoked.');
    },
  };
  await authorize();
  await queueSyncs(db, company.id, [{ connectionId, dataType: 'invoices' }]);
  await processDueSyncs({ ...dependencies, platforms });
  const connections = db.selectFrom('connections').select('status').where('id', '=', connectionId);
  return (await connections.executeTakeFirstOrThrow()).status;
}

describe('a sync whose grant has ended', () => {
  it('deauthorizes its connection', async () => {
    expect(await statusAfterSync(async () => undefined)).toBe('Deauthorized');
  });

  it('leaves its connection linked if the connection has been authorized again in the meantime', async () => {
    expect(await statusAfterSync((authorize) => authorize())).toBe('Linked');
  });
});
