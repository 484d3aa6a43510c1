/** The invitation in the portal's page. */
import { fingerprintOf } from '../../../security';
import { axeViolations, describeWithChromium, INVITATION, newPage, signIn, usePage } from './browser-page';

describeWithChromium("an invitation in the portal's page", () => {
  // Some answers in these tests have an error status. Chromium writes each of them to the console, so the errors in the
  // console are not checked here.
  const current = usePage(
    (portal) => (portal.session = null),
    () => undefined,
  );

  const link = (): string => `${current.url}/#invitation=${INVITATION}&provider=0000-1111`;

  test('is removed from the address at once, and redeemed only when the person continues', async () => {
    const { page } = await newPage(current.browser);
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).waitFor();
    expect(page.url()).toBe(`${current.url}/`);
    expect(current.portal.sent).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    expect(current.portal.sent.map(({ body }) => body['invitation'])).toEqual([INVITATION]);
  });

  test('shows the fingerprint of the key, and no decisions, until support has confirmed it', async () => {
    current.portal.isKeyConfirmed = false;
    const page = await signIn(current.browser, current);
    const fingerprint = fingerprintOf(Buffer.from(current.portal.session?.publicKey ?? '', 'hex'));
    await page.getByText(fingerprint).waitFor();
    await page.getByText('Why: your decisions are signed with a key in this browser.').waitFor();
    await page.reload();
    await page.getByText(fingerprint).waitFor();
    expect(await page.locator('#task button, #decisions button, #companies input[type=checkbox]').count()).toBe(0);
    if (current.portal.session) current.portal.session = { ...current.portal.session, isKeyConfirmed: true };
    await page.locator('#task button').first().waitFor();
    await page.locator('#companies input[type=checkbox]').first().waitFor();
    expect(await page.getByText(fingerprint).count()).toBe(0);
  });

  test('is followed by the task to confirm the key, if no other task is due', async () => {
    current.portal.isKeyConfirmed = false;
    const page = await signIn(current.browser, current);
    const headline = '41 of 60 companies have moved, 19 to go. Nothing for you to do.';
    current.portal.publish({ task: null, headline, actions: [] });
    const task = page.locator('#task');
    await task.getByText('Call your contact to confirm your key.').waitFor();
    expect(await task.getByRole('heading').textContent()).toBe('What you need to do');
    const lead = page.locator('#summary .lead');
    expect(await lead.textContent()).toBe(
      '41 of 60 companies have moved, 19 to go. Call your contact to confirm your key.',
    );
    if (current.portal.session) current.portal.session = { ...current.portal.session, isKeyConfirmed: true };
    await task.getByText('Nothing for you to do now').waitFor();
    expect(await lead.textContent()).toBe(headline);
  });

  test('does not show the fingerprint once the migration has ended', async () => {
    current.portal.isKeyConfirmed = false;
    const page = await signIn(current.browser, current);
    const fingerprint = fingerprintOf(Buffer.from(current.portal.session?.publicKey ?? '', 'hex'));
    await page.getByText(fingerprint).waitFor();
    current.portal.publish({ state: 'abandoned', actions: [] });
    await page.getByText(fingerprint).waitFor({ state: 'detached' });
  });

  test.each([
    ['opens no database', `IDBFactory.prototype.open = () => { throw new DOMException('denied', 'SecurityError'); }`],
    ['cannot copy a key', `IDBObjectStore.prototype.put = () => { throw new DOMException('no', 'DataCloneError'); }`],
    [
      'has no space left',
      `const put = IDBObjectStore.prototype.put;
       IDBObjectStore.prototype.put = function (key) {
         const request = put.call(this, key);
         request.onsuccess = () => this.transaction.abort();
         return request;
       };`,
    ],
  ])('says what helps if the browser %s', async (_, fault) => {
    const { page } = await newPage(current.browser);
    await page.addInitScript(fault);
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Allow this site to store data, leave private browsing, or use another browser.').waitFor();
    expect(await page.getByText('Reload the page').count()).toBe(0);
    expect(current.portal.sent).toEqual([]);
  });

  test('creates a key that cannot be exported', async () => {
    const page = await signIn(current.browser, current);
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
    current.portal.invitationRefusal = { status: 403, error };
    const { page } = await newPage(current.browser, { width: 390 });
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await page.getByText(error).waitFor();
    await page.getByText('Ask your contact at the provider for a new invitation.').waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });

  test.each([
    ['is not available', 503, 'The portal is starting.'],
    ['has failed', 500, 'Something went wrong in the portal.'],
  ])('can be tried again while the portal %s', async (_, status, error) => {
    current.portal.invitationRefusal = { status, error };
    const { page } = await newPage(current.browser);
    await page.goto(link());
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(error).waitFor();
    current.portal.invitationRefusal = null;
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.locator('#migration').waitFor();
    const keys = current.portal.sent.map(({ body }) => body['publicKey']);
    expect(keys).toEqual([current.portal.session?.publicKey, current.portal.session?.publicKey]);
  });

  test('is not used by a browser that cannot create Ed25519 keys', async () => {
    const { page } = await newPage(current.browser);
    await page.addInitScript(
      `crypto.subtle.generateKey = () => Promise.reject(new DOMException('no', 'NotSupportedError'))`,
    );
    await page.goto(link());
    await page.getByRole('heading', { name: 'This browser cannot create a key' }).waitFor();
    await page.getByText('Opening the link here has not used up your invitation.').waitFor();
    expect(current.portal.sent).toEqual([]);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('gives no decisions to a browser that does not have the key', async () => {
    await signIn(current.browser, current);
    const { page } = await newPage(current.browser);
    await page.goto(current.url);
    await page.getByText('You can read in this browser, but you cannot decide').waitFor();
    expect(await page.locator('#task button').count()).toBe(0);
    expect(await page.locator('#companies input[type=checkbox]').count()).toBe(0);
  });
});
