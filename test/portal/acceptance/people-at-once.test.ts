/** Several people and browsers at once, with the portal, its database and a worker. */
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { listInvitations, readTrail } from '../../../store';
import { waitForProgress } from '../../workflows/running-migration';
import { axeViolations, describeWithChromium, newPage, takeErrors } from '../page/browser-page';
import {
  acceptInvitation,
  join,
  manifestFile,
  openDecision,
  send,
  startMigration,
  support,
  useOpenedPortal,
} from './people';

const START = 'Approve the start';

describeWithChromium('people of one client', () => {
  const opened = useOpenedPortal();
  afterEach(async () => {
    await Promise.all(opened.browser.contexts().map((context) => context.close()));
    takeErrors(); // Chromium writes each answer with an error status to the console.
  });

  test('decide the same thing at once: one decision is applied, the other person reads who was first, and all pages show it', async () => {
    const { ferry } = opened.portal.orchestrator;
    const id = await startMigration(opened, 'portal-two-people');
    const [cleo, mia, finn] = await Promise.all([
      join(opened, id),
      join(opened, id, { name: 'Mia', width: 390 }),
      join(opened, id, { name: 'Finn', role: 'viewer' }),
    ]);
    await openDecision(cleo, 'Supply the manifest');
    await cleo.getByLabel('Manifest (CSV or JSON)').setInputFiles(manifestFile(1));
    await cleo.getByText('✓ 60 companies').waitFor();
    await send(cleo, 'Supply the manifest');
    await waitForProgress(ferry, id, ({ preflight, checking }) => preflight?.companies === 60 && !checking);
    await support(opened, 'approve', id, 'supply-details', '--yes', '--by', 'Sam');
    await support(opened, 'propose-time', id, '2036-03-01 20:00', '--by', 'Sam');

    await Promise.all([cleo, mia].map((page) => openDecision(page, START)));
    await finn.getByText('Approve the start at').first().waitFor();
    expect(await finn.locator('#task button, #decisions button, #companies input[type=checkbox]').count()).toBe(0);
    expect(await finn.evaluate(DECIDE)).toBe(403);
    const sent = await Promise.allSettled([cleo, mia].map((page) => send(page, START)));
    const reasons = sent.flatMap((each) => (each.status === 'rejected' ? [String(each.reason)] : []));
    expect(reasons).toEqual([
      expect.stringMatching(
        /Step 2 \(schedule the migration\) has already been approved by the client \((Cleo|Mia)\)\./,
      ),
    ]);
    for (const page of [cleo, mia]) await page.keyboard.press('Escape');
    const approvals = (page: Page) => page.locator('#steps').getByText(/^Approved by (Cleo|Mia) \(client\)/);
    await Promise.all([cleo, mia, finn].map((page) => approvals(page).waitFor()));
    await Promise.all(
      [cleo, mia].map((page) => page.getByRole('button', { name: START }).waitFor({ state: 'hidden' })),
    );
    const { steps } = await waitForProgress(ferry, id, () => true);
    expect(steps.flatMap((step) => (step.step === 'schedule' ? step.approvals : [])).length).toBe(1);

    // A decision about a proposal that has been replaced is refused with a reason, and the dialog stays open.
    await openDecision(mia, 'Reject the proposed start');
    await mia.getByLabel('Your reason').fill('Too early');
    await support(opened, 'propose-time', id, '2036-04-01 20:00', '--by', 'Sam');
    await mia.getByRole('dialog').getByRole('button', { name: 'Reject the proposed start' }).click();
    await mia.getByRole('alert').getByText('changed').waitFor();
    expect(await mia.getByLabel('Your reason').inputValue()).toBe('Too early');
    let rejections = 0;
    for await (const { decision, outcome } of readTrail(ferry.db, id))
      if (outcome.applied && decision.kind === 'step' && decision.verdict === 'reject') rejections += 1;
    expect(rejections).toBe(0);
  });

  describe('open a link', () => {
    const refused = async (page: Page, link: string): Promise<void> => {
      await page.goto(link);
      await page.getByRole('button', { name: 'Continue' }).click();
      await page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
      expect(await axeViolations(page)).toEqual([]);
    };

    test('that was used, has expired or was revoked', async () => {
      const id = await startMigration(opened, 'portal-links');
      const { db } = opened.portal.orchestrator.ferry;
      const link = await opened.portal.invite(id);
      const { page } = await newPage(opened.browser, { width: 390 });
      await acceptInvitation(page, link);
      const { page: stranger } = await newPage(opened.browser, { width: 390 });
      await refused(stranger, link);
      const unused = await opened.portal.invite(id, 'Mia');
      await sql`update portal_invitations set expires_at = now() where person = 'Mia'`.execute(db);
      await refused(stranger, unused);
      const revoked = await opened.portal.invite(id, 'Finn');
      const finn = (await listInvitations(db, id)).find(({ person }) => person === 'Finn');
      await support(opened, 'invite', '--revoke', finn?.id ?? '', '--by', 'Sam');
      await refused(stranger, revoked);
      await stranger.goto(opened.portal.url);
      await stranger.getByRole('heading', { name: 'You are not signed in' }).waitFor();
    });

    test('of another migration while they are signed in: every tab then shows the other migration', async () => {
      const [one, other] = [await startMigration(opened, 'portal-one'), await startMigration(opened, 'portal-other')];
      const first = await join(opened, one);
      const link = await opened.portal.invite(other, 'Cleo');
      const second = await first.context().newPage();
      await second.goto(link);
      await second.getByText('This browser was last used for portal-one (QuickBooks Online), as Cleo.').waitFor();
      expect(await axeViolations(second)).toEqual([]);
      await second.getByRole('button', { name: 'Continue' }).click();
      await second.getByRole('heading', { name: 'portal-other', exact: true }).waitFor();
      await first.getByRole('heading', { name: 'portal-other', exact: true }).waitFor();
      await first.locator('.fingerprint').waitFor();
    });

    test('in a tab that already shows the portal', async () => {
      const id = await startMigration(opened, 'portal-same-tab');
      const page = await join(opened, id);
      const link = await opened.portal.invite(id, 'Mia');
      await page.evaluate(`location.href = ${JSON.stringify(link)}`);
      await page.getByRole('heading', { name: 'Welcome to your migration' }).waitFor();
      expect(page.url()).not.toContain('invitation');
    });
  });
});

/** A script that sends a decision without the page's buttons, and returns the status. */
const DECIDE = `fetch('/api/decisions', {
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-tokenferry-portal': '1' },
  body: '{}',
}).then(({ status }) => status)`;
