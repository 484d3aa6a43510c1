/** The desk as somebody sees it who sits at a terminal of 80 columns and 24 lines. */
import { ferry } from '../captured-terminal';
import type { Started } from '../../workflows/running-migration';
import { started, SUPPORT } from '../../workflows/running-migration';
import { until } from '../../support/conditions';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import { relayTo } from '../terminal/tcp-relay';
import type { Seat } from '../terminal/pseudo-terminal';
import { KEY, STYLING, takeSeat } from '../terminal/pseudo-terminal';

let orchestrator: Orchestrator;
let quay: Started;
let slip: Started;
let dock: Started;
let seat: Seat | undefined;

beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  // One that waits for support to accept its details, one for both to approve its start, one for companies that failed.
  quay = await started(orchestrator, 'quay', ['sbx-ok-1.quay']);
  slip = await started(orchestrator, 'slip', ['sbx-ok-1.slip', 'sbx-ok-1.slip-2']);
  await slip.until(({ preflight }) => preflight !== null);
  await slip.send('approve', { step: 'supply-details', ...SUPPORT });
  await slip.send('proposeTime', { startAt: '2030-03-01T20:00:00.000Z', ...SUPPORT });
  await slip.send('approve', { step: 'schedule', ...SUPPORT });
  dock = await started(orchestrator, 'dock', ['sbx-ok-1.dock', 'sbx-revoked.dock', 'sbx-expired.dock']);
  await dock.readyToMove();
  await dock.until(({ firstCompany }) => firstCompany?.stage === 'proven');
  await dock.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await dock.until(({ counts, state }) => counts.failed === 2 && state === 'waiting');
}, 120_000);
afterEach(() => seat?.close());
afterAll(() => orchestrator.close());

function sit(env: NodeJS.ProcessEnv = {}, columns = 80, rows = 24): Seat {
  seat = takeSeat(['desk', '--by', 'Sam'], { ...orchestrator.env, ...env }, columns, rows);
  return seat;
}

/** The screen without what the clock moves. */
function still(seat: Seat): readonly string[] {
  return seat.lines().map((line) =>
    line
      .replace(/\d\d:\d\d:\d\d$/, 'hh:mm:ss')
      .replace(/\b(support|client|both|paused) \d+[smh] */g, '$1 ... ')
      .replace(/\b\d\d:\d\d\b/g, 'hh:mm')
      .replace(/\(\d+[smh]\)/g, '(...)'),
  );
}

const blank = (lines: number): readonly string[] => Array.from({ length: lines }, () => '');
const KEYS = '↑↓ select  Enter open  a approve  x reject  p pause  r retry  ? help  q quit';

/** Selects a migration, wherever it stands in the list. */
async function select(desk: Seat, migrationId: string): Promise<void> {
  await desk.sees(migrationId);
  desk.type(KEY.home);
  const at = desk.lines().findIndex((line) => line.slice(2).startsWith(migrationId));
  desk.type(KEY.down.repeat(at - FIRST_ROW));
  await desk.sees(`▸ ${migrationId}`);
}

/** Below the head, what does not answer, and the titles. */
const FIRST_ROW = 3;

/** Answers the questions of a decision by what is proposed, and the last one with yes. */
async function decide(desk: Seat, reason = ''): Promise<void> {
  await desk.sees('Whose decision is it?');
  desk.type(KEY.enter);
  await desk.sees('Who decides? (Sam)');
  desk.type(KEY.enter);
  await desk.sees('Why?');
  desk.type(reason + KEY.enter);
  await desk.sees('(y/N)');
  desk.type(`y${KEY.enter}`);
}

test('every open migration has a line: step, who is waited for, companies done, exceptions', async () => {
  const desk = sit();
  await desk.sees(/dock\S+ +6\/6 both \d+s .* 3\/3 .* 2\n/);
  await desk.sees(/sign off the handover/);
  expect(still(desk)).toEqual([
    'Ferry desk  3 open: 2 for support, 0 at work, 1 for the client          hh:mm:ss',
    '',
    '  Migration              Step Waits for                Done  /min      Ends Exc.',
    '▸ dock.quickbooks-online  6/6 both ... ████████████  3/3                    2',
    '  quay.quickbooks-online  1/6 support ... ░░░░░░░░░░░░  0/1',
    '  slip.quickbooks-online  2/6 client ... ░░░░░░░░░░░░  0/2        Mar 2030',
    ...blank(15),
    'dock.quickbooks-online: support and client: sign off the handover',
    '',
    KEYS,
  ]);
});

