/** The invitation in the portal's page. */
import type { Browser } from 'playwright-core';
import { findChromium, openBrowser } from '../../presentation/temporal-ui/browser';
import { fingerprintOf } from '../../../security';
import { axeViolations, INVITATION, newPage, signIn, takeErrors } from './browser-page';
import { FixturePortal } from './fixture-portal';

const chromium = findChromium();
const describeWithChromium = chromium === undefined ? describe.skip : describe;

describeWithChromium("an invitation in the portal's page", () => {
  let browser: Browser;
  let portal: FixturePortal;
  let url: string;
  beforeAll(async () => {
    browser = await openBrowser(chromium ?? '');
  });
  afterAll(async () => {
    await browser.close();
  });
  beforeEach(async () => {
    portal = new FixturePortal();
    portal.session = null;
    url = await portal.start();
  });
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await portal.stop();
    takeErrors(); // Chromium reports each answer with an error status.
  });

  const link = (): string => `${url}/#invitation=${INVITATION}&provider=0000-1111`;

  test('is removed from the address at once, and redeemed only when the person continues', async () => {
    const { page } = await newPage(browser);
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    expect(page.url()).toBe(`${url}/`);
    expect(portal.sent).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    expect(portal.sent.map(({ body }) => body['invitation'])).toEqual([INVITATION]);
  });

  test('shows the fingerprint of the key until support has confirmed it, also after a reload', async () => {
    const page = await signIn(browser, { portal, url });
    const fingerprint = fingerprintOf(Buffer.from(portal.session?.publicKey ?? '', 'hex'));
    await page.getByText(fingerprint).waitFor();
    await page.getByText('Why: your decisions are signed with a key in this browser.').waitFor();
    await page.reload();
    await page.getByText(fingerprint).waitFor();
    if (portal.session) portal.session = { ...portal.session, isKeyConfirmed: true };
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(await page.getByText(fingerprint).count()).toBe(0);
  });

  test('creates a key that nobody can export', async () => {
    const page = await signIn(browser, { portal, url });
    const exported = await page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('tokenferry');
      opening.onsuccess = () => {
        const request = opening.result.transaction('keys').objectStore('keys').getAll();
        request.onsuccess = () => crypto.subtle.exportKey('pkcs8', request.result[0].privateKey)
          .then(() => resolve('exported'), (error) => resolve(error.name));
      };
    })`);
    expect(exported).toBe('InvalidAccessError');
  });

  test.each([
    ['was used', 'The invitation was used already.'],
    ['has expired', 'The invitation has expired.'],
    ['was revoked', 'The invitation was revoked.'],
  ])('says that it %s, and what to do', async (_, error) => {
    portal.invitationRefusal = { status: 403, error };
    const { page } = await newPage(browser, { width: 390 });
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await page.getByText(error).waitFor();
    await page.getByText('Ask your contact at the provider for a new invitation.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test('can be tried again while the portal is not available', async () => {
    portal.invitationRefusal = { status: 503, error: 'The portal is starting.' };
    const { page } = await newPage(browser);
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The portal is starting.').waitFor();
    portal.invitationRefusal = null;
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    const keys = portal.sent.map(({ body }) => body['publicKey']);
    expect(keys).toEqual([portal.session?.publicKey, portal.session?.publicKey]);
  });

  test('is not used by a browser that cannot create Ed25519 keys', async () => {
    const { page } = await newPage(browser);
    await page.addInitScript(
      `crypto.subtle.generateKey = () => Promise.reject(new DOMException('no', 'NotSupportedError'))`,
    );
    await page.goto(link());
    await page.getByRole('heading', { name: 'This browser is too old' }).waitFor();
    await page.getByText('Your invitation has not been used.').waitFor();
    expect(portal.sent).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('gives no decisions to a browser that does not have the key', async () => {
    await signIn(browser, { portal, url });
    const { page } = await newPage(browser);
    await page.goto(url);
    await page.getByText('You can read in this browser, but you cannot decide').waitFor();
    expect(await page.locator('#task button').count()).toBe(0);
    expect(await page.locator('#companies input[type=checkbox]').count()).toBe(0);
  });
});
