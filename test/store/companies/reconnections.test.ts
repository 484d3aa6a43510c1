/** Tests the checks for companies that depend on a replaced application, until they have reconnected. */
import { randomUUID } from 'node:crypto';
import {
  countWithThroughput,
  openMigration,
  readApplicationsOfMoved,
  readCompanies,
  recordAuthorization,
  releaseReconnectionsLock,
  supplyMigration,
  takeDependentConnections,
  takeReconnectionsLock,
} from '../../../store';
import { KeyRefused, NoResponse, ServiceFailing, Throttled } from '../../../company-data-client';
import { checkReconnections } from '../../../worker/reconnections';
import { manifestRows, readRow, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';
import { PLATFORM, nextMoment, continueAt, decide, supplied, app, replacedIn } from '../migrations/application-events';

const ledger = useLedger();
const take = (namespace: string) => takeDependentConnections(ledger.db, { namespace, limit: 20 });

/** Opens a migration of which two companies were moved with an application that was replaced later. */
async function dependentCompanies() {
  const platform = PLATFORM();
  const namespace = randomUUID();
  const migration = suppliedMigration({ ...platform, namespace });
  await supplyMigration(ledger.db, migration, manifestRows(3));
  await openMigration(ledger.db, migration.id);
  await decide(ledger.db, migration.id, supplied('first'));
  for (const row of [1, 2])
    await updateRow(ledger.db, migration.id, row, {
      ...{ crossed_at: new Date(nextMoment()), state: 'moved', company_id: randomUUID(), connection_id: randomUUID() },
    });
  const before = nextMoment();
  await decide(ledger.db, migration.id, supplied('second'));
  return { id: migration.id, namespace, before: new Date(before) };
}

test('the count for a workflow includes every connected company that depends on a replaced application, as the report does', async () => {
  const { id } = await dependentCompanies();
  await updateRow(ledger.db, id, 2, { state: 'failed', failure: 'incomplete' });
  expect(await countWithThroughput(ledger.db, id)).toMatchObject({ replacedApplication: 2 });
  const other = suppliedMigration(PLATFORM());
  await supplyMigration(ledger.db, other, manifestRows(1));
  expect(await countWithThroughput(ledger.db, other.id)).toMatchObject({ replacedApplication: 0 });
});

type Service = Parameters<typeof checkReconnections>[0]['service'];

/** Returns a service that throws `error` for the connection of row 1, and says that other connections are linked. */
async function serviceThatFails(id: string, error: Error) {
  const failing = await readRow(ledger.db, id, 1);
  return failingService(error, (connectionId) => connectionId === failing.connection_id);
}

function failingService(error: Error, fails: (connectionId: string) => boolean) {
  const asked: string[] = [];
  const service = {
    getConnection: async (_companyId: string, connectionId: string) => {
      asked.push(connectionId);
      if (fails(connectionId)) throw error;
      return { value: { status: 'Linked', connectionInfo: { lastAuthorized: nextMoment() } } };
    },
  } as unknown as Service;
  return { service, asked };
}

const answered = (status: number) =>
  ({ kind: 'response', status, isFromService: true, error: 'failed', service: 'PublicApi' }) as const;

test('a connection that the service cannot report on does not keep others from being checked', async () => {
  const { id, namespace } = await dependentCompanies();
  const { service, asked } = await serviceThatFails(id, new ServiceFailing('GET', answered(500), []));
  expect(await checkReconnections({ db: ledger.db, service, namespace })).toBe(1);
  expect(asked).toHaveLength(2);
  expect(await replacedIn(ledger.db, id)).toMatchObject([{ references: ['c1'] }]);
  expect(await take(namespace)).toEqual([]);
});

test.each([
  new NoResponse('GET', 'refused', 'refused'),
  new Throttled('GET', answered(429), []),
  new KeyRefused('GET', answered(401), []),
])('connections that were not checked because the service does not answer stay due: $name', async (error) => {
  const { namespace } = await dependentCompanies();
  // The order of the checks is not defined, so every call fails.
  const { service, asked } = failingService(error, () => true);
  await expect(checkReconnections({ db: ledger.db, service, namespace })).rejects.toThrow(error);
  expect(asked).toHaveLength(1);
  expect(await take(namespace)).toHaveLength(2);
});

test('connections of a migration without a namespace are not checked if the ledger has several namespaces', async () => {
  const { id, namespace } = await dependentCompanies();
  await ledger.db.updateTable('migrations').set({ namespace: null }).where('id', '=', id).execute();
  expect(await take(namespace)).toEqual([]);
});

test('only one worker of a namespace holds the lock for checks, until it ends', async () => {
  const { db } = ledger;
  const namespace = randomUUID();
  await db.connection().execute(async (one) => {
    expect(await takeReconnectionsLock(one, namespace)).toBe(true);
    expect(await takeReconnectionsLock(db, namespace)).toBe(false);
    expect(await takeReconnectionsLock(db, randomUUID())).toBe(true);
    await releaseReconnectionsLock(one, namespace);
  });
});

test('a company that has reconnected after the replacement counts under the registered application', async () => {
  const { id, namespace, before } = await dependentCompanies();
  const [first, second] = await take(namespace);
  expect([first?.row, second?.row]).toEqual([1, 2]);
  if (!first || !second) throw new Error('two connections depend on the replaced application');
  const listed = async () => {
    const references: string[] = [];
    for await (const { reference } of readCompanies(ledger.db, id, { replacedApplication: true }))
      references.push(reference);
    return references;
  };
  expect(await listed()).toEqual(['c1', 'c2']);
  // An authorization before the replacement is that of the migrated credential, so it is no reconnection.
  expect(await recordAuthorization(ledger.db, first, { isLinked: true, authorizedAt: before })).toBe(false);
  expect(await replacedIn(ledger.db, id)).toMatchObject([{ application: app('first'), companies: 2 }]);
  const authorizedAt = new Date(nextMoment());
  expect(await recordAuthorization(ledger.db, first, { isLinked: true, authorizedAt })).toBe(true);
  expect(await listed()).toEqual(['c2']);
  expect(await readApplicationsOfMoved(ledger.db, id)).toEqual({
    moved: [
      { application: app('first'), companies: 1, references: ['c2'] },
      { application: app('second'), companies: 1, references: ['c1'] },
    ],
    replaced: [{ application: app('first'), companies: 1, references: ['c2'], withoutLink: 1 }],
    registered: app('second'),
  });
});

test('without the time of an authorization, a connection that is linked again has reconnected', async () => {
  // The ledger's clock gives the time of the reconnection, so all other events must be earlier.
  continueAt(Date.now() - 3_600_000);
  const { id, namespace } = await dependentCompanies();
  const [first] = await take(namespace);
  if (!first) throw new Error('a connection depends on the replaced application');
  const record = (isLinked: boolean) => recordAuthorization(ledger.db, first, { isLinked, authorizedAt: null });
  expect(await record(true)).toBe(false);
  expect(await record(false)).toBe(false);
  expect(await replacedIn(ledger.db, id)).toMatchObject([{ companies: 2 }]);
  expect(await record(true)).toBe(true);
});

test('a connection is not checked again at once, and only by workers of its namespace', async () => {
  const { namespace } = await dependentCompanies();
  expect(await take('another')).toEqual([]);
  expect(await take(namespace)).toHaveLength(2);
  expect(await take(namespace)).toEqual([]);
});

test('a check asks the service about each connection', async () => {
  const { id, namespace } = await dependentCompanies();
  const authorizedAt = nextMoment();
  const asked: string[] = [];
  const service = {
    getConnection: async (_companyId: string, connectionId: string) => {
      asked.push(connectionId);
      return { value: { status: 'Linked', connectionInfo: { lastAuthorized: authorizedAt } } };
    },
  } as unknown as Parameters<typeof checkReconnections>[0]['service'];
  expect(await checkReconnections({ db: ledger.db, service, namespace })).toBe(2);
  expect(asked).toHaveLength(2);
  expect(await replacedIn(ledger.db, id)).toEqual([]);
});