test('a migration has a page: steps, companies, decisions, exceptions and what happened to each', async () => {
  const desk = sit();
  await select(desk, dock.id);
  desk.type(KEY.enter);
  await desk.sees('Exceptions: 2');
  const opened = still(desk);
  expect(opened.slice(0, 17)).toEqual([
    'dock.quickbooks-online  QuickBooks Online                               hh:mm:ss',
    '',
    'step 6 of 6, complete the migration',
    'Waiting for support and client since hh:mm (...): sign off the handover',
    '',
    '████████████████████ 3 of 3 companies done',
    '1 moved, 0 under way, 0 waiting, 2 failed, 0 left out',
    '',
    '✓ 1 Supply details            done hh:mm            Sam (support)',
    '✓ 2 Schedule the migration    done hh:mm            Sam (support), Cleo (client)',
    '✓ 3 Update the application    done hh:mm            Cleo (client), Sam (support)',
    '✓ 4 Disable data syncing      done hh:mm',
    '✓ 5 Migrate the first company done hh:mm            Sam (support)',
    '● 6 Complete the migration    open since hh:mm',
    '',
    'Last decisions',
    '✓ hh:mm Sam (support) approve migrate-first-company',
  ]);
  expect(opened).toContainEqual(expect.stringMatching(/^▸ R-2 +Company 2: /));
  desk.type(KEY.down);
  await desk.sees(/▸ R-3 +Company 3: /);
  desk.type(KEY.escape);
  await desk.sees('Ferry desk  3 open');
});

test('a larger terminal is used, also when it becomes larger; one that is too small is told so', async () => {
  const desk = sit();
  await desk.sees('slip.quickbooks-online');
  desk.resize(120, 40);
  await desk.sees(/░{24} +0\/1/);
  expect(desk.lines()[39]).toBe(KEYS);
  desk.resize(50, 10);
  await desk.sees('The desk needs a terminal of 76 columns');
});

test('a decision shows what it is about, asks who and why, and what became of it is said', async () => {
  const desk = sit();
  await select(desk, quay.id);
  await desk.sees('support: accept the supplied details');
  desk.type('a');
  await desk.sees(/Supply details, quay\.quickbooks-online\n +1 company, supplied by Sam/);
  await decide(desk, 'looks good');
  await desk.sees('✓ quay.quickbooks-online: supply-details approved by support');
  await desk.sees(/quay\S+ +2\/6 both/);
  const { out } = await ferry(['audit', quay.id], undefined, orchestrator.env);
  expect(out).toMatch(/Sam \(support\) +approve supply-details \(looks good\)/);
});

test('a refusal is said with its reason, and Esc at any question is no decision', async () => {
  const desk = sit();
  await select(desk, slip.id);
  desk.type('a');
  await decide(desk);
  await desk.sees('✗ refused: slip.quickbooks-online: ');
  desk.type('x');
  await desk.sees('Whose decision is it?');
  desk.type(KEY.escape);
  await desk.sees('Nothing was decided.');
});

test('the exception that is looked at can be tried again', async () => {
  const desk = sit();
  await select(desk, dock.id);
  desk.type(KEY.enter);
  await desk.sees(/▸ R-2/);
  desk.type('r');
  await desk.sees('Which?');
  desk.type(KEY.enter);
  await decide(desk);
  await desk.sees(/✓ dock.quickbooks-online: .*1 company/);
});

test('p pauses, and resumes what is paused', async () => {
  const desk = sit();
  await select(desk, slip.id);
  desk.type('p');
  await decide(desk, 'tea');
  await desk.sees(/slip\S+ +2\/6 paused/);
  await desk.sees('p resume');
  desk.type('p');
  await desk.sees('Whose decision is it?');
  await decide(desk);
  await desk.sees(/slip\S+ +2\/6 client/);
});

test('while Temporal is away it says since when it is old, and goes on by itself', async () => {
  const relay = await relayTo(orchestrator.config.temporal.address);
  const desk = sit({ TEMPORAL_ADDRESS: relay.address });
  await desk.sees('slip.quickbooks-online');
  await relay.cut();
  await desk.sees(/as of \d\d:\d\d:\d\d: Temporal does not answer; tried again by itself/);
  await desk.sees('slip.quickbooks-online');
  await relay.restore();
  await until(() => !desk.text().includes('does not answer'), 30_000);
  desk.type('q');
  expect(await desk.ended).toBe(0);
  await relay.cut();
});

test.each([
  ['q', (desk: Seat) => desk.type('q')],
  ['Ctrl-C', (desk: Seat) => desk.type(KEY.ctrlC)],
  ['being asked to end', (desk: Seat) => desk.signal('SIGTERM')],
  [
    'being asked to end while it asks',
    (desk: Seat) => {
      desk.type('p');
      void desk.sees('Whose decision is it?').then(() => desk.signal('SIGTERM'));
    },
  ],
])('after %s the terminal is as it was', async (_, end) => {
  const desk = sit();
  await desk.sees('slip.quickbooks-online');
  expect(desk.isClean()).toBe(false);
  end(desk);
  expect(await desk.ended).toBe(0);
  expect(desk.isClean()).toBe(true);
  expect(desk.text()).not.toContain('Ferry desk');
});

test('colours are shown, and with NO_COLOR none', async () => {
  const coloured = sit();
  await coloured.sees('slip.quickbooks-online');
  expect(coloured.sent()).toMatch(STYLING);
  coloured.close();
  const plain = sit({ NO_COLOR: '1' });
  await plain.sees(/▸ \S+quickbooks-online/);
  expect(plain.sent()).not.toMatch(STYLING);
});

test('where there is no terminal it says what to use instead', async () => {
  const { exitCode, out, err } = await ferry(['desk'], undefined, orchestrator.env);
  expect({ exitCode, out, err }).toEqual({
    exitCode: 1,
    out: '',
    err: 'ferry: the desk needs a terminal; where there is none, use: ferry list --json\n',
  });
});
