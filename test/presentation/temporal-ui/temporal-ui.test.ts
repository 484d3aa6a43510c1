/** Tests the pages that a client opens: Temporal's Web UI in a real browser. */
import { batchRunIdOf, scheduleIdOf } from '../../../domain/migration/temporal-names';
import {
  windowChange,
  CLIENT,
  closedWindows,
  startTestMigration,
  SUPPORT,
  type TestMigration,
} from '../../workflows/running-migration';
import { ferry } from '../../cli/captured-terminal';
import { findChromium, keepPicture } from './browser';
import { openTemporalUi, type TemporalUi } from './temporal-ui';

const chromium = findChromium();
if (chromium === undefined && process.env['CI']) throw new Error('no Chromium: install it, or set TOKENFERRY_CHROMIUM');
/** A test that is skipped on machines without a browser. */
const uiTest = chromium === undefined ? test.skip : test;

/** Words that must not be on a page that a client reads. */
const INTERNAL_WORDS = /ledger|slice|vault|crossing|digest|PendingAuth|undefined|null|NaN/i;

const REVOKED = 'sbx-revoked.ui';
const TOKENS = [...Array.from({ length: 6 }, (_, index) => `sbx-ok-1.ui${index}`), REVOKED];
/** A company that keeps syncing until the test has read the page. */
const SLOW = 'Company 6';

const STEP_6 = 'complete-migration';

/** The buttons that Temporal's UI shows to people who may write. */
const ACTIONS = /Request Cancellation|More Actions|Start Workflow/;

let ui: TemporalUi;
let migration: TestMigration;

beforeAll(async () => {
  if (chromium === undefined) return;
  ui = await openTemporalUi(chromium);
  migration = await startTestMigration(ui.orchestrator, 'acme', TOKENS, 1);
});
afterAll(() => ui?.close());

async function details(id: string, contained: string, picture?: string): Promise<string> {
  const text = await ui.details(id, contained);
  expect(text).not.toMatch(INTERNAL_WORDS);
  // The main part of the page also shows the summaries of all events.
  expect(await ui.page.getByRole('main').innerText()).not.toMatch(INTERNAL_WORDS);
  if (picture !== undefined) await keepPicture(ui.page, picture);
  return text;
}

uiTest('the page of a migration shows what to do, since when and how, and answers the three questions', async () => {
  await migration.until(({ preflight }) => preflight !== null);
  await migration.send('approve', { step: 'supply-details', ...SUPPORT });
  await migration.send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
  await migration.send('approve', { step: 'schedule', ...SUPPORT });
  const text = await details(migration.id, 'Please approve the start', 'waiting-for-the-client');
  expect(text).toMatch(/Waiting for: client, since \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
  expect(text).toContain('What to do: approve the start, which is as soon as everything is ready');
  expect(text).toContain('who will record your decision');
  for (const question of ['Who to call:', 'What may be switched back on:', 'How long data is out of date:']) {
    expect(text).toContain(question);
  }
  // The last line of the text must be complete. The UI cuts off the end of a page, so the page ends with empty lines.
  expect(text).toMatch(
    /How long data is out of date: for each company, from the moment syncing is disabled until it has been moved/,
  );
});

uiTest.each([1_440, 1_024, 390])(
  'the printed link opens the page of the migration without write actions, %i px wide',
  async (width) => {
    const { page, orchestrator, clientUiUrl } = ui;
    const env = { ...orchestrator.env, TOKENFERRY_CLIENT_UI_URL: clientUiUrl };
    const { out } = await ferry(['show', migration.id], undefined, env);
    const [, link = ''] = /Client's page: (\S+)/.exec(out) ?? [];
    const original = page.viewportSize();
    await page.setViewportSize({ width, height: 1_000 });
    for (const address of [link, `${clientUiUrl}/m/${migration.id}`]) {
      await page.goto(address);
      await page.getByRole('tab', { name: 'User Metadata', selected: true }).waitFor();
      await page.frameLocator('iframe').last().getByText('Who to call:').waitFor();
      expect(page.url()).toBe(link);
      expect(await page.getByRole('button', { name: ACTIONS }).count()).toBe(0);
      const content = await page.evaluate<number>('document.documentElement.scrollWidth');
      expect(content).toBeLessThanOrEqual(width);
    }
    await ui.open(`workflows/${migration.id}`);
    await page.getByRole('button', { name: ACTIONS }).first().waitFor();
    if (original) await page.setViewportSize(original);
  },
);

uiTest('the list shows the progress of each migration', async () => {
  await ui.open('workflows');
  const { page } = ui;
  await page.getByTestId('workflows-summary-table-configuration-button').click();
  for (const column of ['Run ID', 'Type', 'Start', 'End']) {
    await page.getByTestId(`orderable-list-item-${column}-remove-button`).click();
  }
  for (const column of ['Step', 'State', 'WaitingFor', 'CompaniesDone', 'CompaniesTotal', 'CompaniesFailed']) {
    await page.getByTestId(`orderable-list-item-Ferry${column}-add-button`).click();
  }
  await page.getByTestId('drawer-close-button').click();
  const row = page.getByRole('row', { name: migration.id });
  await row.waitFor();
  expect((await row.innerText()).split(/\s+/)).toEqual(
    expect.arrayContaining(['Running', migration.id, 'schedule', 'waiting', 'client', '0', '7']),
  );
  await keepPicture(page, 'list');
});

uiTest('the pages of a migration and of its batch run show how many companies are moving', async () => {
  const { id, send } = migration;
  await send('approve', { step: 'schedule', ...CLIENT });
  await send('approve', { step: 'update-application', ...CLIENT });
  await send('approve', { step: 'update-application', ...SUPPORT });
  await send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
  for (const [index, token] of TOKENS.entries()) if (token !== REVOKED) await migration.supply(`R-${index + 1}`, token);
  await send('credentialsSupplied', { companies: TOKENS.length - 1, ...CLIENT });
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  ui.holdSyncOf(SLOW);
  await send('adjust', { limits: { toleratedFailures: 0 }, ...SUPPORT });
  await send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const text = await details(id, 'moving: 1', 'batch-under-way');
  expect(text).toContain('companies have moved, 2 to go. Please supply credentials for 1 company (R-7).');
  // One company is still syncing, so the run is in progress and shows the company as moving.
  const run = await details(batchRunIdOf(id), 'moving: 1', 'batch-run');
  expect(run).toContain(`batch run 1 of ${id}`);
  expect(run).toContain('none when this run began: moves could begin at any time');
});

uiTest('the event list names each decision and wait', async () => {
  await ui.open(`workflows/${migration.id}`);
  const waits = ['Check the supplied details', 'Until a reminder is due', 'Choose the first company'];
  for (const summary of [
    ...waits,
    'Cleo (client): approve step 2 (schedule the migration)',
    'Sam (support): adjust the limits',
  ]) {
    await ui.page.getByText(summary).first().waitFor();
  }
  expect(await ui.page.getByRole('main').innerText()).not.toContain('Unspecified');
  await keepPicture(ui.page, 'history');
});

uiTest(
  'the page of a paused migration shows why it is paused, who has to act, and how many must reconnect',
  async () => {
    await migration.supply('R-7', REVOKED);
    await migration.send('credentialsSupplied', { companies: 1, ...CLIENT });
    const text = await details(migration.id, 'Paused: 1 company could not be moved', 'paused-with-exceptions');
    expect(text).toMatch(/Waiting for: support, since /);
    expect(text).toMatch(
      /What support has to do: too many companies could not be moved( \(.*\))?; find out why, then resume; the failures /,
    );
    expect(text).toContain('must reconnect: 1');
    expect(text).not.toContain('not moved: 0');
  },
);

uiTest('the page asks both sides to sign off', async () => {
  ui.releaseSyncs();
  await migration.send('resume', SUPPORT);
  await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);
  const text = await details(migration.id, 'Please sign off the handover', 'waiting-for-sign-off');
  expect(text).toContain('Waiting for: support and client, since ');
  expect(text).toContain('must reconnect: 1');
});

