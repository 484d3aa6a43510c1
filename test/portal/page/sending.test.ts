/** The texts and questions of the page while it sends a decision, and afterwards. */
import type { Page } from 'playwright-core';
import { acceptedText, companiesOutcomeText } from '../../../domain/migration/partial-outcome';
import { axeViolations, describeWithChromium, INVITATION, signIn, usePage } from './browser-page';
import { CONFIRM_SYNC } from './sample-view';

describeWithChromium("sending a decision in the portal's page", () => {
  const current = usePage();

  async function decide(page: Page): Promise<void> {
    await page.getByRole('button', { name: CONFIRM_SYNC.title }).click();
    await page.getByRole('dialog').getByRole('button', { name: CONFIRM_SYNC.title }).click();
  }

  const UNANSWERED = { json: { id: 'request', answer: null } };
  const NOTICE = `The page was closed before it had finished: ${CONFIRM_SYNC.title}`;

  /** Begins a decision that is not answered while the page is open. */
  async function decideWithoutAnswer(page: Page): Promise<void> {
    for (const path of ['**/api/requests/*', '**/api/decisions'])
      await page.route(path, (route) => route.fulfill(UNANSWERED));
    await decide(page);
    await page.getByText('Waiting for the migration to answer…').waitFor();
  }

  test('the browser asks before the page is closed, and the page says later that it had not finished', async () => {
    const page = await signIn(current.browser, current);
    await decideWithoutAnswer(page);
    expect(await page.getByText('Keep this page open until it shows the result.').isVisible()).toBe(true);
    // Another tab does not show the notice while the first tab is still sending.
    const other = await page.context().newPage();
    await other.goto(current.url);
    await other.locator('#migration').waitFor();
    expect(await other.getByText(NOTICE).count()).toBe(0);
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    expect(questions).toEqual(['beforeunload']);
    await page.getByText(NOTICE).waitFor();
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(await page.getByText(NOTICE).count()).toBe(0);
    await page.unroute('**/api/decisions');
    await decide(page);
    await page.getByText('✓ Done.').waitFor();
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(questions).toHaveLength(1);
    expect(await page.getByText(NOTICE).count()).toBe(0);
  });

  test('a tab that finishes does not forget what another tab had not finished', async () => {
    const closed = await signIn(current.browser, current);
    const other = await closed.context().newPage();
    await other.goto(current.url);
    await other.locator('#migration').waitFor();
    await decideWithoutAnswer(closed);
    await decide(other);
    await other.getByText('✓ Done.').waitFor();
    await closed.close();
    await other.reload();
    await other.getByText(NOTICE).waitFor();
  });

  test('a tab reloads without a question if another tab signs in to another migration while it sends', async () => {
    const first = await signIn(current.browser, current);
    await decideWithoutAnswer(first);
    const questions: string[] = [];
    first.on('dialog', (dialog) => {
      questions.push(dialog.type());
      void dialog.accept();
    });
    const second = await first.context().newPage();
    current.portal.view = { ...current.portal.view, migrationId: 'lark', client: 'Lark Books' };
    await second.goto(`${current.url}/#invitation=second-${INVITATION}`);
    await second.getByRole('button', { name: 'Continue' }).click();
    await first.getByText('This tab showed').waitFor();
    expect(questions).toEqual([]);
  });

  test('a decision that is no longer possible is not offered again after its refusal', async () => {
    const page = await signIn(current.browser, current);
    await page.getByRole('button', { name: 'Cancel the migration' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Your reason').fill('We stay where we are');
    current.portal.answer = () => ({ outcome: 'refused', text: 'the migration has ended' });
    current.portal.view = { ...current.portal.view, actions: [] };
    await dialog.getByRole('button', { name: 'Cancel the migration' }).click();
    await dialog.getByText('The migration has ended.').waitFor();
    expect(await dialog.getByRole('button').allTextContents()).toEqual(['Close']);
  });

  const confirmed = '3 companies confirmed';
  test.each([
    ['⚠ 2 credentials supplied, although the decision says 3: 1 other credential did not', acceptedText(2, 3)],
    ['✗ 0 credentials supplied, although the decision says 3: 3 credentials did not', acceptedText(0, 3)],
    ['⚠ 2 companies confirmed; applied to 2 of 3 companies', companiesOutcomeText(confirmed, 2, 3)],
    ['✗ Nothing has changed: the 3 companies do not exist', companiesOutcomeText(confirmed, 0, 3)],
    ['✓ 3 companies confirmed', confirmed],
  ])('the sign of an outcome says whether it has changed all, some or nothing: %s', async (shown, text) => {
    current.portal.answer = () => ({ outcome: 'applied', text });
    const page = await signIn(current.browser, current);
    await decide(page);
    await page.getByRole('dialog').getByText(shown).waitFor();
    expect(await axeViolations(page)).toEqual([]);
  });
});
