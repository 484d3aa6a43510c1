/** The texts in the dialog of a decision while it sends, and afterwards. */
import type { Page } from 'playwright-core';
import { acceptedText, companiesOutcomeText } from '../../../domain/migration/partial-outcome';
import { axeViolations, describeWithChromium, signIn, usePage } from './browser-page';
import { CONFIRM_SYNC } from './sample-view';

describeWithChromium("sending a decision in the portal's page", () => {
  const current = usePage();

  async function decide(page: Page): Promise<void> {
    await page.getByRole('button', { name: CONFIRM_SYNC.title }).click();
    await page.getByRole('dialog').getByRole('button', { name: CONFIRM_SYNC.title }).click();
  }

  test('the browser asks before the page is closed, and the page says later that it had not finished', async () => {
    const page = await signIn(current.browser, current);
    const unanswered = { json: { id: 'request', answer: null } };
    for (const path of ['**/api/requests/*', '**/api/decisions'])
      await page.route(path, (route) => route.fulfill(unanswered));
    await decide(page);
    await page.getByText('Waiting for the migration to answer…').waitFor();
    expect(await page.getByText('Keep this page open until it has finished.').isVisible()).toBe(true);
    // Another tab does not say that the sending has ended.
    const other = await page.context().newPage();
    await other.goto(current.url);
    await other.locator('#migration').waitFor();
    const notice = `The page was closed before it had finished: ${CONFIRM_SYNC.title}`;
    expect(await other.getByText(notice).count()).toBe(0);
    const questions: string[] = [];
    page.on('dialog', (dialog) => {
      questions.push(dialog.type());
      void dialog.accept();
    });
    await page.reload();
    expect(questions).toEqual(['beforeunload']);
    await page.getByText(notice).waitFor();
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(await page.getByText(notice).count()).toBe(0);
    await page.unroute('**/api/decisions');
    await decide(page);
    await page.getByText('✓ Done.').waitFor();
    await page.reload();
    await page.locator('#migration').waitFor();
    expect(questions).toHaveLength(1);
    expect(await page.getByText(notice).count()).toBe(0);
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
