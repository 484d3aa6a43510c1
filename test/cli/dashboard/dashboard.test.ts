/** Tests `ferry desk` in a pseudo-terminal of 80 columns and 24 lines. */
import { ferry } from '../captured-terminal';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startRelay } from '../terminal/tcp-relay';
import { KEY, STYLING, startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';
import { blank, withoutTimes } from './screens';

const orchestrator = useOrchestratorWithWorker();
let quay: TestMigration;
let slip: TestMigration;
let dock: TestMigration;
let session: TerminalSession | undefined;

beforeAll(async () => {
  // quay is waiting for support to accept its details, slip for the client to approve the start, dock for the sign-off.
  quay = await startTestMigration(orchestrator, 'quay', ['sbx-ok-1.quay']);
  slip = await startTestMigration(orchestrator, 'slip', ['sbx-ok-1.slip', 'sbx-ok-1.slip-2']);
  await slip.until(({ preflight }) => preflight !== null);
  await slip.send('approve', { step: 'supply-details', ...SUPPORT });
  await slip.send('proposeTime', { startAt: '2030-03-01T20:00:00.000Z', ...SUPPORT });
  await slip.send('approve', { step: 'schedule', ...SUPPORT });
  dock = await startTestMigration(orchestrator, 'dock', ['sbx-ok-1.dock', 'sbx-revoked.dock', 'sbx-expired.dock']);
  await dock.readyToComplete();
  await dock.until(({ counts, state }) => counts.failed === 2 && state === 'waiting');
});
afterEach(() => session?.close());

function openDashboard(env: NodeJS.ProcessEnv = {}, columns = 80, rows = 24): TerminalSession {
  session = startTerminalSession(['desk', '--by', 'Sam'], { ...orchestrator.env, ...env }, columns, rows);
  return session;
}

const KEYS = '↑↓ select  Enter open  a approve  x reject  p pause  r retry  ? help  q quit';

async function select(screen: TerminalSession, migrationId: string): Promise<void> {
  await screen.waitFor(migrationId);
  screen.type(KEY.home);
  const at = screen.lines().findIndex((line) => line.slice(2).startsWith(migrationId));
  screen.type(KEY.down.repeat(at - FIRST_ROW));
  await screen.waitFor(`▸ ${migrationId}`);
}

/** The line of the first migration, below the heading, the connection error and the column titles. */
const FIRST_ROW = 3;

/**
 * Accepts the proposed role and name in a dialog, gives a reason, and confirms the decision.
 *
 * @param consequence the text above the question
 */
async function decide(screen: TerminalSession, reason = '', consequence = ''): Promise<void> {
  await screen.waitFor('whose decision is it?');
  screen.type(KEY.enter);
  await screen.waitFor('What is the name of the person who decides? (Sam)');
  screen.type(KEY.enter);
  await screen.waitFor('Why?');
  screen.type(reason + KEY.enter);
  await screen.waitFor('(y/N)');
  await screen.waitFor(consequence);
  screen.type(`y${KEY.enter}`);
}

test('the list shows step, who has to act, companies moved and exceptions of every open migration', async () => {
  const screen = openDashboard();
  await screen.waitFor(/dock\S+ +6\/6 both \d+s .* 1\/3 .* 2\n/);
  await screen.waitFor(/sign off the handover/);
  expect(withoutTimes(screen)).toEqual([
    'Ferry dashboard  3 open: support 2, running 0, client 1                 hh:mm:ss',
    '',
    '  Migration              Step Waiting for             Moved  /min      Ends Exc.',
    '▸ dock.quickbooks-online  6/6 both ... ███░░░░░░░   1/3                    2',
    '  quay.quickbooks-online  1/6 support ... ░░░░░░░░░░   0/1',
    '  slip.quickbooks-online  2/6 client ... ░░░░░░░░░░   0/2        Mar 2030',
    ...blank(15),
    'dock.quickbooks-online: support and client: sign off the handover',
    '',
    KEYS,
  ]);
});

test('the page of a migration shows its steps, companies, decisions and exceptions', async () => {
  const screen = openDashboard();
  await select(screen, dock.id);
  screen.type(KEY.enter);
  await screen.waitFor('Exceptions: 2');
  const page = withoutTimes(screen);
  expect(page.slice(0, 17)).toEqual([
    'dock.quickbooks-online  QuickBooks Online                               hh:mm:ss',
    '',
    'step 6 of 6, complete the migration',
    'Waiting for support and client since hh:mm (...): sign off the handover',
    '',
    '██████░░░░░░░░░░░░░░ 1 of 3 companies moved',
    '0 moving, 0 not moved yet, 2 must reconnect, 0 not moved, 0 left out',
    '',
    '✓ 1 Supply details            done hh:mm            Sam (support)',
    '✓ 2 Schedule the migration    done hh:mm            Sam (support), Cleo (client)',
    '✓ 3 Update the application    done hh:mm            Cleo (client), Sam (support)',
    '✓ 4 Disable data syncing      done hh:mm            Cleo (client)',
    '✓ 5 Migrate the first company done hh:mm            Sam (support)',
    '● 6 Complete the migration    open since hh:mm',
    '',
    'Latest decisions',
    '✓ hh:mm Sam (support) approve the first company',
  ]);
  expect(page).toContainEqual(expect.stringMatching(/^▸ R-2 +Company 2: /));
  screen.type(KEY.down);
  await screen.waitFor(/▸ R-3 +Company 3: /);
  screen.type(KEY.enter);
  await screen.waitFor(/in full[^]*R-3 Company 3: must reconnect[^]*↑↓ scroll/);
  screen.type(KEY.escape);
  await screen.waitFor(/▸ R-3 +Company 3: /);
  screen.type(KEY.escape);
  await screen.waitFor('Ferry dashboard  3 open');
});

test('the screen follows the size of the terminal, and reports a terminal that is too small', async () => {
  const screen = openDashboard();
  await screen.waitFor('slip.quickbooks-online');
  screen.resize(120, 40);
  await screen.waitFor(/░{24} +0\/1/);
  expect(screen.lines()[39]).toBe(KEYS);
  screen.resize(50, 10);
  await screen.waitFor('The dashboard needs at least 76 columns');
});

test('a dialog shows the review, asks who decides and why, and shows the result', async () => {
  const screen = openDashboard();
  await select(screen, quay.id);
  await screen.waitFor('support: accept the supplied details');
  screen.type('a');
  await screen.waitFor(/Supply details, quay\.quickbooks-online\n +1 company, supplied by Sam/);
  await decide(screen, 'looks good');
  await screen.waitFor('✓ quay.quickbooks-online: step 1 (supply details) approved by support');
  await screen.waitFor(/quay\S+ +2\/6 both/);
  const { out } = await ferry(['audit', quay.id], undefined, orchestrator.env);
  expect(out).toMatch(/Sam \(support\) +approve step 1 \(supply details\) \(looks good\)/);
});

test('an approval that nobody can make yet is refused without a question', async () => {
  const screen = openDashboard();
  await select(screen, quay.id);
  screen.type('a');
  await screen.waitFor('✗ there is no start time to approve; propose one first');
});

test('a dialog shows the reason for a refusal, and is cancelled with Esc', async () => {
  const screen = openDashboard();
  await select(screen, slip.id);
  screen.type('a');
  await decide(screen);
  await screen.waitFor('✗ refused: slip.quickbooks-online: ');
  screen.type('x');
  await screen.waitFor('whose decision is it?');
  screen.type(KEY.escape);
  await screen.waitFor('Nothing was decided.');
});

test('the title of a dialog and its questions stay on a screen of 24 lines, however long its text is', async () => {
  const reason = 'the platform refuses the grant, and its support has to look at the account; '.repeat(20);
  for (const row of [2, 3]) await updateRow(orchestrator.ferry.db, dock.id, row, { failure_text: reason });
  const screen = openDashboard();
  await select(screen, dock.id);
  await screen.waitFor(/sign off the handover/);
  for (const [key, verb, question] of [
    ['a', 'Approve', 'dock.quickbooks-online, 3 companies: approve complete-migration? (y/N)'],
    ['x', 'Reject', 'dock.quickbooks-online, 3 companies: reject complete-migration? (y/N)'],
  ] as const) {
    screen.type(key);
    await screen.waitFor(`${verb}: whose decision is it?`);
    expect(screen.lines()[0]).toBe('Complete the migration, dock.quickbooks-online');
    const note = screen.lines().join(' ').replace(/ +/g, ' ');
    expect(note).toMatch(
      /… \(\d+ more lines; to read them all, run in another terminal: ferry report dock.quickbooks-online\)/,
    );
    screen.type(KEY.enter);
    await screen.waitFor('What is the name of the person who decides? (Sam)');
    screen.type(KEY.enter);
    await screen.waitFor('Why?');
    screen.type(`${'a long reason '.repeat(10)}${KEY.enter}`);
    await screen.waitFor(question);
    expect(screen.lines()[0]).toBe('Complete the migration, dock.quickbooks-online');
    screen.type(KEY.escape);
    await screen.waitFor('Nothing was decided.');
  }
  await dock.send('pause', { reason: `on support's side: ${reason}`, ...SUPPORT });
  await dock.send('pause', { reason: `on the client's side: ${reason}`, ...CLIENT });
  await screen.waitFor('p resume');
  screen.type('p');
  await screen.waitFor('whose decision is it?');
  expect(screen.lines()[0]).toMatch(/^Paused by (Sam|Cleo) /);
  await decide(screen);
  await screen.waitFor(/dock\S+ +6\/6 both/);
});

/** Opens the page of the migration, and asks to retry the selected company, R-2. */
async function retrySelected(): Promise<ReturnType<typeof openDashboard>> {
  const screen = openDashboard();
  await select(screen, dock.id);
  screen.type(KEY.enter);
  await screen.waitFor(/▸ R-2/);
  screen.type('r');
  await screen.waitFor('Which companies?');
  screen.type(KEY.enter);
  return screen;
}

test('r refuses a company that a retry cannot help, and says which sign-off a retry withdraws', async () => {
  const { db } = orchestrator.ferry;
  await updateRow(db, dock.id, 2, { crossed_at: new Date(), link_url: 'https://link.example/2' });
  await dock.send('approve', { step: 'complete-migration', ...SUPPORT });
  const screen = await retrySelected();
  await screen.waitFor('retry does not apply to R-2 (must reconnect)');
  await updateRow(db, dock.id, 2, { crossed_at: null });
  screen.type('r');
  await screen.waitFor('Which companies?');
  screen.type(KEY.enter);
  await decide(screen, '', 'This decision withdraws the sign-off of Sam (support)');
  await screen.waitFor(/1 company will be tried again; this withdraws/);
  await dock.until(({ counts, state }) => counts.failed === 2 && state === 'waiting');
});

test('r retries the selected exception', async () => {
  const screen = await retrySelected();
  await decide(screen);
  await screen.waitFor(/✓ dock.quickbooks-online: .*1 company/);
});

test('p pauses a migration, and resumes a paused migration', async () => {
  const screen = openDashboard();
  await select(screen, slip.id);
  screen.type('p');
  await decide(screen, 'tea');
  await screen.waitFor(/slip\S+ +2\/6 paused/);
  await screen.waitFor('p resume');
  screen.type('p');
  await screen.waitFor('whose decision is it?');
  await decide(screen);
  await screen.waitFor(/slip\S+ +2\/6 client/);
});

test('the screen shows the time of its data while Temporal is down, and recovers automatically', async () => {
  const relay = await startRelay(orchestrator.config.temporal.address);
  const screen = openDashboard({ TEMPORAL_ADDRESS: relay.address });
  await screen.waitFor('slip.quickbooks-online');
  await relay.cut();
  await screen.waitFor(/last read at \d\d:\d\d:\d\d; cannot read from Temporal; retrying automatically/);
  await screen.waitFor('slip.quickbooks-online');
  await relay.restore();
  await until(() => !screen.text().includes('cannot reach'));
  screen.type('q');
  expect(await screen.ended).toBe(0);
  await relay.cut();
});

test.each([
  ['q', (screen: TerminalSession) => screen.type('q')],
  ['Ctrl-C', (screen: TerminalSession) => screen.type(KEY.ctrlC)],
  ['SIGTERM', (screen: TerminalSession) => screen.signal('SIGTERM')],
  [
    'SIGTERM during a dialog',
    (screen: TerminalSession) => {
      screen.type('p');
      void screen.waitFor('whose decision is it?').then(() => screen.signal('SIGTERM'));
    },
  ],
])('the terminal is restored after %s', async (_, end) => {
  const screen = openDashboard();
  await screen.waitFor('slip.quickbooks-online');
  expect(screen.isRestored()).toBe(false);
  end(screen);
  expect(await screen.ended).toBe(0);
  expect(screen.isRestored()).toBe(true);
  expect(screen.text()).not.toContain('Ferry dashboard');
});

test('colours are used unless NO_COLOR is set', async () => {
  const coloured = openDashboard();
  await coloured.waitFor('slip.quickbooks-online');
  expect(coloured.sent()).toMatch(STYLING);
  coloured.close();
  const plain = openDashboard({ NO_COLOR: '1' });
  await plain.waitFor(/▸ \S+quickbooks-online/);
  expect(plain.sent()).not.toMatch(STYLING);
});

test('desk fails without a terminal, and names the command to use instead', async () => {
  const { exitCode, out, err } = await ferry(['desk'], undefined, orchestrator.env);
  expect({ exitCode, out, err }).toEqual({
    exitCode: 1,
    out: '',
    err: 'ferry: the dashboard needs a terminal that can position the cursor; use this instead: ferry list\n',
  });
});
