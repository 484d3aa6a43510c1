/** Tests that tables fit a terminal of 80 columns, and that unbroken columns are never shortened. */
import { stripVTControlCharacters } from 'node:util';
import { widthOf } from '../../../cli/terminal/styled-text';
import { printSteps } from '../../../cli/reporting/steps-table';
import { Output } from '../../../cli/terminal/output';
import { formatTable, type TableColumn } from '../../../cli/terminal/table';
import { capturedStream, ferry } from '../captured-terminal';
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { SEPARATE_NAMESPACES } from '../../support/jest/namespaces';

const orchestrator = useOrchestratorWithWorker({}, undefined, SEPARATE_NAMESPACES.list);
let migration: TestMigration;
beforeAll(async () => {
  migration = await startTestMigration(orchestrator, 'eighty-columns', ['sbx-ok-1.t1', 'sbx-revoked.t2']);
  await migration.readyToComplete();
  await migration.until(({ counts }) => counts.failed === 1);
});

test.each([
  ['list', 'Migration'],
  ['companies', 'Reference'],
  ['show', 'Step'],
  ['exceptions', 'Reference'],
  ['audit', 'When'],
])('the table of ferry %s fits 80 columns', async (command, firstTitle) => {
  const { out } = await ferry([command, ...(command === 'list' ? [] : [migration.id])], 80, orchestrator.env);
  const lines = stripVTControlCharacters(out).split('\n');
  const head = lines.findIndex((line) => line.trimStart().startsWith(firstTitle));
  expect(head).toBeGreaterThanOrEqual(0);
  const end = lines.findIndex((line, index) => index > head && /^(?:$| {2}ferry)/.test(line));
  const table = lines
    .slice(head, end < 0 ? undefined : end)
    .filter((line) => !/^ {2}\S.*(?:reconnects|ferry )/.test(line));
  expect(table.filter((line) => widthOf(line) > 80)).toEqual([]);
  if (command === 'list') expect(out).toContain(migration.id);
});

test.each([
  [70, '"Step", "Open" and "Started"'],
  [60, '"Step", "Open", "Not moved" and "Started"'],
])(
  'the table of ferry list fits %i columns, and a text names the columns that were left out',
  async (width, leftOut) => {
    const { out } = await ferry(['list'], width, orchestrator.env);
    const [table = '', hint = ''] = stripVTControlCharacters(out).split('\nTo see ');
    expect(hint.replaceAll(/\s+/g, ' ').split(', make')[0]).toBe(leftOut);
    expect(table.split('\n').filter((line) => widthOf(line) > width)).toEqual([]);
    expect(table).toContain(migration.id);
  },
);

test('columns stay aligned in any script, and optional columns are left out first', () => {
  const columns: readonly TableColumn[] = [
    { title: 'Id', unbroken: true },
    { title: 'Name' },
    { title: 'Optional', optional: true },
  ];
  const rows = [
    ['C-1', '株式会社ハーバーライト', 'x'.repeat(12)],
    ['C-2', 'Ähre', 'x'],
  ];
  expect(formatTable(capturedStream(24), columns, rows)).not.toContain('Optional');
  const wide = formatTable(capturedStream(80), columns, rows).split('\n').map(stripVTControlCharacters);
  const starts = wide.slice(1).map((line) => widthOf(line.slice(0, line.indexOf('x'))));
  expect(new Set(starts).size).toBe(1);
});

test('a long id is printed in full in 80 columns, and other columns get narrower', () => {
  const columns: readonly TableColumn[] = [
    { title: 'Migration', unbroken: true },
    ...['State', 'Step', 'Waiting for'].map((title) => ({ title })),
    ...['Done', 'Failed'].map((title) => ({ title, align: 'right' as const })),
    { title: 'Started', optional: true },
  ];
  const id = 'swept-terminated.quickbooks-online-x';
  const row = [id, 'terminated', 'migrate-first-company', 'client and support', '150/150', '6', '2026-11-21 17:00:00'];
  const lines = stripVTControlCharacters(formatTable(capturedStream(80), columns, [row])).split('\n');
  expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  expect(lines.join('\n')).toContain(id);
  expect(lines[0]).not.toContain('Started');
});

const LIST: readonly TableColumn[] = [
  { title: 'Migration', unbroken: true },
  ...['State', 'Step', 'Waiting for'].map((title) => ({ title })),
  ...['Done', 'Open', 'Not moved'].map((title) => ({ title, align: 'right' as const })),
  { title: 'Started', optional: true },
];

const STARTED = 'Sat 21 Nov 2026, 14:05 UTC';

/**
 * Prints a row under the columns of `LIST`, and returns the output and its words. A word that the table has broken at a
 * hyphen counts as two words.
 */
function printed(width: number, row: readonly string[]): { readonly text: string; readonly words: readonly string[] } {
  const stdout = capturedStream(width);
  new Output({ stdout, stderr: stdout }, false).table(LIST, [row]);
  const text = stripVTControlCharacters(stdout.text);
  return { text, words: text.split(/\s+/) };
}

test.each(['completed', 'terminated', 'abandoned', 'cancelled'])(
  'in 80 columns, the state %s and the step are not cut, and a line says how to see the column that was left out',
  (state) => {
    const row = ['acme.quickbooks-online', state, 'complete-migration', 'client and support', '2300/2500', '200', '17'];
    const { text, words } = printed(80, [...row, STARTED]);
    for (const word of [state, 'complete-', 'migration', '2300/2500', 'support']) expect(words).toContain(word);
    expect(text).not.toContain('…');
    const [, needed] = /To see "Started", make the terminal at least (\d+) columns wide\.\n$/.exec(text) ?? [];
    expect(printed(Number(needed), [...row, STARTED]).words).toContain('14:05');
    expect(printed(Number(needed) - 1, [...row, STARTED]).words).not.toContain('14:05');
  },
);

test('nothing is said about a column that was left out if it has no values', () => {
  const row = ['acme.quickbooks-online', 'completed', 'complete-migration', 'client', '2300/2500', '200', '17', ''];
  expect(printed(80, row).text).not.toContain('To see');
});

test('a word that is wider than its column is broken, not cut', () => {
  const { text } = printed(60, [`${'x'.repeat(20)}.acme`, 'terminated', 'complete-migration', 'client', '1', '1', '1']);
  expect(text).not.toContain('…');
  expect(text).toMatch(/termina.*\n.*ted/);
});

test('a terminal that is too narrow for the approvals says how wide it must be', () => {
  const approvals = [
    { by: 'Cleo', role: 'client' },
    { by: 'Sam', role: 'support' },
  ];
  const times = { openedAt: '2026-03-02T20:00:00.000Z', endedAt: '2026-03-02T21:00:00.000Z' };
  const steps = (width: number): string => {
    const stdout = capturedStream(width);
    const row = { number: 3, title: 'Update the application', state: 'done' as const, approvals, ...times };
    printSteps(new Output({ stdout, stderr: stdout }, false), [row], false);
    return stripVTControlCharacters(stdout.text);
  };
  const [, width] = /To see "Decided by", make the terminal at least (\d+) columns wide\.\n$/.exec(steps(80)) ?? [];
  expect(steps(Number(width))).toContain('Cleo (client), Sam (support)');
  expect(steps(Number(width))).not.toContain('To see');
});
