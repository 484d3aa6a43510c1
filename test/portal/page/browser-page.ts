/** Opens the portal's page in a browser, with a fake portal whose answers the test sets. */
import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { findChromium, openBrowser } from '../../presentation/temporal-ui/browser';
import { FixturePortal } from './fixture-portal';

const chromium = findChromium();
/** Skips the tests if there is no Chromium. */
export const describeWithChromium = chromium === undefined ? describe.skip : describe;

export interface PageTest {
  browser: Browser;
  portal: FixturePortal;
  url: string;
}

/**
 * Opens one browser for the tests of a block, and starts a portal for each test.
 *
 * @param prepare changes the portal before it starts
 * @param check receives the errors of the pages, and the portal, after each test
 */
export function usePage(
  prepare: (portal: FixturePortal) => void = () => undefined,
  check: (errors: readonly string[], portal: FixturePortal) => void = (found) => expect(found).toEqual([]),
): PageTest {
  const current = {} as PageTest;
  beforeAll(async () => {
    current.browser = await openBrowser(chromium ?? '');
  });
  afterAll(() => current.browser.close());
  beforeEach(async () => {
    current.portal = new FixturePortal();
    prepare(current.portal);
    current.url = await current.portal.start();
  });
  afterEach(async () => {
    await Promise.all(current.browser.contexts().map((context) => context.close()));
    await current.portal.stop();
    check(takeErrors(), current.portal);
  });
  return current;
}

export const INVITATION = 'an-invitation-that-is-long-enough';

export interface OpenOptions {
  readonly width?: number;
  readonly colorScheme?: 'light' | 'dark';
  readonly provider?: string;
}

/** The errors in the consoles of all pages, and uncaught errors, since the last call of `takeErrors`. */
const errors: string[] = [];
export const takeErrors = (): string[] => errors.splice(0);

export async function newPage(
  browser: Browser,
  { width = 1440, colorScheme = 'light' }: OpenOptions = {},
): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
  const context = await browser.newContext({
    viewport: { width, height: width < 600 ? 844 : 900 },
    ...{ colorScheme, timezoneId: 'America/New_York', locale: 'en-GB' },
  });
  const page = await context.newPage();
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  return { page, context };
}

/** Redeems an invitation in a new browser, and waits until the migration is shown. */
export async function signIn(
  browser: Browser,
  { portal, url }: { readonly portal: FixturePortal; readonly url: string },
  options: OpenOptions = {},
): Promise<Page> {
  portal.session = null;
  const { page } = await newPage(browser, options);
  await page.goto(`${url}/#invitation=${INVITATION}${options.provider ? `&provider=${options.provider}` : ''}`);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.locator('#migration').waitFor();
  return page;
}

/**
 * Returns axe's violations, with the elements that cause them.
 *
 * @param rules default: all
 */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[][]> {
  // The content security policy of the page forbids other scripts, so the debugger runs axe.
  await page.evaluate(readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8'));
  return page.evaluate(async (runOnly) => {
    const { axe } = globalThis as unknown as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const result = await axe.run(runOnly === undefined ? {} : { runOnly });
    return result.violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)]);
  }, rules);
}
