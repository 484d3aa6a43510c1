/** A client takes a migration of 60 companies through all of its steps in Chromium, while `ferry` acts as support. */
import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import type { BrowserContext, Page } from 'playwright-core';
import { readTrail } from '../../../store';
import { until } from '../../support/async';
import { waitForProgress } from '../../workflows/running-migration';
import { describeWithChromium, newPage, takeErrors } from '../page/browser-page';
import {
  confirmKey,
  COMPANIES,
  credentialFile,
  INCOMPLETE,
  manifestFile,
  openDecision,
  referenceOf,
  send,
  startMigration,
  support,
  useOpenedPortal,
  WRONG_MANIFEST,
} from './people';
import { checkScreens } from './screens';

const CONFIRM = 'Confirm that syncing is off';
const SUPPLY = 'Supply credentials';
const LEFT_OUT = 12;
/** Two end customers must reconnect, and one company has fewer records than expected. */
const TOKENS = { 22: 'sbx-revoked', 31: 'sbx-expired', [INCOMPLETE]: 'sbx-short-1-of-9' };

describeWithChromium('a whole migration in the page', () => {
  const opened = useOpenedPortal();

  test.each([390, 1440])('of 60 companies, at %d pixels', async (width) => {
    const id = await startMigration(opened, `whole-${width}`);
    const { db } = opened.portal.orchestrator.ferry;
    const { page, context } = await newPage(opened.browser, { width });
    const screens = checkScreens(page, String(width));
    const dialog = page.getByRole('dialog');
    const untilProgress = (reached: Parameters<typeof waitForProgress>[2]) =>
      waitForProgress(opened.portal.orchestrator.ferry, id, reached);
    const asSupport = (...args: string[]) => support(opened, ...args, '--by', 'Sam');

    // The invitation and the key.
    await page.goto(await opened.portal.invite(id, 'Cleo', '--email', 'cleo@example.com'));
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    await screens.check('invitation');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('.fingerprint').waitFor();
    await screens.check('key');
    await confirmKey(opened, page, id);
    await page.getByRole('button', { name: 'Supply the manifest' }).waitFor();
    await screens.check('no-manifest');

    // Step 1: the manifest and the application.
    await openDecision(page, 'Supply the manifest');
    await page.getByLabel('Manifest (CSV or JSON)').setInputFiles(WRONG_MANIFEST);
    await dialog.getByText('Nothing was sent.').waitFor();
    await screens.check('manifest-errors');
    await page.getByLabel('Manifest (CSV or JSON)').setInputFiles(manifestFile(width));
    await dialog.getByText('✓ 60 companies on QuickBooks Online').waitFor();
    await screens.check('manifest');
    await send(page, 'Supply the manifest');
    await page.getByText('50 companies shown').waitFor();
    await openDecision(page, 'Supply your application');
    await dialog.getByLabel('Client id').fill('AB12-client');
    await dialog.getByLabel('Environment').selectOption('production');
    await dialog.getByLabel('Client secret').fill('secret-MARKER');
    await screens.check('application');
    await send(page, 'Supply your application');
    await untilProgress(({ preflight, checking }) => preflight?.problems.length === 0 && !checking);
    await page.locator('#facts').getByText('AB12-client').waitFor();
    await screens.check('details');
    await asSupport('approve', id, 'supply-details', '--yes');

    // Step 2: times and windows.
    await asSupport('propose-time', id, '2036-03-01 20:00');
    await page.getByRole('button', { name: 'Approve the start' }).waitFor();
    await screens.check('start-proposed');
    await openDecision(page, 'Propose another start');
    await dialog.getByLabel('Start').fill(await page.evaluate(LOCAL_NOW));
    await dialog.getByLabel('When companies may move').fill('every night');
    await dialog.getByRole('button', { name: 'Propose another start' }).click();
    await dialog.getByRole('alert').getByText('every night').waitFor();
    await screens.check('window-wrong');
    await dialog.getByLabel('When companies may move').fill('mon-sun 00:00-24:00 Europe/London');
    await send(page, 'Propose another start');
    await page.locator('#progress').getByText('Proposed by Cleo').waitFor();
    await openDecision(page, 'Approve the start');
    await screens.check('approve-start');
    await send(page, 'Approve the start');
    await asSupport('approve', id, 'schedule', '--yes');

    // Step 3: the callback URL.
    await openDecision(page, 'Confirm the callback URL');
    await screens.check('callback');
    await send(page, 'Confirm the callback URL');
    await asSupport('approve', id, 'update-application', '--yes');

    // Step 4: one company is left out; syncing is confirmed off for a wave, for a list, and for all.
    await page.getByRole('button', { name: CONFIRM }).waitFor();
    await page
      .locator('#companies li input')
      .nth(LEFT_OUT - 1)
      .check();
    const selection = page.getByRole('region', { name: 'Selected companies' });
    await screens.check('selection');
    await selection.getByRole('button', { name: 'Leave out' }).click();
    await dialog.getByLabel('Your reason').fill('Sold last week');
    await screens.check('leave-out');
    await send(page, 'Leave out');
    await openDecision(page, CONFIRM);
    await dialog.getByLabel('Wave', { exact: true }).selectOption('1');
    await screens.check('confirm-wave');
    await send(page, CONFIRM);
    await until(async () => (await unconfirmed()) === COMPANIES - 20);
    for (const row of [22, 23])
      await page
        .locator('#companies li input')
        .nth(row - 1)
        .check();
    await selection.getByRole('button', { name: 'Confirm syncing off' }).click();
    await screens.check('confirm-list');
    await send(page, CONFIRM);
    await until(async () => (await unconfirmed()) === COMPANIES - 22);
    await openDecision(page, CONFIRM);
    await dialog.getByLabel('all companies').check();
    await send(page, CONFIRM);
    await page.getByRole('button', { name: SUPPLY }).waitFor();
    await screens.check('credentials-missing');

    // Credentials, while the network is lost.
    await openDecision(page, SUPPLY);
    await dialog.getByLabel('Credential file').setInputFiles(credentialFile(width, LEFT_OUT, TOKENS));
    await dialog.getByText('✓ 59 credentials can be sent.').waitFor();
    await screens.check('credentials');
    await loseNetworkDuringUpload(page, context, async () => {
      await dialog.getByRole('button', { name: SUPPLY }).click();
      await dialog.getByText('Trying again…').waitFor();
      await screens.check('network-lost');
    });
    await screens.check('credentials-supplied');
    await dialog.getByRole('button', { name: 'Close' }).click();
    expect(await credentialRequests()).toBe(1);

    // Step 5: the first company.
    await untilProgress(({ firstCompany }) => firstCompany?.stage === 'verified');
    await page.getByText('checks passed').waitFor();
    await page.locator('details.first summary').click();
    await screens.check('first-company');
    await asSupport('approve', id, 'migrate-first-company', '--yes');

    // Step 6: the other companies, exceptions and reconnect links.
    await page
      .locator('.big')
      .getByText(/^[1-9]/)
      .waitFor();
    await screens.check('moving');
    await untilProgress(({ counts }) => counts.failed === 3 && counts.moved === COMPANIES - 4);
    await page.locator('#exceptions .company').nth(2).waitFor();
    await screens.check('exceptions');
    const links = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Download all reconnect links (CSV)' }).click();
    const rows = readFileSync(await (await links).path(), 'utf8')
      .trim()
      .split('\n');
    expect(rows.map((row) => row.split(',')[0])).toEqual(['reference', referenceOf(22), referenceOf(31)]);
    const link = /https?:\S+/.exec(rows[1] ?? '')?.[0] ?? '';
    expect((await fetch(link, { method: 'POST' })).ok).toBe(true);
    // The result is ignored: the command fails if a check of the reconnections has already relinked the company.
    await opened.portal.support('relink', id, referenceOf(22), '--by', 'Sam');
    await asSupport(
      'skip',
      id,
      referenceOf(INCOMPLETE),
      '--reason',
      'its books are incomplete at the platform',
      '--yes',
    );
    await untilProgress(({ counts }) => counts.moved === COMPANIES - 3 && counts.failed === 1);
    await asSupport('skip', id, referenceOf(31), '--reason', 'its owner does not answer', '--yes');

    // Sign-off and report.
    await page.locator('#progress li', { hasText: 'Left out 3' }).waitFor();
    await openDecision(page, 'Sign off the handover');
    await dialog.getByRole('heading', { name: 'The companies that were left out' }).waitFor();
    await screens.check('sign-off');
    await send(page, 'Sign off the handover');
    await asSupport('approve', id, 'complete-migration', '--yes');
    await untilProgress(({ state }) => state === 'completed');
    await page.getByRole('heading', { name: 'What you need to do' }).waitFor();
    await page.getByText('Open the handover report').first().waitFor();
    await page.getByRole('button', { name: 'Report', exact: true }).click();
    await page.getByRole('link', { name: 'Open the report' }).waitFor();
    await screens.check('completed');
    const opening = context.waitForEvent('page');
    await page.getByRole('link', { name: 'Open the report' }).click();
    const report = await opening;
    await report.getByText('its owner does not answer').first().waitFor();

    expect(screens.problems).toEqual([]);
    expect(takeErrors().filter((text) => !text.includes('ERR_INTERNET_DISCONNECTED'))).toEqual([]);
    const decided: string[] = [];
    for await (const { decision, outcome, signed } of readTrail(db, id))
      if (decision.by === 'Cleo' && outcome.applied && signed !== null) decided.push(decision.kind);
    expect(decided.filter((kind) => kind === 'credentials-supplied').length).toBe(1);
    expect(decided.length).toBeGreaterThanOrEqual(10);
    expect(opened.portal.log.join('')).not.toContain('MARKER');

    async function unconfirmed(): Promise<number> {
      const { rows: found } = await sql<{ count: string }>`
        select count(*) from companies where migration_id = ${id} and confirmed_at is null and state <> 'excluded'`.execute(
        db,
      );
      return Number(found[0]?.count);
    }
    async function credentialRequests(): Promise<number> {
      const { rows: found } = await sql<{ count: string }>`
        select count(*) from portal_requests where migration_id = ${id} and kind = 'credentials'`.execute(db);
      return Number(found[0]?.count);
    }
  });
});

/** A script that returns the current minute in the format of a datetime-local field. */
const LOCAL_NOW = `(() => {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
})()`;

/**
 * Cuts the network after the portal has received credentials and before the page gets the answer. Restores the network
 * after `work`.
 */
async function loseNetworkDuringUpload(page: Page, context: BrowserContext, work: () => Promise<void>): Promise<void> {
  let losses = 0;
  await page.route('**/api/credentials', async (route) => {
    if (++losses > 1) return route.continue();
    await route.fetch();
    await context.setOffline(true);
    await route.abort('internetdisconnected');
  });
  await work();
  await context.setOffline(false);
  await page.locator('dialog .done[role=status]').waitFor({ timeout: 60_000 });
  await page.unroute('**/api/credentials');
}
