/** References of companies that a person types into a form of the portal's page. */
import { describeWithChromium, signIn, usePage } from './browser-page';
import { sampleCompanies, sampleView } from './sample-view';

describeWithChromium("references that are typed into the portal's page", () => {
  const current = usePage((portal) => {
    const exclude = sampleView().actions.filter(({ message }) => message === 'exclude');
    portal.view = sampleView({ actions: exclude });
    const [first, ...others] = sampleCompanies(4);
    portal.companies = [...(first ? [{ ...first, reference: 'K-0002, K-0003' }] : []), ...others];
    portal.answer = () => ({ outcome: 'applied', text: 'done' });
  });

  test.each([
    ['a line with commas whose parts are references is split', 'K-0004\nK-0003,K-0002', ['K-0004', 'K-0003', 'K-0002']],
    ['a line that is a reference with a comma is kept', 'K-0002, K-0003\nK-0004', ['K-0002, K-0003', 'K-0004']],
    ['a line of which a part is no reference is kept', 'K-0004, K-9999', ['K-0004, K-9999']],
  ])('%s', async (_, typed, companies) => {
    const page = await signIn(current.browser, current);
    await page.getByRole('button', { name: 'Leave companies out' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Companies').fill(typed);
    await dialog.getByLabel('Your reason').fill('Sold');
    await dialog.getByRole('button', { name: 'Leave companies out' }).click();
    await dialog.getByText('✓ Done.').waitFor();
    expect(current.portal.sent.at(-1)?.body).toMatchObject({ message: 'exclude', decision: { companies } });
  });
});