uiTest(
  'the page of a completed migration shows what may be switched back on and when data was brought up to date',
  async () => {
    await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
    await migration.send('approve', { step: 'complete-migration', ...CLIENT });
    await details(migration.id, 'Completed: 6 of 7 companies have moved');
    // The page shows the links once the migration is closed in the ledger.
    const text = await details(migration.id, 'R-7, Company 7: http', 'done');
    expect(text).toContain('Completed: 6 of 7 companies have moved');
    expect(text).toContain('or ask the solutions team for it. It lists every company.');
    expect(text).toContain('What may be switched back on: look up each company in the handover report.');
    expect(text).toContain(
      'How long data is out of date: the data of all companies that were moved was brought up to date',
    );
  },
);

uiTest('the page of a Schedule shows when the next windows open', async () => {
  const windowed = await startTestMigration(ui.orchestrator, 'with-windows', ['sbx-ok-1.win1', 'sbx-ok-1.win2']);
  await windowed.readyToMove();
  await windowed.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await windowed.send('adjust', windowChange(closedWindows()));
  await windowed.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  const { window } = await windowed.until((progress) => progress.window !== null && progress.step === STEP_6);
  await ui.open(`schedules/${scheduleIdOf(windowed.id)}`);
  await ui.page.getByText('Upcoming Runs').first().waitFor();
  await ui.page
    .getByText(`${window?.opensAt.slice(0, 10)} UTC 12:00`)
    .first()
    .waitFor();
  await keepPicture(ui.page, 'schedule');
});

uiTest('the summaries of events are encrypted', async () => {
  const handle = ui.orchestrator.ferry.temporal.workflow.getHandle(migration.id);
  const { events } = await handle.fetchHistory();
  const summaries = (events ?? []).flatMap(({ userMetadata }) => userMetadata?.summary ?? []);
  expect(summaries.length).toBeGreaterThan(10);
  for (const { metadata } of summaries) {
    expect(Buffer.from(metadata?.['encoding'] ?? []).toString()).toBe('binary/encrypted');
  }
});

uiTest('no encrypted text is readable without the codec server', async () => {
  await ui.stopCodec();
  await ui.open(`workflows/${migration.id}`);
  const { page } = ui;
  await page.getByText(migration.id).first().waitFor();
  await page.getByRole('tab', { name: 'User Metadata' }).click();
  await page.getByText('Events with Metadata').waitFor();
  for (const frame of page.frames()) {
    expect(await frame.locator('body').innerText()).not.toMatch(
      /the solutions team|7 companies|Check the supplied|Cleo/,
    );
  }
});
