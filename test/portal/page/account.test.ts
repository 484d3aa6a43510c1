/** Signing in with an account in a browser, with the real portal and an identity provider on another site. */
import path from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { listInvitations, revokeInvitation, writePortalView } from '../../../store';
import { findChromium, openBrowser } from '../../presentation/temporal-ui/browser';
import { until, useOpened } from '../../support/async';
import { CLEO } from '../identity-provider';
import { inviteAccount, openIdentityPortal } from '../signing-in-with-account';
import { answerSignIns } from '../signing-in';
import { axeViolations, describeWithChromium, newPage, takeErrors } from './browser-page';
import { createMigrationKey, createVaultKey } from './sample-key';
import { sampleView } from './sample-view';

describeWithChromium("an account in the portal's page", () => {
  const portal = useOpened(() => openIdentityPortal({ pageFolder: path.join(__dirname, '../../../dist/portal/page') }));
  let browser: Browser;
  let worker: NodeJS.Timeout;
  beforeAll(async () => {
    browser = await openBrowser(findChromium() ?? '');
    worker = setInterval(() => void answerSignIns(portal.db, portal.verifyIdentity).catch(() => undefined), 50);
  });
  afterAll(async () => {
    clearInterval(worker);
    await browser.close();
  });
  beforeEach(() => portal.provider.reset());
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    takeErrors();
  });

  const account = (page: Page) => page.getByRole('button', { name: 'Sign in with your account' });

  async function invited() {
    const invitation = await inviteAccount(portal);
    await writePortalView(portal.db, invitation.migrationId, { ...sampleView(), migrationId: invitation.migrationId });
    return { ...invitation, link: `${portal.url}/#migration=${invitation.migrationId}&sign-in=openid&provider=0000` };
  }

  const storedKeys = (
    page: Page,
  ): Promise<readonly { readonly publicKey: string; readonly provider: string | null; readonly hasOwner: boolean }[]> =>
    page.evaluate(`new Promise((resolve) => {
      const opening = indexedDB.open('tokenferry');
      opening.onsuccess = () => {
        const request = opening.result.transaction('keys').objectStore('keys').getAll();
        request.onsuccess = () => resolve(request.result.map(
          ({ publicKey, provider, owner }) => ({ publicKey, provider, hasOwner: owner !== undefined })));
      };
    })`);

  async function signedIn(link: string): Promise<Page> {
    const { page } = await newPage(browser, { width: 390 });
    await page.goto(link);
    await account(page).click();
    await page.locator('#migration').waitFor();
    return page;
  }

  test('the link leads to the identity provider, and back to the migration with a key that can sign', async () => {
    const { link, migrationId } = await invited();
    const { page } = await newPage(browser, { width: 390 });
    await page.goto(link);
    await account(page).waitFor();
    expect(page.url()).toBe(`${portal.url}/`);
    expect(await axeViolations(page)).toEqual([]);
    await account(page).click();
    await page.getByRole('heading', { name: 'Confirm your key by phone' }).waitFor();
    expect(page.url()).toBe(`${portal.url}/`);
    expect(await page.getByText('You can read in this browser, but you cannot decide').count()).toBe(0);
    expect(await listInvitations(portal.db, migrationId)).toMatchObject([{ subject: CLEO.sub, sessions: 1 }]);
    expect(takeErrors().filter((text) => !text.includes('401'))).toEqual([]);
  });

  test('the link to another migration than the one of the session says so before the sign-in', async () => {
    const [first, second] = [await invited(), await invited()];
    const page = await signedIn(first.link);
    await page.goto('about:blank');
    await page.goto(second.link);
    await account(page).waitFor();
    await page
      .getByText(`This link is for the migration ${second.migrationId}. This browser is signed in as Cleo to the`)
      .waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test('the link works again, and no sign-in is needed while there is a session', async () => {
    const { link } = await invited();
    const page = await signedIn(link);
    const exchanges = portal.provider.exchanges.length;
    await page.goto('about:blank');
    await page.goto(link);
    await page.locator('#migration').waitFor();
    expect(portal.provider.exchanges).toHaveLength(exchanges);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await account(page).click();
    await page.locator('#migration').waitFor();
    expect(portal.provider.exchanges).toHaveLength(exchanges + 1);
    expect(await page.getByText('You can read in this browser, but you cannot decide').count()).toBe(0);
  });

  /**
   * Invites a person with a link without the provider's fingerprint. `showKey` makes the portal show the migration key.
   */
  async function invitedWithKey() {
    const { migrationId } = await invited();
    const { text, provider } = createMigrationKey(migrationId, 'qhyg', createVaultKey().publicKey);
    return {
      ...{ migrationId, provider, link: `${portal.url}/#migration=${migrationId}&sign-in=openid` },
      showKey: async () =>
        writePortalView(portal.db, migrationId, { ...sampleView({ migrationKey: text }), migrationId }),
    };
  }

  test('a key without a fingerprint of the provider gets it from a later link, but only if this provider has signed the migration key', async () => {
    const { link, provider, showKey } = await invitedWithKey();
    await showKey();
    const linkWith = (fingerprint: string) => (fingerprint === '' ? link : `${link}&provider=${fingerprint}`);
    const page = await signedIn(link);
    const open = async (fingerprint: string) => {
      await page.goto('about:blank');
      await page.goto(linkWith(fingerprint));
      await page.locator('#migration').waitFor();
      return (await storedKeys(page)).map((each) => each.provider);
    };
    expect(await open('')).toEqual([null]);
    // Anyone can make a link with another fingerprint.
    expect(await open('0000-1111')).toEqual([null]);
    expect(await open(provider)).toEqual([provider]);
    expect(await open('0000-1111')).toEqual([provider]);
  });

  test('a key without a fingerprint of the provider also gets it if the person signs in again with the new link', async () => {
    const { migrationId, link, provider, showKey } = await invitedWithKey();
    await showKey();
    const page = await signedIn(link);
    const { publicKey } = (await listInvitations(portal.db, migrationId))[0] ?? {};
    await page.getByRole('button', { name: 'Sign out' }).click();
    await account(page).waitFor();
    await page.goto('about:blank');
    await page.goto(`${link}&provider=${provider}`);
    await account(page).click();
    await page.locator('#migration').waitFor();
    expect((await storedKeys(page)).find((each) => each.publicKey === publicKey)?.provider).toBe(provider);
  });

  /** Opens a link and begins to sign in. The identity provider refuses the sign-in. */
  async function beginSignIn(page: Page, link: string): Promise<void> {
    portal.provider.answer = { error: 'access_denied' };
    await page.goto('about:blank');
    await page.goto(link);
    await account(page).click();
    await page.getByRole('heading', { name: 'You could not be signed in' }).waitFor();
    portal.provider.answer = {};
  }

  test.each([
    ['a key that was created with a wrong link', true],
    ['a registered key without a fingerprint, after a wrong link', false],
  ])('%s gets the fingerprint of the right link', async (_, isFirst) => {
    const { migrationId, link, provider, showKey } = await invitedWithKey();
    await showKey();
    const page = isFirst ? (await newPage(browser, { width: 390 })).page : await signedIn(link);
    if (!isFirst) await page.getByRole('button', { name: 'Sign out' }).click();
    if (!isFirst) await account(page).waitFor();
    await beginSignIn(page, `${link}&provider=0000-1111`);
    await page.goto('about:blank');
    await page.goto(`${link}&provider=${provider}`);
    await account(page).click();
    await page.locator('#migration').waitFor();
    const { publicKey } = (await listInvitations(portal.db, migrationId))[0] ?? {};
    expect((await storedKeys(page)).find((each) => each.publicKey === publicKey)?.provider).toBe(provider);
  });

  test('a key gets the fingerprint of the link although the portal shows the migration key only later', async () => {
    const { link, provider, showKey } = await invitedWithKey();
    const page = await signedIn(link);
    await page.goto('about:blank');
    await page.goto(`${link}&provider=${provider}`);
    await page.locator('#migration').waitFor();
    expect((await storedKeys(page)).map((each) => each.provider)).toEqual([null]);
    await showKey();
    await until(async () => (await storedKeys(page))[0]?.provider === provider);
    expect(await storedKeys(page)).toMatchObject([{ hasOwner: true }]);
  });

  test('in another browser, the same account can only read, and another account cannot sign in', async () => {
    const { link } = await invited();
    await signedIn(link);
    const other = await signedIn(link);
    await other.getByText('You can read in this browser, but you cannot decide').waitFor();
    portal.provider.account = { ...CLEO, sub: 'another-account', email: 'eve@acme.example' };
    const { page } = await newPage(browser, { width: 390 });
    await page.goto(link);
    await account(page).click();
    await page.getByRole('heading', { name: 'You could not be signed in' }).waitFor();
    await page.getByText('This account cannot be used to sign in.').waitFor();
    await page.getByText('To try again, open the link in your invitation.').waitFor();
    expect(page.url()).toBe(`${portal.url}/`);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('an answer to a sign-in that this browser has not begun does not sign anyone in', async () => {
    const { page } = await newPage(browser);
    await page.goto(`${portal.url}/sign-in?code=stolen&state=invented`);
    await page.getByText('The sign-in was not started in this browser').waitFor();
    expect(page.url()).toBe(`${portal.url}/`);
  });

  test('a person who comes back without signing in can try again, with the same key', async () => {
    const { link, migrationId } = await invited();
    const { page } = await newPage(browser);
    await beginSignIn(page, link);
    await page.goto('about:blank');
    await page.goto(link);
    await account(page).click();
    await page.locator('#migration').waitFor();
    const [invitation] = await listInvitations(portal.db, migrationId);
    expect((await storedKeys(page)).map(({ publicKey }) => publicKey)).toEqual([invitation?.publicKey]);
  });

  test('says so if the invitation was revoked', async () => {
    const { link, id } = await invited();
    const page = await signedIn(link);
    await revokeInvitation(portal.db, id, 'Sam');
    await page.reload();
    await account(page).click();
    await page.getByText('This account cannot be used to sign in.').waitFor();
  });
});
