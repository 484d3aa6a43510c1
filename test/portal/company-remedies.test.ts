/** Tests that the portal's API lists a company's remedies only if the migration accepts them in its current step. */
import type { z } from 'zod';
import type { CompaniesSchema } from '../../portal/contract/migration-view';
import { writePortalView } from '../../store';
import { sampleSteps, sampleView } from './page/sample-view';
import { signIn, usePortal } from './running-portal';

const portal = usePortal();

test('no company of a terminated migration can still be moved, although the ledger does not know it', async () => {
  const session = await signIn(portal);
  const { migrationId } = session;
  const read = async (state: 'running' | 'terminated', filter: string) => {
    await writePortalView(portal.db, migrationId, { ...sampleView({ steps: sampleSteps(6) }), state, migrationId });
    const answer = await session.fetch(`/api/companies?limit=1&state=${filter}`);
    return ((await answer.json()) as z.infer<typeof CompaniesSchema>).companies;
  };
  expect(await read('running', 'not-moved-yet')).toMatchObject([{ state: 'not-moved-yet' }]);
  expect(await read('terminated', 'not-moved-yet')).toEqual([]);
  expect(await read('terminated', 'not-moved')).toMatchObject([{ state: 'not-moved', remedies: [], accepts: [] }]);
});

test('a company that failed cannot be left out before step 6, or get a credential that is refused', async () => {
  const session = await signIn(portal);
  const { migrationId } = session;
  await portal.db
    .updateTable('companies')
    .set({ state: 'failed', failure: 'sync-failed', failure_text: 'no answer', tries: 1 })
    .where('migration_id', '=', migrationId)
    .where('row', '=', 1)
    .execute();
  const read = async (step: number, messages: readonly string[]) => {
    const view = sampleView({ steps: sampleSteps(step), firstCompany: null });
    const actions = messages.flatMap((message) => view.actions.slice(0, 1).map((action) => ({ ...action, message })));
    await writePortalView(portal.db, migrationId, { ...view, actions, migrationId });
    const answer = await session.fetch('/api/companies?limit=1');
    const { companies } = (await answer.json()) as z.infer<typeof CompaniesSchema>;
    return companies[0];
  };
  expect(await read(5, [])).toMatchObject({ remedies: ['replace-credential'], accepts: [] });
  expect(await read(6, ['replaceCredential'])).toMatchObject({
    remedies: ['retry', 'replace-credential', 'skip'],
    accepts: ['replaceCredential'],
  });
});

test('a retry is not offered for a company that must reconnect after its credential was handed over', async () => {
  const session = await signIn(portal);
  const { migrationId } = session;
  const read = async (crossedAt: Date | null) => {
    await portal.db
      .updateTable('companies')
      .set({ state: 'failed', failure: 'reauthorization-required', failure_text: 'revoked', tries: 1 })
      .set({ link_url: 'https://link.example/1', crossed_at: crossedAt })
      .where('migration_id', '=', migrationId)
      .where('row', '=', 1)
      .execute();
    await writePortalView(portal.db, migrationId, { ...sampleView({ steps: sampleSteps(6) }), migrationId });
    const answer = await session.fetch('/api/companies?limit=1');
    return ((await answer.json()) as z.infer<typeof CompaniesSchema>).companies[0]?.remedies;
  };
  expect(await read(null)).toEqual(['relink', 'replace-credential', 'retry', 'skip']);
  expect(await read(new Date())).toEqual(['relink', 'replace-credential', 'skip']);
});
