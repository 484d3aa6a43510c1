import { sql } from 'kysely';
import {
  CLIENT_STATES,
  clientStateOf,
  COMPANY_STATES,
  type CompanyState,
} from '../../../domain/companies/company-state';
import { countExceptions } from '../../../domain/companies/counts';
import { FAILURE_KINDS, type FailureKind } from '../../../domain/companies/failures';
import { countCompanies, readCompanies, readOverviews, supplyMigration } from '../../../store';
import {
  createMovableMigration,
  manifestRows,
  suppliedMigration,
  updateRow,
  useLedger,
} from '../../support/migrations/ledger';
import { call, invite, redeem, usePortal } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);

interface Filter {
  readonly state?: string;
  readonly exceptions?: boolean;
  readonly search?: string;
  readonly after?: number;
  readonly max?: number;
}

const companies = (session: Buffer, { state, exceptions, search, after, max = 500 }: Filter = {}) =>
  call(portal, 'companies', session, state ?? null, exceptions ?? false, search ?? null, after ?? null, max);
const rowsOf = async (session: Buffer, filter: Filter) => (await companies(session, filter)).map(({ row }) => row);

async function openSession(id: string): Promise<Buffer> {
  return redeem(portal, (await invite(ledger.db, id)).token);
}

test('shows the companies of the session only, with the fields that the client may see', async () => {
  const { id } = await createMovableMigration(
    ledger,
    manifestRows(3, (row) => ({ wave: row })),
  );
  await createMovableMigration(ledger, manifestRows(3));
  const session = await openSession(id);
  const shown = await companies(session);
  expect(shown.map(({ reference }) => reference)).toEqual(['c1', 'c2', 'c3']);
  expect(shown[1]).toEqual({
    ...{ row: 2, reference: 'c2', name: 'Company 2', wave: 2, state: 'waiting', failure: null, failure_text: null },
    ...{ held_back: null, left_out_reason: null, is_deferred: false, retry_at: null, tries: 0 },
    ...{ confirmed_at: expect.any(Date) as Date, credential: 'supplied', moved_at: null },
    ...{ crossed_at: null, link_url: null },
    ...{ organization: expect.any(String) as string, depends_on_replaced: false, has_ended: false },
  });
});

test('reads pages of at most 500 companies, in the order of the manifest', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(600));
  const session = await openSession(migration.id);
  expect(await rowsOf(session, { max: 2 })).toEqual([1, 2]);
  expect(await rowsOf(session, { after: 2, max: 2 })).toEqual([3, 4]);
  expect(await rowsOf(session, { after: 599 })).toEqual([600]);
  expect(await rowsOf(session, { max: 100_000 })).toHaveLength(500);
  expect(await rowsOf(session, { max: 0 })).toEqual([]);
  expect(await rowsOf(session, { max: -1 })).toEqual([]);
});

test('filters by the same states, exceptions and credentials as the ledger does', async () => {
  const combinations = COMPANY_STATES.flatMap((state) =>
    [null, ...FAILURE_KINDS].map((failure) => ({ state, failure })),
  );
  const { id } = await createMovableMigration(ledger, manifestRows(combinations.length + 4));
  for (const [index, { state, failure }] of combinations.entries()) {
    const attempt = state === 'importing' ? 'a' : null;
    await updateRow(ledger.db, id, index + 1, { state, failure, attempt, link_url: 'https://service.example/link' });
  }
  const more = combinations.length;
  await updateRow(ledger.db, id, more + 1, { held_back: 'a problem' });
  await updateRow(ledger.db, id, more + 2, { failure_text: 'busy', tries: 2, not_before: new Date() });
  await updateRow(ledger.db, id, more + 3, {
    failure_text: 'busy',
    tries: 1,
    not_before: new Date(Date.now() + 600_000),
  });
  await updateRow(ledger.db, id, more + 4, { confirmed_at: new Date() });
  const session = await openSession(id);

  const all = await companies(session);
  for await (const { row, deferred, retryAt, credential, failureText } of readCompanies(ledger.db, id))
    expect(all.find((each) => each['row'] === row)).toMatchObject({
      ...{ is_deferred: deferred, retry_at: retryAt, credential, failure_text: failureText },
    });
  const exceptions: number[] = [];
  for await (const { row } of readCompanies(ledger.db, id, { exceptions: true })) exceptions.push(row);
  // While companies move, the portal's exceptions include confirmed companies without a usable credential, because the
  // client can act on them.
  const lacking: number[] = [];
  for await (const { row } of readCompanies(ledger.db, id, { withoutCredential: true })) lacking.push(row);
  expect(lacking).toEqual([more + 4]);
  expect(await rowsOf(session, { exceptions: true })).toEqual([...exceptions, ...lacking]);
  // `ferry desk` shows the two numbers below, which leave out companies that only lack a credential.
  expect(countExceptions(await countCompanies(ledger.db, id))).toBe(exceptions.length);
  expect(await readOverviews(ledger.db, [id])).toMatchObject([{ exceptions: exceptions.length }]);
  expect(all.find(({ row }) => row === more + 4)).toMatchObject({ credential: 'too-early' });
  for (const state of Object.keys(CLIENT_STATES)) {
    const expected = all.filter((each) => {
      return clientStateOf(each['state'] as CompanyState, each['failure'] as FailureKind | null) === state;
    });
    expect(await companies(session, { state })).toEqual(expected);
    expect(expected.length).toBeGreaterThan(0);
  }
  expect(await rowsOf(session, { state: 'not-a-state' })).toEqual([]);
  const withLinks = all.filter(({ link_url: url }) => url !== null).map(({ state }) => state);
  expect(new Set(withLinks)).toEqual(new Set(['failed', 'outcome-unknown']));
});

