import { randomUUID } from 'node:crypto';
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
  hasReplacedApplication,
  readCompanies,
  supplyMigration,
  type SuppliedMigration,
} from '../../../store';
import { manifestRows, readRow, suppliedMigration, updateRow, useLedger } from '../../support/migrations/ledger';
import { PLATFORM, nextMoment, decide, supplied, app, replacedIn } from './application-events';

const ledger = useLedger();
async function openedMigration(changes: Partial<SuppliedMigration>): Promise<SuppliedMigration> {
  const migration = suppliedMigration(changes);
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await openMigration(ledger.db, migration.id);
  return migration;
}

const others = async (migration: SuppliedMigration) =>
  (await readApplications(ledger.db, migration)).others.map(({ migrationId, application: { clientId } }) => [
    migrationId,
    clientId,
  ]);

test('reads the application that was supplied last, and ignores refused decisions', async () => {
  const migration = await openedMigration(PLATFORM());
  expect((await readApplications(ledger.db, migration)).supplied).toBeNull();
  await decide(ledger.db, migration.id, supplied('first'));
  await decide(ledger.db, migration.id, supplied('second'));
  await decide(ledger.db, migration.id, supplied('third'), false);
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
  for (const { id } of [other, ...elsewhere]) await decide(ledger.db, id, supplied('theirs'));
  expect(await others(migration)).toEqual([[other.id, 'theirs']]);
  await closeMigration(ledger.db, other.id, 'cancelled');
  expect(await others(migration)).toEqual([]);
});

test('an application found at the service is included once the details have been accepted', async () => {
  const platform = PLATFORM();
  const [migration, other] = [await openedMigration(platform), await openedMigration(platform)];
  await recordApplication(ledger.db, other.id, app('found'));
  expect(await others(migration)).toEqual([]);
  await decide(ledger.db, other.id, { kind: 'step', step: 'supply-details', verdict: 'approve', role: 'support' });
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
  await decide(ledger.db, migration.id, supplied('second'));
  expect(await read()).toEqual({ moved: [first], replaced: [replaced], registered: app('second') });
  await moved(2);
  await moved(3);
  const second = { application: app('second'), companies: 2, references: ['c2', 'c3'] };
  expect(await read()).toEqual({ moved: [first, second], replaced: [replaced], registered: app('second') });
  expect(await readApplicationsInUse(ledger.db, migration.id)).toEqual([
    { application: app('second'), companies: 2 },
    { application: app('found'), companies: 1 },
  ]);
  await decide(ledger.db, migration.id, supplied('found'));
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
  await decide(ledger.db, other.id, supplied('earlier'));
  await decide(ledger.db, migration.id, supplied('ours'));
  await updateRow(ledger.db, migration.id, 1, { crossed_at: new Date(nextMoment()) });
  const ours = { application: app('ours'), companies: 1, references: ['c1'] };
  expect(await readApplicationsOfMoved(ledger.db, migration.id)).toMatchObject({
    replaced: [],
    registered: app('ours'),
  });
  await decide(ledger.db, other.id, supplied('theirs'));
  expect(await readApplicationsOfMoved(ledger.db, migration.id)).toEqual({
    ...{ moved: [ours], replaced: [{ ...ours, withoutLink: 1 }], registered: null },
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
      if (kind === 0) await decide(ledger.db, random(2) === 0 ? id : other.id, supplied(`app-${random(3)}`));
      else {
        const { crossed_at: crossedAt } = await readRow(ledger.db, id, row);
        const at = new Date(nextMoment());
        await updateRow(ledger.db, id, row, crossedAt === null ? { crossed_at: at } : { authorized_at: at });
      }
    }
    const expected = (await replacedIn(ledger.db, id)).flatMap(({ references }) => references).sort();
    const listed: string[] = [];
    for await (const { reference } of readCompanies(ledger.db, id, { replacedApplication: true }))
      listed.push(reference);
    expect(listed.sort()).toEqual(expected);
    expect(await hasReplacedApplication(ledger.db, id)).toBe(expected.length > 0);
    expect((await readReplacedApplications(ledger.db, id))?.replaced ?? []).toEqual(await replacedIn(ledger.db, id));
    // Like the report, this count includes companies that have not moved, once their credential was accepted.
    expect(await countWithThroughput(ledger.db, id)).toMatchObject({ replacedApplication: expected.length });
  },
);
