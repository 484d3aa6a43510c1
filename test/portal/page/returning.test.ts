/** How the portal's page tells a person to return to a migration whose session has ended or was replaced. */
import type { Page } from 'playwright-core';
import { describeWithChromium, INVITATION, signIn, usePage } from './browser-page';
import { sampleView } from './sample-view';

describeWithChromium("returning to a migration in the portal's page", () => {
  const current = usePage();

  test('a tab says that another tab has signed in to another migration', async () => {
    const first = await signIn(current.browser, current);
    const before = await first.title();
    const second = await first.context().newPage();
    current.portal.view = { ...current.portal.view, migrationId: 'lark', client: 'Lark Books' };
    await second.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await second.getByRole('button', { name: 'Continue' }).click();
    await first.getByText(`This tab showed ${before}, as Cleo, until another tab`).waitFor();
    expect(await first.title()).toBe('Lark Books (QuickBooks Online)');
    await second.locator('#migration').waitFor();
    expect(await second.getByText('This tab showed').count()).toBe(0);
    await first.reload();
    await first.locator('#migration').waitFor();
    expect(await first.getByText('This tab showed').count()).toBe(0);
  });

  const LINK = 'you will need another link, unless you sign in with an account';

  /** Makes the session of the page a viewer's, and reloads the page. */
  async function asViewer(page: Page): Promise<void> {
    current.portal.session = current.portal.session && { ...current.portal.session, role: 'viewer', publicKey: null };
    await page.reload();
    await page.getByText('Cleo (read-only)').waitFor();
  }

  test('a viewer whose session another tab replaces reads that only another link leads back', async () => {
    const first = await signIn(current.browser, current);
    await asViewer(first);
    await first.getByText(`If you sign out, ${LINK}.`).waitFor();
    await signInElsewhere(first);
    await first.getByText(`To return, ${LINK}; ask your contact`).waitFor();
    expect(await first.getByText('sign in again').count()).toBe(0);
    expect(await first.getByText('If you sign out').count()).toBe(0);
  });

  /** Signs in to another migration in a second tab. */
  async function signInElsewhere(first: Page): Promise<void> {
    const second = await first.context().newPage();
    current.portal.view = { ...sampleView(), migrationId: 'lark', client: 'Lark Books' };
    await second.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await second.getByRole('button', { name: 'Continue' }).click();
    await first.getByText('This tab showed').waitFor();
  }

  test('a person whose session another tab replaces signs in again with a confirmed key', async () => {
    const first = await signIn(current.browser, current);
    await signInElsewhere(first);
    await first.getByText('To return, sign out, and sign in again as before.').waitFor();
  });

  test('a person whose key is not confirmed reads to call the contact before returning', async () => {
    current.portal.isKeyConfirmed = false;
    const first = await signIn(current.browser, current);
    const fingerprint = (await first.locator('.fingerprint').textContent()) ?? '';
    expect(fingerprint).not.toBe('');
    await signInElsewhere(first);
    await first
      .getByText(
        `To return, first call ${sampleView().contact}, and read out the fingerprint of your key (${fingerprint}). Once support has confirmed the key, sign out, and sign in again as before.`,
      )
      .waitFor();
    expect(await first.getByText('To return, sign out').count()).toBe(0);
  });

  const NO_RETURN = 'unless you sign in with an account, because';

  test('after the end, a viewer reads that no link leads back', async () => {
    current.portal.view = sampleView({ state: 'completed', next: null, end: null, actions: [] });
    const first = await signIn(current.browser, current);
    expect(await first.getByText('If you sign out').count()).toBe(0);
    await asViewer(first);
    await first.getByText(`If you sign out, you cannot sign in again, ${NO_RETURN} the migration has ended.`).waitFor();
    await signInElsewhere(first);
    await first.getByText(`You cannot return in this browser, ${NO_RETURN} that migration has ended.`).waitFor();
    expect(await first.getByText('another link').count()).toBe(0);
  });

  test('after the end, a person whose key was never confirmed reads the same', async () => {
    current.portal.isKeyConfirmed = false;
    current.portal.view = sampleView({ state: 'completed', next: null, end: null, actions: [] });
    const first = await signIn(current.browser, current);
    await first.getByText(`If you sign out, you cannot sign in again, ${NO_RETURN} the migration has ended.`).waitFor();
    await signInElsewhere(first);
    await first.getByText(`You cannot return in this browser, ${NO_RETURN} that migration has ended.`).waitFor();
  });
});