test('searches for text in names and references, ignoring case, and treats wildcards as plain text', async () => {
  const names = ['100% Bramble', 'Under_score', 'back\\slash', "O'Brien", 'Élan', 'plain'];
  const migration = suppliedMigration();
  await supplyMigration(
    ledger.db,
    migration,
    manifestRows(names.length, (row) => ({ name: names[row - 1] ?? '', reference: `R-${row}` })),
  );
  const session = await openSession(migration.id);
  const found = (search: string) => rowsOf(session, { search });
  expect(await found('bramble')).toEqual([1]);
  expect(await found('%')).toEqual([1]);
  expect(await found('_')).toEqual([2]);
  expect(await found('\\')).toEqual([3]);
  expect(await found("'")).toEqual([4]);
  expect(await found('élan')).toEqual([5]);
  expect(await found('r-6')).toEqual([6]);
  expect(await found('')).toHaveLength(names.length);
  for (const attack of ["' or true --", "'; drop table companies; --", '$$', '%%', '_____', '\\%', "\\'"])
    expect(await found(attack)).toEqual([]);
  for (const state of ["moved' or true --", "{moved}'::text[] or true"])
    expect(await rowsOf(session, { state })).toEqual([]);
});

test('answers quickly for 100,000 companies', async () => {
  const migration = suppliedMigration();
  await supplyMigration(ledger.db, migration, manifestRows(1));
  await sql`
    insert into companies (migration_id, row, reference, name, platform_key, organization, state, failure, attempt)
    select ${migration.id}, n, 'C-' || n, 'Company ' || md5(n::text), 'p', 'large-' || n,
      case when n % 1000 = 0 then 'failed' when n % 3 = 0 then 'moved' else 'waiting' end,
      case when n % 2000 = 0 then 'reauthorization-required' end, null
    from generate_series(2, 100000) n`.execute(ledger.db);
  await sql`
    insert into credentials (migration_id, row, sealed, obtained_at, supplied_by)
    select ${migration.id}, n, '\\x00', now(), 'Cleo' from generate_series(2, 100000, 2) n`.execute(ledger.db);
  await sql`analyze companies, credentials`.execute(ledger.db);
  const session = await openSession(migration.id);
  const filters: readonly Filter[] = [
    {},
    { after: 99_000, max: 50 },
    { state: 'must-reconnect' },
    { state: 'not-moved', after: 90_000 },
    { state: 'left-out' },
    { exceptions: true },
    { search: 'Company', max: 50 },
    { search: 'C-99999' },
    { search: 'in no name' },
    { search: 'in no name', state: 'not-moved-yet', exceptions: true },
  ];
  const times: [string, number][] = [];
  for (const filter of filters) {
    const runs: number[] = [];
    for (let run = 0; run < 3; run += 1) {
      const began = performance.now();
      await companies(session, filter);
      runs.push(Math.round(performance.now() - began));
    }
    times.push([JSON.stringify(filter), Math.min(...runs)]);
  }
  expect(times.filter(([, ms]) => ms > 2_000)).toEqual([]);
});

test('after the migration has ended, no company is deferred', async () => {
  const { id } = await createMovableMigration(ledger, manifestRows(1));
  await updateRow(ledger.db, id, 1, { failure_text: 'busy', tries: 2, not_before: new Date() });
  const session = await openSession(id);
  expect(await companies(session, { exceptions: true })).toMatchObject([{ is_deferred: true, has_ended: false }]);
  await ledger.db.updateTable('migrations').set({ state: 'closed' }).where('id', '=', id).execute();
  const ended = { is_deferred: false, retry_at: null, has_ended: true };
  expect(await companies(session, { exceptions: true })).toMatchObject([ended]);
});
