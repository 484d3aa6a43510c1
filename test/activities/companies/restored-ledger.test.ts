/** A ledger that was restored to an older state doubles no company, and uses no token twice. */
import { failing } from '../../company-data-client/misbehaving-service';
import { takeBackup } from '../../support/backup';
import type { ImportRig } from '../../support/company-import';
import { openImportRig, statusAtService } from '../../support/company-import';
import { readRow } from '../../support/ledger';

let rig: ImportRig;
beforeAll(async () => {
  rig = await openImportRig();
});
beforeEach(() => rig.proxy.reset());
afterAll(() => rig.close());

const SINGLE_USE = 'vxvy';
const ROWS = [1, 2, 3];
const LIST = /^\/companies\?/;
const puts = () => rig.proxy.arrived('PUT', /\/authorization$/).length;
const lists = () => rig.proxy.arrived('GET', LIST).length;

/** Moves three companies, and restores the ledger to the state before that. */
async function restoredMigration(): Promise<string> {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5'], { platformKey: SINGLE_USE });
  const { restore } = await takeBackup(rig.ledger.url);
  await rig.importSlice(id);
  await rig.verify(id);
  expect(puts()).toBe(3);
  await restore();
  await rig.forgetIdempotencyKeys();
  return id;
}

async function expectNothingTwice(id: string): Promise<void> {
  expect(puts()).toBe(3);
  for (const row of ROWS) expect(await statusAtService(rig.directClient, id, row)).toEqual(['company with Linked']);
}

test('companies are looked up by their tags on the first try if the ledger is older than the service', async () => {
  const id = await restoredMigration();
  await rig.importSlice(id);
  await expectNothingTwice(id);
  for (const row of ROWS) {
    expect(await readRow(rig.ledger.db, id, row)).toMatchObject({ state: 'syncing', tries: 1 });
  }
});

test('companies are also looked up if the service does not list the companies of the migration', async () => {
  const id = await restoredMigration();
  rig.proxy.on('GET', LIST, [failing(500, 'oops'), failing(500, 'oops'), failing(500, 'oops'), failing(500, 'oops')]);
  await rig.importSlice(id);
  await expectNothingTwice(id);
});

test('a current ledger costs one request for all companies, and none for each company', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
  await rig.importSlice(id);
  expect(lists()).toBe(1);
});
