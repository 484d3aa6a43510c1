/** The portal's page in a browser: its content, and how decisions are made. */
import type { Page } from 'playwright-core';
import { REVIEW_CHANGED } from '../../../domain/migration/decision-record';
import { parseSigned, signatureRefusal } from '../../../domain/migration/signatures';
import { axeViolations, describeWithChromium, signIn, usePage } from './browser-page';
import { CONFIRM_SYNC, sampleCompanies, sampleView } from './sample-view';

describeWithChromium("the portal's page", () => {
  const current = usePage();

  const open = (options = {}): Promise<Page> => signIn(current.browser, current, options);
  const sentDecision = () => current.portal.sent.at(-1)?.body as { message: 'confirmSyncDisabled'; decision: object };

  test("shows the task with its reason, the deadline in the reader's time zone, and what comes next", async () => {
    const page = await open();
    const task = page.locator('#task');
    expect(await task.textContent()).toContain('Why: If your own application keeps syncing');
    expect(await task.textContent()).toContain('Sat, 28 Nov 2026, 15:00 GMT\u22125');
    expect(await task.textContent()).toContain('What comes next: Once syncing is off and you have supplied the');
    expect(await page.locator('#notices').textContent()).toContain('opens at Sat, 28 Nov 2026, 15:00 GMT\u22125');
    expect(await page.locator('#zone').textContent()).toContain('America/New_York');
    expect(await page.locator('[aria-current=step]').textContent()).toContain('Disable data syncing');
  });

  test('signs a decision with the key of the browser, so that the migration accepts it', async () => {
    const page = await open();
    await page.getByRole('button', { name: CONFIRM_SYNC.title }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain(
      'Never switch syncing back on for a company that is moving or has moved',
    );
    await dialog.getByLabel('all companies').check();
    await dialog.getByRole('button', { name: CONFIRM_SYNC.title }).click();
    await dialog.getByText('✓ Done.').waitFor();

    const { message, decision } = sentDecision();
    const publicKey = current.portal.session?.publicKey ?? '';
    expect(decision).toMatchObject({ role: 'client', by: 'Cleo', companies: 'all', digest: CONFIRM_SYNC.digest });
    const signing = { approvers: [{ role: 'client', by: 'Cleo', publicKey }], mustSign: ['client'] } as const;
    const signed = parseSigned(message, decision);
    expect(signatureRefusal({ migrationId: 'kite', ...signing }, 'client', signed)).toBeNull();
    expect(signatureRefusal({ migrationId: 'another', ...signing }, 'client', signed)).toMatch(/does not match/);
  });

  test('confirms one wave by the references of its companies', async () => {
    const page = await open();
    await page.getByRole('button', { name: CONFIRM_SYNC.title }).click();
    await page.getByLabel('Wave', { exact: true }).selectOption('1');
    await page.getByRole('dialog').getByRole('button', { name: CONFIRM_SYNC.title }).click();
    await page.getByText('✓ Done.').waitFor();
    const wave = current.portal.companies.filter((each) => each.wave === 1 && each.confirmedAt === null);
    expect(sentDecision().decision).toMatchObject({ companies: wave.map(({ reference }) => reference) });
  });

  test('asks for a reason before an irreversible decision, and shows why it was refused', async () => {
    current.portal.answer = () => ({ outcome: 'refused', text: 'the migration has ended' });
    const page = await open();
    await page.getByRole('button', { name: 'Cancel the migration' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('This cannot be undone.');
    await dialog.getByRole('button', { name: 'Cancel the migration' }).click();
    expect(await dialog.getByRole('alert').textContent()).toContain('Write your reason');
    expect(current.portal.sent.filter(({ path }) => path === '/api/decisions')).toEqual([]);
    await dialog.getByLabel('Your reason').fill('We stay where we are');
    await dialog.getByRole('button', { name: 'Cancel the migration' }).click();
    await dialog.getByText('The migration has ended.').waitFor();
    expect(sentDecision().decision).toMatchObject({ reason: 'We stay where we are' });
  });

  test('a dialog whose content has changed says so, and shows neither the old content nor its button', async () => {
    current.portal.answer = () => ({ outcome: 'refused', text: REVIEW_CHANGED });
    const page = await open();
    await page.getByRole('button', { name: 'Cancel the migration' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your reason').fill('We stay where we are');
    await dialog.getByRole('button', { name: 'Cancel the migration' }).click();
    await dialog.getByText('Close this dialog, and open it again.').waitFor();
    expect(await dialog.textContent()).not.toContain('This cannot be undone.');
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['Close']);
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: 'Cancel the migration' }).click();
    expect(await dialog.textContent()).toContain('This cannot be undone.');
  });

  test("converts a proposed start from the reader's time zone to UTC, and sends windows", async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Propose another start' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Start', { exact: true }).fill('2027-03-14T02:30');
    await dialog.getByRole('button', { name: 'Propose another start' }).click();
    await dialog.getByText('02:30 does not exist in America/New_York').waitFor();
    await dialog.getByText('choose 2027-03-14 01:59 or 2027-03-14 03:00 instead').waitFor();
    await dialog.getByLabel('Start', { exact: true }).fill('2026-12-05T20:00');
    await dialog.getByLabel('When companies may move').fill('sat,sun 20:00-06:00 Europe/Lundon');
    await dialog.getByRole('button', { name: 'Propose another start' }).click();
    await dialog.getByText('There is no time zone Europe/Lundon').waitFor();
    await dialog.getByLabel('When companies may move').fill('sat,sun 20:00-06:00 Europe/London');
    await dialog.getByRole('button', { name: 'Propose another start' }).click();
    await dialog.getByText('✓ Done.').waitFor();
    expect(sentDecision().decision).toMatchObject({
      startAt: '2026-12-06T01:00:00.000Z',
      windows: [{ days: ['sat', 'sun'], from: '20:00', to: '06:00', timeZone: 'Europe/London' }],
    });
  });

  test('shows markup in names and reasons as text', async () => {
    const markup = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
    current.portal.view = sampleView({
      ...{ client: markup, headline: markup, contact: markup, notices: [markup], next: markup },
      task: { what: markup, why: markup, since: null, by: null },
      actions: [{ ...CONFIRM_SYNC, title: markup, facts: [markup], consequence: markup }],
    });
    current.portal.companies = sampleCompanies(1).map((each) => ({
      ...each,
      ...{ name: markup, reference: markup, problem: markup, linkUrl: 'javascript:document.title=1' },
    }));
    const page = await open();
    await page.locator('#task button').first().click();
    expect(await page.locator('img, main script').count()).toBe(0);
    expect(await page.locator('a[href^="javascript:"]').count()).toBe(0);
    expect(await page.title()).toBe(`${markup} (QuickBooks Online)`);
    expect(await page.getByRole('dialog').locator('h2').textContent()).toBe(markup);
    expect(await page.locator('#exceptions .name strong').textContent()).toBe(markup);
  });

  test('loads less than 100 kB for the first view', async () => {
    await open();
    const bytes = [...current.portal.transferred.values()].reduce((sum, size) => sum + size, 0);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(100_000);
  });

  test('shows progress as it happens, without moving what a person reads', async () => {
    const page = await open();
    await page.evaluate(`globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push(entry.value);
    }).observe({ type: 'layout-shift' })`);
    for (let moved = 15; moved < 40; moved += 1) {
      const counts = { ...current.portal.view.counts, moved, notMovedYet: 52 - moved };
      current.portal.companies = current.portal.companies.map((each) =>
        each.row === moved ? { ...each, state: 'moved' } : each,
      );
      current.portal.publish({ counts, headline: `Step 6 of 6: ${moved} of 60 companies moved.` });
    }
    await page.getByText('39 of 60 companies moved').first().waitFor();
    await page.locator('#companies .chip.moved').nth(20).waitFor();
    expect(await page.evaluate('shifts')).toEqual([]);
  });

  test('shows every change of the facts at once', async () => {
    const page = await open();
    const facts = page.locator('#facts');
    current.portal.publish({ switchBackOn: 'from now on, for companies that were left out' });
    await facts.getByText('From now on, for companies that were left out').waitFor();
    current.portal.publish({ contact: 'Alex, +44 20 7946 0000' });
    await facts.getByText('Alex, +44 20 7946 0000').waitFor();
  });

  test('finds companies by name and by state', async () => {
    const page = await open();
    await page.getByLabel('Find by name or reference').fill('K-0004');
    await page.locator('#companies').getByText('1 company shown').waitFor();
    await page.getByLabel('Find by name or reference').fill('');
    await page.getByLabel('Show', { exact: true }).selectOption('must-reconnect');
    await page.locator('#companies').getByText('2 companies shown').waitFor();
  });

  test('leaves selected companies out with a reason', async () => {
    const page = await open();
    await page.locator('#companies li input').nth(1).check();
    await page.locator('#companies li input').nth(4).check();
    await page.getByRole('region', { name: 'Selected companies' }).getByRole('button', { name: 'Leave out' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your reason').fill('Sold');
    await dialog.getByRole('button', { name: 'Leave out' }).click();
    await dialog.getByText('✓ Done.').waitFor();
    expect(sentDecision()).toMatchObject({ message: 'exclude', decision: { companies: ['K-0002', 'K-0005'] } });
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('region', { name: 'Selected companies' }).waitFor({ state: 'hidden' });
    expect(await page.locator('#companies li input:checked').count()).toBe(0);
  });

  test('has a button for each remedy of a company that the client can use', async () => {
    const [supply] = sampleView().actions.filter(({ message }) => message === 'credentialsSupplied');
    const exclude = sampleView().actions.filter(({ message }) => message === 'exclude');
    current.portal.view = sampleView({ actions: exclude });
    current.portal.companies = sampleCompanies(6).map((each) =>
      each.row === 2
        ? { ...each, hasCredential: false, problem: 'no credential supplied', remedies: ['credentials', 'exclude'] }
        : each,
    );
    const page = await open();
    const waiting = page.locator('#companies li').nth(1);
    expect(await waiting.textContent()).toContain('You can: leave the company out.');
    current.portal.publish({ actions: supply ? [supply, ...exclude] : [] });
    await waiting.getByText('You can: supply a credential that was exported after').waitFor();
    expect(await waiting.locator('.buttons button').allTextContents()).toEqual(['Supply a credential', 'Leave out']);
    const failed = page.locator('#companies li').nth(5);
    expect(await failed.textContent()).toContain('Support can: try again; give up on the company.');
    expect(await failed.textContent()).not.toContain('You can');
    const mustReconnect = page.locator('#companies li').nth(2);
    const replace = { ...CONFIRM_SYNC, message: 'replaceCredential', title: 'Replace credentials' };
    current.portal.publish({ actions: [replace] });
    await mustReconnect.getByText('You can: replace the stored credential with a new credential').waitFor();
    expect(await mustReconnect.textContent()).toContain(
      'The end customer can reconnect the company on the reconnect page.',
    );
    expect(await mustReconnect.locator('.buttons button').allTextContents()).toEqual(['Replace the credential']);
  });

  test('says that companies without a credential need one although none has failed', async () => {
    const page = await open();
    current.portal.companies = [];
    current.portal.publish({ counts: { ...sampleView().counts, withoutCredential: 2 } });
    await page
      .getByText('No company has failed, but 2 companies with syncing off have no usable credential.')
      .waitFor();
  });

  test('changes the limits of a self-service migration', async () => {
    const title = 'Change when and how fast companies move';
    const page = await open();
    const change = { ...CONFIRM_SYNC, message: 'adjust', title, facts: ['Now: at any time'], isExpected: false };
    current.portal.publish({ route: 'self-service', actions: [change] });
    await page.getByRole('button', { name: title }).click();
    const dialog = page.getByRole('dialog');
    expect(await axeViolations(page)).toEqual([]);
    await dialog.getByRole('button', { name: title }).click();
    await dialog.getByText('Enter at least one change.').waitFor();
    await dialog.getByLabel('Maximum companies per minute').fill('0');
    await dialog.getByRole('button', { name: title }).click();
    await dialog.getByText('must be a whole number from 1 to 1,000,000').waitFor();
    await dialog.getByLabel('Maximum companies per minute').fill('30');
    await dialog.getByLabel('When companies may move').fill('any time');
    await dialog.getByRole('button', { name: title }).click();
    await dialog.getByText('✓ Done.').waitFor();
    expect(sentDecision()).toMatchObject({
      message: 'adjust',
      decision: { limits: { companiesPerMinute: 30, windows: [] } },
    });
  });

  test('can be used with only the keyboard', async () => {
    const page = await open();
    await page.reload();
    await page.locator('#migration').waitFor();
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the content');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe(CONFIRM_SYNC.title);
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await focused(page)).toBe(CONFIRM_SYNC.title);
  });

  test.each([
    [390, 'light'],
    [390, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const)('has no axe violation at %d pixels, %s, and fits the screen', async (width, colorScheme) => {
    const page = await open({ width, colorScheme });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
    expect(await axeViolations(page)).toEqual([]);
    for (const { title } of current.portal.view.actions) {
      await page.getByRole('button', { name: title, exact: true }).first().click();
      await page.getByRole('dialog').waitFor();
      expect(await axeViolations(page)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width);
      await page.keyboard.press('Escape');
    }
  });

  test('breaks no word of the header on a narrow phone', async () => {
    const page = await open({ width: 360 });
    expect(await page.evaluate(BROKEN_WORDS_IN_HEADER)).toEqual([]);
  });
});

/** A script that returns the texts of the header that need more than one line. */
const BROKEN_WORDS_IN_HEADER = `
  [...document.querySelectorAll('.bar span, .bar button')]
    .filter(({ clientHeight }) => clientHeight > 40)
    .map(({ textContent }) => textContent)`;

const focused = (page: Page): Promise<string> => page.evaluate('document.activeElement.textContent');
