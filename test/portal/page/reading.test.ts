/** How readable the portal's page is: nothing moves under the pointer, dialogs name companies, prints are readable. */
import type { Page } from 'playwright-core';
import { axeViolations, describeWithChromium, signIn, usePage } from './browser-page';
import { CONFIRM_SYNC, sampleView } from './sample-view';

const SIGN_OFF = {
  ...CONFIRM_SYNC,
  message: 'approve',
  step: 'complete-migration',
  title: 'Sign off the handover',
  facts: ['56 of 60 companies moved'],
};

describeWithChromium("reading the portal's page", () => {
  const current = usePage();
  const open = (options = {}): Promise<Page> => signIn(current.browser, current, options);

  test.each([390, 1440])('does not move the buttons of the task when a notice appears, at %d pixels', async (width) => {
    const page = await open({ width });
    const button = page.getByRole('button', { name: CONFIRM_SYNC.title });
    const before = await button.boundingBox();
    current.portal.publish({ notices: ['Paused by Sam: we check something first', ...current.portal.view.notices] });
    await page.getByText('Paused by Sam').waitFor();
    expect(before).not.toBeNull();
    expect(await button.boundingBox()).toEqual(before);
  });

  test('shows the platform and the label of the migration, because a client can have several migrations', async () => {
    current.portal.view = sampleView({ migrationId: 'kite.quickbooks-online.big' });
    const page = await open();
    expect(await page.locator('#title').textContent()).toBe('Kite Bookkeeping (big)');
    expect(await page.title()).toBe('Kite Bookkeeping (big) (QuickBooks Online)');
  });

  test('offers a decision only to people whom the four-eyes rule does not exclude', async () => {
    const page = await open();
    const { person } = current.portal.session ?? { person: '' };
    const button = page.getByRole('button', { name: SIGN_OFF.title });
    current.portal.publish({ actions: [{ ...SIGN_OFF, excludedPeople: ['Somebody Else'] }] });
    await button.waitFor();
    current.portal.publish({ actions: [{ ...SIGN_OFF, excludedPeople: [person] }] });
    await button.waitFor({ state: 'detached' });
  });

  test('after the end, the task has a button that creates the report and shows where it can be opened', async () => {
    const task = { what: 'Open the handover report, and do what it lists.', why: 'It matters.', since: null, by: null };
    const page = await open({ width: 390 });
    current.portal.answer = () => ({ outcome: 'done', text: 'written' });
    const create = page.locator('#task').getByRole('button', { name: 'Create the handover report' });
    expect(await create.count()).toBe(0);
    current.portal.publish({ state: 'completed', next: null, actions: [], task });
    await create.click();
    await page.getByText('Report: ready.').waitFor();
    expect(current.portal.sent.at(-1)).toMatchObject({ path: '/api/reports', body: { format: 'html' } });
    expect(await page.getByRole('link', { name: 'Open the report' }).isVisible()).toBe(true);
    const top = await page.evaluate<number>('document.getElementById("report").getBoundingClientRect().top');
    expect(Math.abs(top)).toBeLessThan(844);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('shows the deadline and its consequence in one line, and no line if there is no deadline', async () => {
    const page = await open();
    const deadline = page.locator('#task .deadline');
    const reopens =
      'If anything is still missing at that time, moves cannot begin before the next window, at Sat, 5 Dec 2026, 15:00 GMT\u22125.';
    expect((await deadline.textContent())?.replaceAll('\u00a0', ' ')).toMatch(/^Deadline: Sat, 28 Nov 2026, 15:00 /);
    expect((await deadline.textContent())?.replaceAll('\u00a0', ' ')).toContain(`). ${reopens}`);
    current.portal.publish({ task: { what: 'Turn off syncing.', why: 'It matters.', since: null, by: null } });
    await page.getByText('It matters.').waitFor();
    expect(await page.locator('#task').textContent()).not.toMatch(/Deadline|By:|no fixed time/);
  });

  test('shows beside the expected end, in the zone of the reader, when the window closes and moves continue', async () => {
    const { end } = sampleView();
    const basis =
      'at the current rate; the window closes 2026-11-29 02:00 UTC, and moves continue 2026-11-30 20:00 UTC';
    current.portal.view = sampleView({ end: end && { ...end, basis } });
    const page = await open();
    expect((await page.locator('#progress').textContent())?.replaceAll('\u00a0', ' ')).toMatch(
      /the window closes Sat, 28 Nov 2026, 21:00 GMT\u22125, and moves continue Mon, 30 Nov 2026, 15:00 GMT\u22125/,
    );
  });

  test('does not move a list with selected companies when another company needs attention', async () => {
    const companies = current.portal.companies;
    current.portal.companies = companies.map((each) => ({ ...each, problem: null }));
    const page = await open({ width: 390 });
    const box = page.locator('#companies li input').first();
    await box.check();
    const before = await box.boundingBox();
    current.portal.companies = companies;
    current.portal.publish({ counts: { ...current.portal.view.counts, moved: 15, notMovedYet: 37 } });
    const exceptions = page.locator('#exceptions');
    await exceptions.getByText('The list has changed.').waitFor();
    expect(await box.boundingBox()).toEqual(before);
    await exceptions.getByRole('button', { name: 'Update the list' }).click();
    await exceptions.locator('.company').nth(3).waitFor();
  });

  test('offers the file of reconnect links if a company that is not shown has a link, and not without any link', async () => {
    const failed = { state: 'not-moved', problem: 'the sync did not finish in time', linkUrl: null } as const;
    current.portal.companies = current.portal.companies.map((each) => ({ ...each, ...failed }));
    current.portal.view = sampleView({ hasReconnectLinks: false });
    const page = await open();
    const download = page.getByRole('link', { name: 'Download all reconnect links (CSV)' });
    await page.locator('#exceptions').getByText('50 companies shown; there are more.').waitFor();
    expect(await download.isVisible()).toBe(false);
    current.portal.publish({ hasReconnectLinks: true });
    await download.waitFor();
  });

  test('tells a viewer who acts', async () => {
    const page = await open();
    current.portal.session = current.portal.session && { ...current.portal.session, role: 'viewer', publicKey: null };
    const { steps } = current.portal.view;
    const who = ['you', 'you and support', 'support'];
    current.portal.view = sampleView({
      steps: steps.slice(0, 3).map((step, index) => ({ ...step, who: who[index] ?? '' })),
      next: 'Once support has accepted the details, you and support agree on a start.',
    });
    await page.reload();
    await page.getByText('In its texts, "you" means the client.').waitFor();
    await page.getByText('the client and support agree on a start').waitFor();
    const text = await page.locator('#steps').innerText();
    expect(text).toMatch(/The client\.?\n[^]*The client and support\.?\n[^]*Support/);
    expect(text).not.toMatch(/\byou\b/i);
  });

  test('leaves open what a person has expanded', async () => {
    const evidence = [{ label: 'bills complete', result: '1 found', ok: true }];
    current.portal.view = sampleView({ firstCompany: { reference: 'K-0001', stage: 'verified', evidence } });
    const page = await open();
    await page.locator('details summary').click();
    current.portal.publish({ steps: current.portal.view.steps.map((step) => ({ ...step, who: 'you' })) });
    await page.locator('#steps').getByText('You.').nth(5).waitFor();
    expect(await page.getByText('bills complete: 1 found').isVisible()).toBe(true);
  });

  test.each([844, 600])('keeps the buttons of every dialog in sight, at 390 x %i', async (height) => {
    const page = await open({ width: 390 });
    await page.setViewportSize({ width: 390, height });
    for (const { title } of current.portal.view.actions) {
      await page.getByRole('button', { name: title, exact: true }).first().click();
      for (const name of [title, 'Back']) {
        const box = await page.getByRole('dialog').getByRole('button', { name, exact: true }).boundingBox();
        expect([title, name, box && box.y >= 0 && box.y + box.height <= height]).toEqual([title, name, true]);
      }
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
  });

  test('before the sign-off, names the companies that were not moved, with the reasons', async () => {
    current.portal.view = sampleView({ actions: [SIGN_OFF] });
    const page = await open();
    await page.getByRole('button', { name: SIGN_OFF.title }).dblclick();
    const dialog = page.getByRole('dialog');
    await dialog
      .getByRole('heading', { name: 'The companies that must reconnect, were not moved, or were left out' })
      .waitFor();
    expect(await dialog.getByRole('listitem').allTextContents()).toEqual([
      '56 of 60 companies moved',
      'Oak Street Dental (K-0003): must reconnect: the platform no longer accepts its credential',
      'Müller & Söhne GmbH (K-0009): must reconnect: the platform no longer accepts its credential',
      'Harbour Coffee Roasters Ltd (K-0006): not moved: the sync did not finish in time',
      'Blue Finch Studio (K-0012): not moved: the sync did not finish in time',
    ]);
    await dialog.getByRole('button', { name: 'Back' }).click();
    expect(await dialog.count()).toBe(0);
  });

  test('before the sign-off, warns of companies whose application was replaced, and counts those beyond 100', async () => {
    const warning =
      '3 companies (K-1, K-2, K-3) were connected with old-app (production), but new-app is registered now';
    const { counts } = sampleView();
    current.portal.view = sampleView({
      actions: [{ ...SIGN_OFF, warnings: [warning] }],
      counts: { ...counts, leftOut: 130, mustReconnect: 0, notMoved: 0 },
    });
    const [first] = current.portal.companies;
    current.portal.companies = Array.from({ length: 130 }, (_, index) => ({
      ...first!,
      ...{ row: index + 1, reference: `K-${index + 1}`, state: 'left-out' as const, problem: 'closed its books' },
    }));
    const page = await open();
    await page.getByRole('button', { name: SIGN_OFF.title }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText(`Warning: ${warning}.`).waitFor();
    await dialog.getByRole('heading', { name: 'The companies that were left out' }).waitFor();
    const named = await dialog.getByLabel('The companies that were left out').getByRole('listitem').allTextContents();
    expect([named.length, named[99], named[100]]).toEqual([
      101,
      expect.stringMatching(/\(K-100\): left out: closed its books$/),
      'and 30 more, which the list of companies shows',
    ]);
    expect(await axeViolations(page)).toEqual([]);
  });

  test('shows no open step and no expected end if the migration was cancelled', async () => {
    current.portal.view = sampleView({ state: 'cancelled', next: null, end: null, actions: [] });
    const page = await open();
    await page.getByText('Ended here').waitFor();
    expect(await page.getByText(/^(Now|Later|Expected end|Companies move)$/).count()).toBe(0);
  });

  test('expects no companies if the migration ended before its manifest was checked', async () => {
    const counts = { ...sampleView().counts, total: 0 };
    current.portal.view = sampleView({ state: 'cancelled', next: null, end: null, actions: [], counts });
    current.portal.companies = [];
    const page = await open();
    await page.getByText('The migration ended before a manifest was supplied and checked.').waitFor();
    await page.getByText('There are no companies.', { exact: true }).waitFor();
  });

  test('prints on white without buttons, with the addresses of links', async () => {
    const page = await open({ colorScheme: 'dark' });
    await page.emulateMedia({ media: 'print' });
    expect(await page.locator('button:visible, input:visible').count()).toBe(0);
    const spelledOut = await page.evaluate("getComputedStyle(document.querySelector('.link a'), '::after').content");
    expect(spelledOut).toMatch(/attr\(href\)|link\.service\.example/);
    expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe('rgb(255, 255, 255)');
    expect(await page.getByText('50 companies shown; there are more.').isVisible()).toBe(true);
  });
});
