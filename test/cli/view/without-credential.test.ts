/** Tests that commands and the handover report name the companies that lack only a usable credential to be moved. */
import { readCompanies } from '../../../store';
import {
  CONFIRMED_AT,
  createMovableMigration,
  manifestRows,
  updateRow,
  useLedger,
  type MovableMigration,
} from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

/** The tests use only the keys of this ledger. The migrations are in the orchestrator's ledger. */
const ledger = useLedger();
const orchestrator = useOrchestrator();
let id: string;
beforeAll(async () => {
  ({ id } = await withoutCredentials(15, 2));
});

/**
 * Creates a migration without usable credentials in its first `lacking` companies: the credential of the first company
 * was obtained before its confirmation, and the others have none.
 */
async function withoutCredentials(companies: number, lacking: number): Promise<MovableMigration> {
  const { db } = orchestrator.ferry;
  const migration = await createMovableMigration({ db, keys: ledger.keys }, manifestRows(companies));
  const early = new Date(Date.parse(CONFIRMED_AT) - 1);
  await db
    .updateTable('credentials')
    .set({ obtained_at: early })
    .where('migration_id', '=', migration.id)
    .where('row', '=', 1)
    .execute();
  await db
    .deleteFrom('credentials')
    .where('migration_id', '=', migration.id)
    .where('row', '>', 1)
    .where('row', '<=', lacking)
    .execute();
  return migration;
}

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('companies --without-credential gives the reasons, and JSON and CSV show who has a credential', async () => {
  const { out } = await run('companies', id, '--without-credential');
  expect(out).toMatch(/c1 +.* the credential was obtained before the client confirmed that syncing is off\n/);
  expect(out).toMatch(/c2 +.* no credential supplied\n/);
  expect(out).toContain('\n2 companies\n');
  const { json } = await runJson(orchestrator, 'companies', id, '--limit', '3');
  expect(json['companies']).toMatchObject([
    { credential: 'too-early' },
    { credential: 'missing' },
    { credential: 'supplied' },
  ]);
  const csv = (await run('companies', id, '--csv', '--limit', '3')).out.split('\n');
  expect(csv.slice(1, 4)).toEqual([
    expect.stringMatching(/,too-early$/),
    expect.stringMatching(/,missing$/),
    expect.stringMatching(/,supplied$/),
  ]);
});

test('a company is not listed before its confirmation, while it is held back, or once it is no longer waiting', async () => {
  const { db } = orchestrator.ferry;
  const other = await withoutCredentials(4, 4);
  await updateRow(db, other.id, 1, { confirmed_at: null });
  await updateRow(db, other.id, 2, { held_back: 'no name' });
  await updateRow(db, other.id, 3, { state: 'excluded' });
  const found: string[] = [];
  for await (const each of readCompanies(db, other.id, { withoutCredential: true })) found.push(each.reference);
  expect(found).toEqual(['c4']);
});

test('no company is reported after the migration has ended, when all credentials have been deleted', async () => {
  const { db } = orchestrator.ferry;
  const ended = await withoutCredentials(2, 2);
  await db.updateTable('migrations').set({ state: 'closed' }).where('id', '=', ended.id).execute();
  expect((await run('exceptions', ended.id)).out).toMatch(/^2 companies not moved before the migration ended\n/);
  const { json } = await runJson(orchestrator, 'companies', ended.id);
  expect(json['companies']).toMatchObject([{ credential: null }, { credential: null }]);
});

test('exceptions lists companies without a usable credential, with the commands that help', async () => {
  const { out } = await run('exceptions', id);
  expect(out).toContain('without a usable credential: 2 companies\n');
  expect(out).toContain('no credential supplied\n');
  expect(out).toContain(`  ferry credentials ${id} credentials.csv --as client --by "your name"\n`);
  expect(out).toContain(`  ferry exclude ${id} c1 c2 --reason "why"\n`);
  expect(out).not.toContain('No exceptions.');
  expect((await runJson(orchestrator, 'exceptions', id)).json).toMatchObject({ withoutCredential: 2, exceptions: [] });
});

test('in self-service, the commands for companies without a usable credential name the same person', async () => {
  const own = await withoutCredentials(2, 2);
  const changed = orchestrator.ferry.db.updateTable('migrations').where('id', '=', own.id);
  await changed.set({ route: 'self-service', supplied_by: 'Cleo' }).execute();
  const { out } = await run('exceptions', own.id);
  expect(out).toContain(`  ferry credentials ${own.id} credentials.csv --as client --by Cleo\n`);
  expect(out).toContain(`  ferry exclude ${own.id} c1 c2 --reason "why" --as client --by Cleo\n`);
});

test('exceptions lists at most ten companies without a usable credential, and says how to list all', async () => {
  const many = await withoutCredentials(13, 13);
  const { out } = await run('exceptions', many.id);
  expect(out.match(/no credential supplied/g)).toHaveLength(9);
  expect(out).toContain(`  and 3 more; list all with: ferry companies ${many.id} --without-credential\n`);
});

test('the report asks the client for the missing credentials', async () => {
  const text = (await run('report', id)).out;
  expect(text).toMatch(/## What you need to do\n\n.*\*\*Supply credentials\*\* \(2\)/);
  expect(text).toMatch(
    /\| c1 .*\| supply a credential that was exported after the confirmation that syncing is off \|/,
  );
  expect(text).toMatch(/\| c2 .*not moved yet: no credential supplied \| supply a credential \|/);
});
