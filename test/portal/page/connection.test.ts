/** The connection of the portal's page: live data, lost connections, and sessions that have ended. */
import { until } from '../../support/async';
import { describeWithChromium, newPage, signIn, takeErrors, usePage } from './browser-page';

describeWithChromium("the connection of the portal's page", () => {
  const current = usePage();

  test('says that it is reconnecting after the connection was lost, and then continues', async () => {
    const page = await signIn(current.browser, current);
    await page.locator('#live').getByText('Live').waitFor();
    current.portal.dropStreams();
    await page.getByText(/^Connecting… This page shows data as of .*\d:\d\d:\d\d.*\.$/).waitFor();
    await page.locator('#live').getByText('Live').waitFor();
    current.portal.publish({ headline: 'Step 5 of 6: the first company is being moved.' });
    await page.getByText('the first company is being moved').waitFor();
  });

  test('is not shown as live while no worker answers, and says that decisions wait', async () => {
    const page = await signIn(current.browser, current);
    await page.locator('#live').getByText('Live').waitFor();
    current.portal.isCurrent = false;
    current.portal.publish({});
    await page.locator('#live').getByText('Not up to date').waitFor();
    await page.getByText(/It might be out of date, because .* Decisions are stored, and wait/).waitFor();
    current.portal.isCurrent = true;
    current.portal.publish({});
    await page.locator('#live').getByText('Live').waitFor();
    expect(await page.getByText('It might be out of date').count()).toBe(0);
  });

  test('is not shown as live while the portal cannot read its database, although the connection works', async () => {
    const page = await signIn(current.browser, current);
    await page.locator('#live').getByText('Live').waitFor();
    current.portal.sendReading('2026-11-24T09:00:05.000Z');
    await page
      .getByText(/^Not up to date: the portal cannot read its data\. This page shows data as of .*\d:\d\d:\d\d.*\.$/)
      .waitFor();
    current.portal.sendReading(null);
    await page.locator('#live').getByText('Live').waitFor();
  });

  test('does not say that old data was new when the connection was lost', async () => {
    current.portal.isCurrent = false;
    const page = await signIn(current.browser, current);
    const live = page.locator('#live');
    await live.getByText('Not up to date').waitFor();
    const checked = page.waitForResponse('**/api/session');
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
    await (await checked).finished();
    await page.evaluate(() => fetch('/api/companies'));
    current.portal.dropStreams();
    await live.getByText(/^Connecting…/).waitFor();
    expect(await live.textContent()).toBe('Connecting…');
  });

  test('says only how old the view of a terminated migration is, because no decision is possible', async () => {
    const page = await signIn(current.browser, current);
    current.portal.isCurrent = false;
    current.portal.publish({ state: 'terminated', actions: [] });
    await page.getByText(/^This page was last updated [^.]*\.$/).waitFor();
    expect(await page.getByText('Decisions are stored').count()).toBe(0);
  });

  test('says during a first load that the migration does not answer', async () => {
    const page = await signIn(current.browser, current);
    await page.route('**/api/migration', async (route) => {
      await page.getByText('Waiting for the migration to answer…').waitFor();
      await route.continue();
    });
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(await page.getByText('Waiting for the migration').isVisible()).toBe(false);
  });

  test('keeps the cause on the page while it repeats a first load that has failed', async () => {
    const page = await signIn(current.browser, current);
    let [reads, shown]: [number, string | null] = [0, null];
    await page.route('**/api/migration', async (route) => {
      reads += 1;
      if (reads === 1) return route.abort();
      // Waits as long as the page's timer, which was set earlier. Unless the page stopped it, its text is now shown.
      await page.evaluate(`new Promise((resolve) => setTimeout(resolve, 2_000))`);
      shown = await page.locator('#message').textContent();
      return route.continue();
    });
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(shown).toContain('Trying again…');
    expect(takeErrors()).toEqual([expect.stringContaining('ERR_FAILED')]);
  });

  test('says that the session has ended', async () => {
    current.portal.session = null;
    const { page } = await newPage(current.browser);
    await page.goto(current.url);
    await page.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    await page
      .getByText(
        'If you sign in with your account (for example, your work account), you can open the link again. Otherwise, the link works only once.',
      )
      .waitFor();
    expect(takeErrors()).toEqual([expect.stringContaining('401')]);
  });

  test('tries again once at a time while the portal answers with an error status', async () => {
    const page = await signIn(current.browser, current);
    await page.locator('#live').getByText('Live').waitFor();
    current.portal.isDown = true;
    current.portal.dropStreams();
    await until(() => current.portal.refusedWhileDown.includes('/api/session'));
    // A person who returns to the page makes it check the session at once, in addition to its next attempt.
    const checks = () => current.portal.refusedWhileDown.filter((path) => path === '/api/session').length;
    const before = checks();
    await page.evaluate(`for (let i = 0; i < 10; i += 1) document.dispatchEvent(new Event('visibilitychange'))`);
    await until(() => checks() === before + 10);
    // The next attempt was scheduled before these checks, and schedules the attempt after it. If each check had
    // scheduled an attempt too, ten more would follow.
    await until(() => checks() > before + 11);
    // The browser sends requests in order, so the portal has received every attempt that began before this request.
    await page.evaluate(() => fetch('/api/companies'));
    expect(checks()).toBe(before + 12);
    current.portal.isDown = false;
    await page.locator('#live').getByText('Live').waitFor();
    expect(takeErrors()).not.toEqual([]);
  });
});
