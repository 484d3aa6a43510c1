/** What a client sees who opens the link: Temporal's own Web UI in a real browser. */
import { batchRunIdOf, scheduleIdOf } from '../../../domain/migration/plan';
import type { Started } from '../../workflows/running-migration';
import { adjusted, CLIENT, closedNow, started, SUPPORT } from '../../workflows/running-migration';
import { findChromium, keepPicture } from './browser';
import type { TemporalUi } from './temporal-ui';
import { openTemporalUi } from './temporal-ui';

const chromium = findChromium();
if (chromium === undefined && process.env['CI']) throw new Error('no Chromium: install it, or set TOKENFERRY_CHROMIUM');
/** Where there is no browser, nothing can be looked at. */
const look = chromium === undefined ? test.skip : test;

/** Never on a page that a client reads. */
const INNER_WORDS = /ledger|slice|vault|crossing|digest|PendingAuth|undefined|null|NaN/i;

const REVOKED = 'sbx-revoked.ui';
const TOKENS = [...Array.from({ length: 6 }, (_, index) => `sbx-ok-1.ui${index}`), REVOKED];
/** Syncs until it is let go, so that there is something to look at meanwhile. */
const SLOW = 'Company 6';

const STEP_6 = 'complete-migration';

let ui: TemporalUi;
let migration: Started;

beforeAll(async () => {
  if (chromium === undefined) return;
  ui = await openTemporalUi(chromium);
  migration = await started(ui.orchestrator, 'acme', TOKENS, 1);
}, 120_000);
afterAll(() => ui?.close());

async function details(id: string, says: string, picture?: string): Promise<string> {
  const text = await ui.details(id, says);
  expect(text).not.toMatch(INNER_WORDS);
  // Beside it stand the names of everything that was done.
  expect(await ui.page.getByRole('main').innerText()).not.toMatch(INNER_WORDS);
  if (picture !== undefined) await keepPicture(ui.page, picture);
  return text;
}

look(
  'the client reads what it has to do, since when and how, and finds the three answers',
  async () => {
    await migration.until(({ preflight }) => preflight !== null);
    await migration.send('approve', { step: 'supply-details', ...SUPPORT });
    await migration.send('proposeTime', { startAt: new Date().toISOString(), ...SUPPORT });
    await migration.send('approve', { step: 'schedule', ...SUPPORT });
    const text = await details(migration.id, 'step 2 of 6', 'waiting-for-the-client');
    expect(text).toMatch(/Waiting for: client, since \d{4}-\d\d-\d\d \d\d:\d\d UTC/);
    expect(text).toMatch(/What to do: approve the start at /);
    expect(text).toContain(`ferry show ${migration.id}`);
    for (const question of ['Whom to call:', 'What may be switched on again:', 'How long data is stale:']) {
      expect(text).toContain(question);
    }
    // The last line too: the UI cuts off what is at the very end.
    expect(text).toMatch(/How long data is stale: from the moment/);
  },
  120_000,
);

look(
  'the list shows at a glance how far each migration is',
  async () => {
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
  },
  120_000,
);

look(
  'while a batch is under way: how many are moved and moving, on the page of the migration and on that of the run',
  async () => {
    const { id, send } = migration;
    await send('approve', { step: 'schedule', ...CLIENT });
    await send('approve', { step: 'update-application', ...CLIENT });
    await send('approve', { step: 'update-application', ...SUPPORT });
    await send('confirmSyncDisabled', { companies: 'all', ...CLIENT });
    for (const [index, token] of TOKENS.entries())
      if (token !== REVOKED) await migration.supply(`R-${index + 1}`, token);
    await send('credentialsSupplied', { companies: TOKENS.length - 1, ...CLIENT });
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'proven');
    ui.holdSyncOf(SLOW);
    await send('adjust', { limits: { toleratedFailures: 0 }, ...SUPPORT });
    await send('approve', { step: 'migrate-first-company', ...SUPPORT });
    const text = await details(id, 'moving: 1', 'batch-under-way');
    expect(text).toContain('Waiting for: nobody; the remaining companies are being moved');
    // The one that syncs is left by the ramp to the run after it, which shows it although it moves nothing itself.
    const run = await details(batchRunIdOf(id), 'moving: 1', 'batch-run');
    expect(run).toContain(`Batch run 2 of ${id}`);
    expect(run).toContain('companies may be started at any time');
  },
  120_000,
);

look(
  'events have names in plain words',
  async () => {
    await ui.open(`workflows/${migration.id}`);
    for (const words of ['Check the supplied details', 'Until a reminder is due', 'Choose the first company']) {
      await ui.page.getByText(words).first().waitFor();
    }
    await keepPicture(ui.page, 'history');
  },
  120_000,
);

look(
  'paused with exceptions: why, who has to look, and who must reconnect',
  async () => {
    await migration.supply('R-7', REVOKED);
    await migration.send('credentialsSupplied', { companies: 1, ...CLIENT });
    const text = await details(migration.id, '(paused)', 'paused-with-exceptions');
    expect(text).toMatch(/Waiting for: support, since /);
    expect(text).toContain('What to do: paused: ');
    expect(text).toContain('must reconnect: 1');
    expect(text).toContain('not moved, to be looked at: 0');
  },
  120_000,
);

look(
  'waiting for the sign-off of both',
  async () => {
    ui.letGo();
    await migration.send('resume', SUPPORT);
    await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);
    const text = await details(migration.id, 'sign off the handover', 'waiting-for-sign-off');
    expect(text).toContain('Waiting for: support and client, since ');
    expect(text).toContain('must reconnect: 1');
  },
  120_000,
);

look(
  'done: what must stay off, and whose data is up to date',
  async () => {
    await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
    await migration.send('approve', { step: 'complete-migration', ...CLIENT });
    const text = await details(migration.id, 'QuickBooks Online: completed', 'done');
    expect(text).toContain('What may be switched on again: what the handover report says of each company.');
    expect(text).toContain('How long data is stale: no longer');
  },
  120_000,
);

look(
  'the page of the schedule shows when the next windows open',
  async () => {
    const windowed = await started(ui.orchestrator, 'windowed', ['sbx-ok-1.win1', 'sbx-ok-1.win2']);
    await windowed.readyToMove();
    await windowed.until(({ firstCompany }) => firstCompany?.stage === 'proven');
    await windowed.send('adjust', adjusted(closedNow()));
    await windowed.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    const { opening } = await windowed.until((progress) => progress.opening !== null && progress.step === STEP_6);
    await ui.open(`schedules/${scheduleIdOf(windowed.id)}`);
    await ui.page.getByText('Upcoming Runs').first().waitFor();
    await ui.page
      .getByText(`${opening?.opensAt.slice(0, 10)} UTC 12:00`)
      .first()
      .waitFor();
    await keepPicture(ui.page, 'schedule');
  },
  120_000,
);

look(
  'without the codec server nothing that is encrypted can be read',
  async () => {
    await ui.stopCodec();
    await ui.open(`workflows/${migration.id}`);
    const { page } = ui;
    await page.getByText(migration.id).first().waitFor();
    await page.getByRole('tab', { name: 'User Metadata' }).click();
    await page.getByText('Events with Metadata').waitFor();
    for (const frame of page.frames()) {
      expect(await frame.locator('body').innerText()).not.toMatch(/the solutions team|7 companies|Check the supplied/);
    }
  },
  120_000,
);
