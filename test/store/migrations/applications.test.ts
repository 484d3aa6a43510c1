import { randomUUID } from 'node:crypto';
import type { SuppliedMigration } from '../../../store';
import {
  closeMigration,
  countWithThroughput,
  openMigration,
  readApplications,
  readApplicationsByCompany,
  readApplicationsInUse,
  readApplicationsOfMoved,
  readReplacedApplications,
  recordApplication,
  recordDecisions,
} from '../../../store';
import {
  hasReplacedApplication,
  readCompanies,
  recordAuthorization,
  releaseReconnectionsLock,
  supplyMigration,
  takeDependentConnections,
  takeReconnectionsLock,
} from '../../../store';
import { KeyRefused, NoResponse, ServiceFailing, Throttled } from '../../../company-data-client';
import type { Decision } from '../../../domain/migration/decision';
import { checkReconnections } from '../../../worker/reconnections';
import { manifestRows, readRow, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';

const ledger = useLedger();
const PLATFORM = () => ({ platformKey: randomUUID() });

async function openedMigration(changes: Partial<SuppliedMigration>): Promise<SuppliedMigration> {
  const migration = suppliedMigration(changes);
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  return migration;
}

// Begins in the past, because a time in the future counts as now.
let moment = Date.now() - 7_200_000;
/** Returns a time for the next event, one second after the previous event. */
function nextMoment(): string {
  moment += 1_000;
  return new Date(moment).toISOString();
}

async function decide(id: string, decision: Partial<Decision>, applied = true): Promise<void> {
  const decisionId = randomUUID();
  const sent = { decisionId, role: 'client', by: 'Cleo', ...decision } as Decision;
  const outcome = { decisionId, applied, text: '', at: nextMoment() };
  await recordDecisions(ledger.db, id, [{ decision: sent, outcome }]);
}

const supplied = (clientId: string) => ({ kind: 'application-supplied', clientId, environment: 'production' }) as const;
const app = (clientId: string) => ({ clientId, environment: 'production' });
const others = async (migration: SuppliedMigration) =>
  (await readApplications(ledger.db, migration)).others.map(({ migrationId, application: { clientId } }) => [
    migrationId,
    clientId,
  ]);

test('reads the application that was supplied last, and ignores refused decisions', async () => {
  const migration = await openedMigration(PLATFORM());
  expect((await readApplications(ledger.db, migration)).supplied).toBeNull();
  await decide(migration.id, supplied('first'));
  await decide(migration.id, supplied('second'));
  await decide(migration.id, supplied('third'), false);
  expect((await readApplications(ledger.db, migration)).supplied).toEqual({ ...app('second'), suppliedBy: 'Cleo' });
});

test('reads the applications of other open migrations on the same platform and in the same namespace', async () => {
  const platform = PLATFORM();
  const migration = await openedMigration({ ...platform, namespace: 'one' });
  const other = await openedMigration({ ...platform, namespace: 'one' });
  const elsewhere = [
    await openedMigration({ ...platform, namespace: 'two' }),
    await openedMigration({ ...PLATFORM(), namespace: 'one' }),
  ];
  for (const { id } of [other, ...elsewhere]) await decide(id, supplied('theirs'));
  expect(await others(migration)).toEqual([[other.id, 'theirs']]);
  await closeMigration(ledger.db, other.id, 'cancelled');
  expect(await others(migration)).toEqual([]);
});

test('an application found at the service is included once the details have been accepted', async () => {
  const platform = PLATFORM();
  const [migration, other] = [await openedMigration(platform), await openedMigration(platform)];
  await recordApplication(ledger.db, other.id, app('found'));
  expect(await others(migration)).toEqual([]);
  await decide(other.id, { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'support' });
  expect(await others(migration)).toEqual([[other.id, 'found']]);
});

test('an application found by a self-service migration is included without an approval', async () => {
  const platform = PLATFORM();
  const migration = await openedMigration(platform);
  const other = await openedMigration({ ...platform, route: 'self-service' });
  await recordApplication(ledger.db, other.id, app('found'));
  expect(await others(migration)).toEqual([[other.id, 'found']]);
});

test('records the application of this migration only, and keeps it once a company has been connected with it', async () => {
  const [own, other] = [await openedMigration({}), await openedMigration({})];
  const recorded = async ({ id }: SuppliedMigration) =>
    (await ledger.db.selectFrom('migrations').select('application').where('id', '=', id).executeTakeFirstOrThrow())
      .application;
  await recordApplication(ledger.db, own.id, app('first'));
  await recordApplication(ledger.db, own.id, app('second'));
  expect([await recorded(own), await recorded(other)]).toEqual([app('second'), null]);
  await updateRow(ledger.db, own.id, 1, { crossed_at: new Date(nextMoment()) });
  await recordApplication(ledger.db, own.id, app('third'));
  expect(await recorded(own)).toEqual(app('second'));
});

test('companies belong to the application that was registered when the service accepted them', async () => {
  const platform = PLATFORM();
  const migration = suppliedMigration({ ...platform, client: 'acme' });
  await supplyMigration(ledger.db, migration, manifestRows(4));
  await openMigration(ledger.db, migration.id);
  const moved = (row: number) => updateRow(ledger.db, migration.id, row, { crossed_at: new Date(nextMoment()) });
  const read = () => readApplicationsOfMoved(ledger.db, migration.id);
  expect(await read()).toEqual({ moved: [], replaced: [], registered: null });
  await recordApplication(ledger.db, migration.id, app('found'));
  await moved(1);
  const first = { application: app('found'), companies: 1, references: ['c1'] };
  const replaced = { ...first, withoutLink: 1 };
  expect(await read()).toEqual({ moved: [first], replaced: [], registered: app('found') });
  await decide(migration.id, supplied('second'));
  expect(await read()).toEqual({ moved: [first], replaced: [replaced], registered: app('second') });
  await moved(2);
  await moved(3);
  const second = { application: app('second'), companies: 2, references: ['c2', 'c3'] };
  expect(await read()).toEqual({ moved: [first, second], replaced: [replaced], registered: app('second') });
  expect(await readApplicationsInUse(ledger.db, migration.id)).toEqual([
    { application: app('second'), companies: 2 },
    { application: app('found'), companies: 1 },
  ]);
  await decide(migration.id, supplied('found'));
  await updateRow(ledger.db, migration.id, 2, { link_url: 'https://link.example/2' });
  const lacking = [{ ...second, withoutLink: 1 }];
  expect(await read()).toEqual({ moved: [first, second], replaced: lacking, registered: app('found') });
  await updateRow(ledger.db, migration.id, 3, { link_url: 'https://link.example/3' });
  expect(await read()).toMatchObject({ replaced: [second] });
  expect(await readApplicationsByCompany(ledger.db, migration.id)).toEqual(
    new Map([
      ['c1', app('found')],
      ['c2', app('second')],
      ['c3', app('second')],
    ]),
  );
});

test("an application that another client's migration has supplied later replaces this migration's, and is not named", async () => {
  const platform = PLATFORM();
  const migration = await openedMigration({ ...platform, client: 'acme' });
  const other = await openedMigration({ ...platform, client: 'bee' });
  await decide(other.id, supplied('earlier'));
  await decide(migration.id, supplied('ours'));
  await updateRow(ledger.db, migration.id, 1, { crossed_at: new Date(nextMoment()) });
  const ours = { application: app('ours'), companies: 1, references: ['c1'] };
  expect(await readApplicationsOfMoved(ledger.db, migration.id)).toMatchObject({
    replaced: [],
    registered: app('ours'),
  });
  await decide(other.id, supplied('theirs'));
  expect(await readApplicationsOfMoved(ledger.db, migration.id)).toEqual({
    ...{ moved: [ours], replaced: [{ ...ours, withoutLink: 1 }], registered: null },
  });
});

/** Opens a migration of which two companies were moved with an application that was replaced later. */
async function dependentCompanies() {
  const platform = PLATFORM();
  const namespace = randomUUID();
  const migration = suppliedMigration({ ...platform, namespace });
  await supplyMigration(ledger.db, migration, manifestRows(3));
  await openMigration(ledger.db, migration.id);
  await decide(migration.id, supplied('first'));
  for (const row of [1, 2])
    await updateRow(ledger.db, migration.id, row, {
      ...{ crossed_at: new Date(nextMoment()), state: 'moved', company_id: randomUUID(), connection_id: randomUUID() },
    });
  const before = nextMoment();
  await decide(migration.id, supplied('second'));
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

/** Returns a service whose answer about the connection of row 1 is `first`, and which says that others are linked. */
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
  expect(await replacedIn(id)).toMatchObject([{ references: ['c1'] }]);
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

test.each(Array.from({ length: 20 }, (_, seed) => seed))(
  'the list of companies agrees with the applications of moved companies (order of events %i)',
  async (seed) => {
    let state = seed + 1;
    const random = (below: number) => {
      state = (state * 48_271) % 2_147_483_647;
      return state % below;
    };
    const changes = { ...PLATFORM(), namespace: randomUUID() };
    const other = await openedMigration(changes);
    const migration = suppliedMigration(changes);
    await supplyMigration(ledger.db, migration, manifestRows(6));
    await openMigration(ledger.db, migration.id);
    const { id } = migration;
    if (random(2) === 0) await recordApplication(ledger.db, id, app('app-0'));
    for (let event = 0; event < 14; event += 1) {
      const row = 1 + random(6);
      const kind = random(4);
      if (kind === 0) await decide(random(2) === 0 ? id : other.id, supplied(`app-${random(3)}`));
      else {
        const { crossed_at: crossedAt } = await readRow(ledger.db, id, row);
        const at = new Date(nextMoment());
        await updateRow(ledger.db, id, row, crossedAt === null ? { crossed_at: at } : { authorized_at: at });
      }
    }
    const expected = (await replacedIn(id)).flatMap(({ references }) => references).sort();
    const listed: string[] = [];
    for await (const { reference } of readCompanies(ledger.db, id, { replacedApplication: true }))
      listed.push(reference);
    expect(listed.sort()).toEqual(expected);
    expect(await hasReplacedApplication(ledger.db, id)).toBe(expected.length > 0);
    expect((await readReplacedApplications(ledger.db, id))?.replaced ?? []).toEqual(await replacedIn(id));
    // The report counts every company whose credential was accepted, also if it has not moved.
    expect(await countWithThroughput(ledger.db, id)).toMatchObject({ replacedApplication: expected.length });
  },
);

const take = (namespace: string) => takeDependentConnections(ledger.db, { namespace, limit: 20 });
const replacedIn = async (id: string) => (await readApplicationsOfMoved(ledger.db, id)).replaced;

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
  // The migrated credential was accepted before the replacement.
  expect(await recordAuthorization(ledger.db, first, { isLinked: true, authorizedAt: before })).toBe(false);
  expect(await replacedIn(id)).toMatchObject([{ application: app('first'), companies: 2 }]);
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
  // The ledger's clock decides, so everything else must have happened before.
  moment = Date.now() - 3_600_000;
  const { id, namespace } = await dependentCompanies();
  const [first] = await take(namespace);
  if (!first) throw new Error('a connection depends on the replaced application');
  const record = (isLinked: boolean) => recordAuthorization(ledger.db, first, { isLinked, authorizedAt: null });
  expect(await record(true)).toBe(false);
  expect(await record(false)).toBe(false);
  expect(await replacedIn(id)).toMatchObject([{ companies: 2 }]);
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
  expect(await replacedIn(id)).toEqual([]);
});
