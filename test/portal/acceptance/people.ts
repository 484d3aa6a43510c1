/** The actions of the client's people in a browser, and of support with `ferry`, in a migration of 60 companies. */
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { findChromium, openBrowser } from '../../presentation/temporal-ui/browser';
import { openClientPortal, type ClientPortal, type Run } from '../../cli/portal/client';
import { useOpened } from '../../support/async';
import { newPage, type OpenOptions } from '../page/browser-page';

const PAGE_FOLDER = path.join(__dirname, '../../../dist/portal/page');

export interface OpenedPortal {
  readonly portal: ClientPortal;
  readonly browser: Browser;
  close(): Promise<void>;
}

async function open(): Promise<OpenedPortal> {
  const portal = await openClientPortal({ pageFolder: PAGE_FOLDER });
  const browser = await openBrowser(findChromium() ?? '');
  return {
    ...{ portal, browser },
    close: async () => {
      await browser.close();
      await portal.close();
    },
  };
}

export const useOpenedPortal = (): Omit<OpenedPortal, 'close'> => useOpened(open);

type Opened = Omit<OpenedPortal, 'close'>;

/** Runs a command as support. Throws if the command fails. */
export async function support({ portal }: Opened, ...args: string[]): Promise<Run> {
  const run = await portal.support(...args);
  if (run.exitCode !== 0) throw new Error(`ferry ${args.join(' ')}: ${run.err}${run.out}`);
  return run;
}

/** Starts a migration without a manifest, and returns its id. */
export async function startMigration(opened: Opened, client: string): Promise<string> {
  const target = ['--platform', 'quickbooks-online', '--client', client, '--contact', 'Sam, +44 20 7946 0000'];
  await support(opened, 'start', '--manifest-later', ...target, '--by', 'Sam');
  return `${client}.quickbooks-online`;
}

/** Opens the link of an invitation, and redeems it. */
export async function acceptInvitation(page: Page, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('#migration').waitFor();
}

/** Confirms the key that the page shows, as support does on the phone. Waits until the page no longer shows it. */
export async function confirmKey(opened: Opened, page: Page, migrationId: string): Promise<void> {
  const fingerprint = (await page.locator('.fingerprint').textContent()) ?? '';
  await support(opened, 'approver', 'add', migrationId, fingerprint, '--yes');
  await page.locator('#key').waitFor({ state: 'hidden' });
}

/** Invites a person, who accepts in a new browser. If the role is client, support confirms the key. */
export async function join(
  opened: Opened,
  migrationId: string,
  { name = 'Cleo', role = 'client', ...options }: OpenOptions & { name?: string; role?: 'client' | 'viewer' } = {},
): Promise<Page> {
  const { page } = await newPage(opened.browser, options);
  await acceptInvitation(page, await opened.portal.invite(migrationId, name, '--role', role));
  if (role === 'client') await confirmKey(opened, page, migrationId);
  return page;
}

/** Opens the dialog of a decision. */
export async function openDecision(page: Page, title: string): Promise<void> {
  await page.getByRole('button', { name: title, exact: true }).first().click({ timeout: 60_000 });
  await page.getByRole('dialog').waitFor();
}

/** Presses the button of the open dialog, waits for the outcome, and closes the dialog. */
export async function send(page: Page, title: string): Promise<void> {
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: title, exact: true }).click();
  const outcome = dialog.locator('.done[role=status], [role=alert]:not(:empty)');
  await outcome.waitFor({ timeout: 90_000 });
  if ((await outcome.getAttribute('role')) === 'alert') throw new Error(`${title}: ${await outcome.textContent()}`);
  await dialog.getByRole('button', { name: 'Close' }).click();
}

export interface SampleFile {
  readonly name: string;
  readonly mimeType: string;
  readonly buffer: Buffer;
}

const csv = (name: string, lines: readonly string[]): SampleFile => ({
  ...{ name, mimeType: 'text/csv', buffer: Buffer.from([...lines, ''].join('\n')) },
});

const NAMES = [
  'Harbour Coffee Roasters Ltd',
  'Müller & Söhne GmbH',
  '株式会社さくら商事',
  'شركة النور للتجارة',
  '"Quoted, with a comma" <b>Ltd</b>',
  `The Worshipful Company of ${'Extraordinarily '.repeat(7)}Long Names and Partners LLP`,
];

export const COMPANIES = 60;
/** The row of a company with fewer invoices than the manifest says. */
export const INCOMPLETE = 45;
const organizationOf = (migration: number, row: number): string =>
  String(7_100_000_000_000_000 + migration * 1e6 + row);
export const referenceOf = (row: number): string => `K-${String(row).padStart(4, '0')}`;

/**
 * Returns a manifest with three waves.
 *
 * @param migration a number that differs for each migration, because an organization can be in only one migration
 */
export function manifestFile(migration: number): SampleFile {
  const rows = Array.from({ length: COMPANIES }, (_, index) => {
    const row = index + 1;
    const name = `${NAMES[index % NAMES.length] ?? ''} ${row}`.replaceAll('"', '""');
    const invoices = row === INCOMPLETE ? 9 : 1;
    return `${referenceOf(row)},"${name}",${organizationOf(migration, row)},${invoices},${1 + Math.floor(index / 20)}`;
  });
  return csv('manifest.csv', ['reference,name,realmId,expectedInvoices,wave', ...rows]);
}

export const WRONG_MANIFEST = csv('wrong.csv', [
  'reference,name,realmId,expectedInvoices,wave',
  'K-1,Acme,9130000000000001,many,1',
  'K-1,,9.13E+15,2,1',
]);

/**
 * Returns the credentials of all companies except one.
 *
 * @param leftOut the row of the company that was left out
 * @param tokens sandbox tokens by row, for companies whose move fails
 */
export function credentialFile(
  migration: number,
  leftOut: number,
  tokens: Readonly<Record<number, string>>,
): SampleFile {
  const rows = Array.from({ length: COMPANIES }, (_, index) => index + 1)
    .filter((row) => row !== leftOut)
    .map((row) => {
      const token = `${tokens[row] ?? 'sbx-ok-1'}.MARKER-${migration}-${row}`;
      return `${referenceOf(row)},at-MARKER-${row},${token},${organizationOf(migration, row)}`;
    });
  return csv('credentials.csv', ['reference,accessToken,refreshToken,realmId', ...rows]);
}
