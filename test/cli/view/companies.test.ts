/** Tests the filters, pages and CSV of `ferry companies`. */
import { supplyMigration } from '../../../store';
import { suppliedMigration, updateRow, manifestRows } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const ID = 'listed.quickbooks-online';
const NAMES = ['Bramble & Finch', 'Copper Kettle', '100% Wool', 'copper mill', '=1+1', 'Zürich Quill'];

const orchestrator = useOrchestrator();
beforeAll(async () => {
  const { db } = orchestrator.ferry;
  const rows = manifestRows(6, (row) => ({ name: NAMES[row - 1] ?? '', wave: row > 3 ? 2 : 1 }));
  await supplyMigration(db, suppliedMigration({ id: ID }), rows);
  await updateRow(db, ID, 6, { stored_name: 'Zrich Quill' });
  await updateRow(db, ID, 1, { state: 'moved' });
  await updateRow(db, ID, 2, { state: 'failed', failure: 'incomplete', failure_text: '3 of 10' });
  await updateRow(db, ID, 3, {
    state: 'failed',
    failure: 'reauthorization-required',
    link_url: 'https://link.example/3',
  });
});

async function listReferences(...options: string[]): Promise<readonly string[]> {
  const { json } = await runJson(orchestrator, 'companies', ID, ...options);
  return (json['companies'] as readonly { reference: string }[]).map(({ reference }) => reference);
}

test.each<[string[], string[]]>([
  [[], ['c1', 'c2', 'c3', 'c4', 'c5', 'c6']],
  [['--state', 'moved'], ['c1']],
  [['--state', 'moving'], []],
  [['--state', 'not-moved'], ['c2']],
  [['--state', 'must-reconnect'], ['c3']],
  [
    ['--state', 'not-moved-yet'],
    ['c4', 'c5', 'c6'],
  ],
  [['--state', 'left-out'], []],
  [['--failure', 'incomplete'], ['c2']],
  [
    ['--search', 'COPPER'],
    ['c2', 'c4'],
  ],
  [['--search', 'c6'], ['c6']],
  [['--search', '0%'], ['c3']],
  [['--search', '_'], []],
  [['--search', 'zurich'], ['c6']],
  [['--search', 'ZÜRICH'], ['c6']],
  [['--search', 'zu\u0308rich'], ['c6']],
  [['--search', 'zrich'], ['c6']],
  [
    ['--wave', '2', '--search', 'c'],
    ['c4', 'c5', 'c6'],
  ],
  [
    ['--limit', '2'],
    ['c1', 'c2'],
  ],
  [
    ['--limit', '2', '--page', '3'],
    ['c5', 'c6'],
  ],
  [['--limit', '2', '--page', '4'], []],
  [['--state', 'not-moved-yet', '--limit', '2', '--page', '2'], ['c6']],
])('companies with the options %j lists %j', async (options, references) => {
  expect(await listReferences(...options)).toEqual(references);
});

test('a page of results says how many companies match', async () => {
  const { out } = await ferry(['companies', ID, '--limit', '4', '--page', '2'], undefined, orchestrator.env);
  expect(out).toContain('\n5 to 6 of 6 companies\n');
  const { json } = await runJson(orchestrator, 'companies', ID, '--page', '9', '--state', 'not-moved-yet');
  expect(json).toEqual({ schema: 'ferry.companies/1', migrationId: ID, page: 9, matching: 3, companies: [] });
  const empty = await ferry(['companies', ID, '--page', '9', '--state', 'not-moved-yet'], undefined, orchestrator.env);
  expect(empty.out).toContain('\nPage 9 is empty: the list has 3 companies\n');
});

test('CSV has a header, and formulas are escaped', async () => {
  const { out } = await ferry(['companies', ID, '--csv'], undefined, orchestrator.env);
  const lines = out.trimEnd().split('\n');
  expect(lines).toHaveLength(7);
  expect(lines[0]).toBe(
    'reference,name,organization,wave,state,ledger state,failure,what happened,moved at,reconnects at,company id,connection id,correlation id,credential',
  );
  expect(lines[3]).toMatch(
    /^c3,100% Wool,.*,1,must reconnect,failed,reauthorization-required,.*,https:\/\/link\.example\/3,,,,$/,
  );
  expect(lines[5]).toMatch(/^c5,'=1\+1,/);
});

test.each([
  [['--state', 'not-movd'], "option '--state <state>' argument 'not-movd' is invalid. Did you mean not-moved?"],
  [['--failure', 'broken'], "option '--failure <kind>' argument 'broken' is invalid. Choose one of: refused, "],
  [['--page', '0'], 'Expected a whole number from 1 to 999,999,999.'],
])('companies with %j is a usage error', async (options, message) => {
  const { exitCode, err } = await ferry(['companies', ID, ...options], undefined, orchestrator.env);
  expect(exitCode).toBe(2);
  expect(err).toContain(message);
});
