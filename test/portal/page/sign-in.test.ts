/** Signing in again in the portal's page, with the key of the browser. */
import type { Page } from 'playwright-core';
import { until } from '../../support/async';
import { axeViolations, describeWithChromium, INVITATION, newPage, signIn, usePage } from './browser-page';

describeWithChromium("signing in again in the portal's page", () => {
  // Some answers in these tests have an error status. Chromium writes each of them to the console, so the errors in the
  // console are not checked here.
  const current = usePage(
    () => undefined,
    () => undefined,
  );

  const withKey = (page: Page) => page.getByRole('button', { name: 'Sign in as Cleo with the key of this browser' });
  const sentTo = (path: string) => current.portal.sent.filter((each) => each.path === path);

  /** Returns the page of a person whose session has ended, and who has opened the page again. */
  async function returning(): Promise<Page> {
    const page = await signIn(current.browser, current, { width: 390 });
    current.portal.session = null;
    await page.reload();
    await withKey(page).waitFor();
    return page;
  }

  test('a session that has ended is renewed with the key, without an invitation', async () => {
    const page = await returning();
    expect(await axeViolations(page)).toEqual([]);
    await withKey(page).click();
    await page.locator('#migration').waitFor();
    expect(sentTo('/api/session')).toHaveLength(1);
    const [{ body } = { body: {} }] = sentTo('/api/session/renewal');
    expect(body).toMatchObject({ migrationId: 'kite', publicKey: sentTo('/api/session')[0]?.body['publicKey'] });
    expect(Object.keys(body).sort()).toEqual(['as', 'migrationId', 'publicKey', 'signature', 'signedAt', 'token']);
    expect(await page.locator('#task button').count()).toBeGreaterThan(0);
  });

  test('each attempt asks for a new session', async () => {
    const page = await returning();
    current.portal.renewalRefusal = { status: 403, error: 'This key cannot be used to sign in.' };
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      await withKey(page).click();
      await page.getByText('This key cannot be used to sign in.').waitFor();
    }
    const [first, second] = sentTo('/api/session/renewal').map(({ body }) => body['token']);
    expect(first).toMatch(/^[\w-]{43}$/);
    expect(second).not.toBe(first);
  });

  test('once this browser has used an invitation, its link offers to sign in with the key', async () => {
    const page = await returning();
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=${INVITATION}`);
    await withKey(page).click();
    await page.locator('#migration').waitFor();
    expect(sentTo('/api/session')).toHaveLength(1);
    expect(page.url()).toBe(`${current.url}/`);
    // With a session, the link leads to the migration.
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=${INVITATION}`);
    await page.locator('#migration').waitFor();
    // The link of another invitation can be used.
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=another-${INVITATION}`);
    await page.getByRole('button', { name: 'Continue' }).waitFor();
  });

  test('an invitation that the portal has refused leaves no key to sign in with', async () => {
    current.portal.session = null;
    current.portal.invitationRefusal = { status: 503, error: 'The portal is starting.' };
    const { page } = await newPage(current.browser);
    await page.goto(`${current.url}/#invitation=${INVITATION}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('The portal is starting.').waitFor();
    await page.reload();
    await page.getByText('This browser has no key with which you can sign in.').waitFor();
    expect(await page.locator('#message button').count()).toBe(0);
  });

  test('a browser without a key says so, and asks for an invitation', async () => {
    await returning();
    const { page } = await newPage(current.browser, { width: 390 });
    await page.goto(current.url);
    await page.getByText('This browser has no key with which you can sign in.').waitFor();
    await page.getByText('ask your contact at the provider for a new invitation').waitFor();
    await page
      .getByText('your session might have ended, or the provider might have withdrawn your access: ask your contact')
      .waitFor();
    expect(await page.locator('#message button').count()).toBe(0);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('an open page offers the key when its session ends, and after signing out', async () => {
    const page = await signIn(current.browser, current);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await withKey(page).click();
    await page.locator('#migration').waitFor();
    current.portal.session = null;
    current.portal.dropStreams();
    await withKey(page).click();
    await page.locator('#migration').waitFor();
  });

  test('an open page removes what it has shown when its session ends, and says whom to ask', async () => {
    const page = await signIn(current.browser, current);
    await page.locator('#companies li').first().waitFor();
    await page.locator('#task button').first().click();
    const shown = await page.locator('#migration').innerText();
    expect(shown).toContain(current.portal.view.contact);
    current.portal.session = null;
    current.portal.dropStreams();
    await withKey(page).waitFor();
    const { contact } = current.portal.view;
    await page.getByText(`If you cannot sign in again, ask ${contact}.`).waitFor();
    const left = (await page.locator('body').textContent()) ?? '';
    expect(left.replace(contact, '')).not.toContain(current.portal.view.headline);
    expect(await page.locator('#migration').innerHTML()).toBe('');
    expect(await page.locator('dialog').count()).toBe(0);
    expect(await page.locator('#person').textContent()).toBe('');
    expect(await axeViolations(page)).toEqual([]);
  });

  test('repeats the same request while no worker answers, and says why it takes longer', async () => {
    const page = await returning();
    current.portal.renewalRefusal = { status: 503, error: 'Signing in is taking longer than usual.' };
    await withKey(page).click();
    await page.getByText('Signing in is taking longer than usual. Trying again…').waitFor();
    current.portal.renewalRefusal = null;
    await page.locator('#migration').waitFor();
    const requests = sentTo('/api/session/renewal').map(({ body }) => JSON.stringify(body));
    expect(requests.length).toBeGreaterThan(1);
    expect(new Set(requests).size).toBe(1);
  });

  test('signs a new request once workers no longer take the first one', async () => {
    const page = await returning();
    current.portal.renewalRefusal = { status: 503, error: 'Signing in is taking longer than usual.' };
    await withKey(page).click();
    await page.getByText('Signing in is taking longer than usual. Trying again…').waitFor();
    const sent = sentTo('/api/session/renewal').length;
    await page.clock.setSystemTime(Date.now() + 121_000);
    await until(() => sentTo('/api/session/renewal').length > sent);
    current.portal.renewalRefusal = null;
    await page.locator('#migration').waitFor();
    const tokens = sentTo('/api/session/renewal').map(({ body }) => body['token']);
    expect(new Set(tokens).size).toBe(2);
    expect(tokens.at(-1)).not.toBe(tokens[0]);
  });

  test('says what to do if the portal refuses the key, and stays usable', async () => {
    const page = await returning();
    const refusal = {
      error: 'Support has not confirmed your key yet.',
      advice: 'Call your contact, read out the fingerprint of your key, and sign in again.',
    };
    current.portal.renewalRefusal = { status: 403, ...refusal };
    await withKey(page).click();
    await page.getByText(`${refusal.error} ${refusal.advice}`).waitFor();
    current.portal.renewalRefusal = null;
    await withKey(page).click();
    await page.locator('#migration').waitFor();
  });

  test('a person with several migrations chooses one of them, and the migration that was used last is listed first', async () => {
    const page = await signIn(current.browser, current);
    current.portal.session = null;
    current.portal.view = { ...current.portal.view, migrationId: 'lark' };
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    current.portal.session = null;
    await page.reload();
    await page
      .getByRole('button', { name: /^Sign in as Cleo to/ })
      .first()
      .waitFor();
    expect(await page.locator('#message button').allTextContents()).toEqual([
      'Sign in as Cleo to lark with the key of this browser',
      'Sign in as Cleo to kite with the key of this browser',
    ]);
    await page.getByRole('button', { name: /to kite/ }).click();
    await page.locator('#migration').waitFor();
    expect(current.portal.session).toMatchObject({ migrationId: 'kite' });
  });

  /** Returns the page of a person who has used a link to kite, then a link to lark in the same browser. */
  async function withTwoMigrations(): Promise<Page> {
    const page = await signIn(current.browser, current);
    current.portal.view = { ...current.portal.view, migrationId: 'lark', client: 'Lark Books' };
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'Lark Books' }).waitFor();
    return page;
  }

  async function openFirstLink(page: Page): Promise<void> {
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=${INVITATION}`);
    await page.getByRole('heading', { name: 'This link is for another migration' }).waitFor();
  }

  test('a link to another migration than the one of the session says so, and leads to either of them', async () => {
    const page = await withTwoMigrations();
    await openFirstLink(page);
    await page
      .getByText(
        'The link is for Cleo and the migration kite. This browser is signed in as Cleo to the migration lark.',
      )
      .waitFor();
    expect(await page.locator('#migration').isHidden()).toBe(true);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Show lark as Cleo' }).click();
    await page.getByRole('heading', { name: 'Lark Books' }).waitFor();
    expect(sentTo('/api/session/renewal')).toEqual([]);
    await openFirstLink(page);
    await page.getByRole('button', { name: 'Sign in as Cleo to kite with the key of this browser' }).click();
    await page.locator('#migration').waitFor();
    expect(current.portal.session).toMatchObject({ migrationId: 'kite' });
    expect(sentTo('/api/session')).toHaveLength(2);
  });

  test('while a person signs in to the migration of a link, the page offers nothing else', async () => {
    const page = await withTwoMigrations();
    await openFirstLink(page);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    await page.route('**/api/session/renewal', (route) => released.then(() => route.continue()));
    await page.getByRole('button', { name: 'Sign in as Cleo to kite' }).click();
    await page.getByText('Signing in…').waitFor();
    expect(await page.getByRole('button', { name: 'Show lark as Cleo' }).isDisabled()).toBe(true);
    release();
    await page.locator('#migration').waitFor();
    expect(current.portal.session).toMatchObject({ migrationId: 'kite' });
  });

  test('an earlier link of the same person to the same migration leads to the migration', async () => {
    const page = await signIn(current.browser, current);
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    await page.goto('about:blank');
    await page.goto(`${current.url}/#invitation=${INVITATION}`);
    await page.locator('#migration').waitFor();
  });

  test('a viewer who opens the link of an earlier key reads that leaving the session needs another link', async () => {
    const page = await withTwoMigrations();
    current.portal.session = current.portal.session && { ...current.portal.session, role: 'viewer', publicKey: null };
    await page.reload();
    await page.getByText('Cleo (read-only)').waitFor();
    await openFirstLink(page);
    await page
      .getByText('To return to lark later, you will need another link, unless you sign in with an account.')
      .waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });
});
