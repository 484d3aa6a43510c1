/** The data about companies that the page reads. */
import { randomUUID } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import type { z } from 'zod';
import type { CompaniesSchema } from '../../portal/contract/migration-view';
import { recordDecisions } from '../../store';
import { signIn, usePortal, type Session } from './running-portal';

const portal = usePortal();

describe('companies', () => {
  const read = async (session: Session, query = '') =>
    (await (await session.fetch(`/api/companies${query}`)).json()) as z.infer<typeof CompaniesSchema>;

  const change = (migrationId: string, row: number, set: object) =>
    portal.db
      .updateTable('companies')
      .set(set)
      .where('migration_id', '=', migrationId)
      .where('row', '=', row)
      .execute();

  test('are described with the states, problems and remedies of the ledger', async () => {
    const session = await signIn(portal);
    const { migrationId } = session;
    const link = 'https://service.example/link/1';
    await change(migrationId, 1, { state: 'moved', moved_at: new Date('2026-11-24T09:00:00Z') });
    await change(migrationId, 2, {
      ...{ state: 'failed', failure: 'reauthorization-required', failure_text: 'invalid_grant', link_url: link },
    });
    const { companies, hasMore } = await read(session);
    expect(hasMore).toBe(false);
    expect(companies).toMatchObject([
      { row: 1, reference: 'c1', state: 'moved', movedAt: '2026-11-24T09:00:00.000Z', problem: null, remedies: [] },
      {
        ...{ row: 2, state: 'must-reconnect', linkUrl: link, remedies: expect.arrayContaining(['relink']) as unknown },
        problem: 'must reconnect: the authorization no longer works (invalid_grant)',
      },
      {
        ...{ row: 3, state: 'not-moved-yet', confirmedAt: null, hasCredential: false, problem: null, linkUrl: null },
        accepts: ['credentialsSupplied'],
      },
    ]);
  });

  test('that were left out are described with the reason and what had gone wrong before', async () => {
    const session = await signIn(portal);
    const skipped = { state: 'skipped', left_out_by: 'Sam', left_out_reason: 'sold' };
    await change(session.migrationId, 1, {
      ...skipped,
      failure: 'reauthorization-required',
      failure_text: 'invalid_grant',
    });
    await change(session.migrationId, 2, { ...skipped, state: 'excluded' });
    const { companies } = await read(session);
    expect(companies.slice(0, 2).map(({ problem }) => problem)).toEqual([
      'sold; before that: must reconnect: the authorization no longer works (invalid_grant)',
      'sold',
    ]);
  });

  test('are read page by page, filtered and searched', async () => {
    const session = await signIn(portal);
    await change(session.migrationId, 2, { state: 'failed', failure: 'refused' });
    expect(await read(session, '?limit=2')).toMatchObject({ companies: [{ row: 1 }, { row: 2 }], hasMore: true });
    expect(await read(session, '?limit=2&after=2')).toMatchObject({ companies: [{ row: 3 }], hasMore: false });
    expect((await read(session, '?exceptions=true')).companies).toMatchObject([{ row: 2, state: 'not-moved' }]);
    expect((await read(session, '?state=not-moved-yet')).companies).toHaveLength(2);
    expect((await read(session, '?search=COMPANY%203')).companies).toMatchObject([{ row: 3 }]);
    await change(session.migrationId, 1, { name: 'Zürich 100%', stored_name: 'Zrich 100%' });
    for (const search of ['zurich', 'ZÜRICH 100%', 'zrich'])
      expect((await read(session, `?search=${encodeURIComponent(search)}`)).companies).toMatchObject([{ row: 1 }]);
    for (const query of ['?state=x', '?limit=0', '?limit=501', '?after=-1', '?unknown=1', '?exceptions=maybe'])
      expect([query, (await session.fetch(`/api/companies${query}`)).status]).toEqual([query, 400]);
  });

  test('whose link is not a web address are shown without it', async () => {
    const session = await signIn(portal);
    const failed = { state: 'failed', failure: 'reauthorization-required' };
    await change(session.migrationId, 1, { ...failed, link_url: 'javascript:alert(1)' });
    expect((await read(session)).companies[0]).toMatchObject({ state: 'must-reconnect', linkUrl: null });
  });

  test('that must reconnect can be downloaded as a spreadsheet file, which contains no formulas', async () => {
    const session = await signIn(portal);
    const failed = { state: 'failed', failure: 'reauthorization-required', link_url: 'https://service.example/1' };
    await change(session.migrationId, 1, { ...failed, name: '=HYPERLINK("https://evil.example")' });
    await change(session.migrationId, 2, { ...failed, name: 'Quote " and, comma' });
    const answer = await session.fetch('/api/reconnect-links.csv');
    expect(answer.headers.get('content-disposition')).toBe(
      `attachment; filename="${session.migrationId}-reconnect-links.csv"`,
    );
    expect(parse(await answer.text(), { bom: true })).toEqual([
      ['reference', 'name', 'link'],
      ['c1', `'=HYPERLINK("https://evil.example")`, 'https://service.example/1'],
      ['c2', 'Quote " and, comma', 'https://service.example/1'],
    ]);
  });

  test('that lack a usable credential need attention once the other companies move', async () => {
    const session = await signIn(portal);
    await change(session.migrationId, 2, { confirmed_at: new Date() });
    const listed = async () => (await read(session, '?exceptions=true')).companies;
    expect(await listed()).toEqual([]);
    await portal.db
      .updateTable('migrations')
      .set({ state: 'open', released: 'all' })
      .where('id', '=', session.migrationId)
      .execute();
    expect(await listed()).toMatchObject([{ row: 2, problem: 'no credential supplied' }]);
  });

  test('that depend on a replaced application need attention, with their links', async () => {
    const session = await signIn(portal);
    const { migrationId } = session;
    const moved = (row: number) => ({
      ...{ state: 'moved', moved_at: new Date(), crossed_at: new Date(Date.now() - 60_000) },
      link_url: `https://service.example/${row}`,
    });
    await change(migrationId, 1, moved(1));
    await change(migrationId, 2, { ...moved(2), state: 'skipped', left_out_reason: 'sold' });
    await change(migrationId, 3, { state: 'failed', failure: 'wrong-organization', link_url: 'https://a.example' });
    await portal.db
      .updateTable('migrations')
      .set({ application: JSON.stringify({ clientId: 'old-app', environment: 'production' }) })
      .where('id', '=', migrationId)
      .execute();
    expect((await read(session, '?exceptions=true')).companies).toMatchObject([{ row: 3 }]);
    const decisionId = randomUUID();
    await recordDecisions(portal.db, migrationId, [
      {
        decision: {
          ...{ kind: 'application-supplied', decisionId, role: 'client', by: 'Cleo' },
          ...{ clientId: 'new-app', environment: 'production' },
        },
        outcome: { decisionId, applied: true, text: '', at: new Date().toISOString() },
      },
    ]);
    const { companies } = await read(session, '?exceptions=true');
    expect(companies).toMatchObject([
      { row: 1, state: 'moved', linkUrl: 'https://service.example/1', remedies: [] },
      { row: 2, state: 'left-out', linkUrl: 'https://service.example/2' },
      { row: 3, state: 'not-moved' },
    ]);
    expect(companies[2]?.problem).not.toContain('was replaced');
    expect(companies.slice(0, 2).map(({ problem }) => problem)).toEqual([
      expect.stringMatching(/^the application .* was replaced, .*; let the end customer reconnect with the link/),
      expect.stringMatching(/^sold; the application .* was replaced/),
    ]);
    const answer = await session.fetch('/api/reconnect-links.csv');
    expect(parse(await answer.text(), { bom: true, columns: true })).toMatchObject([
      { reference: 'c1', link: 'https://service.example/1' },
      { reference: 'c2', link: 'https://service.example/2' },
    ]);
    // If a company also has another problem, its `problem` begins with the other problem.
    const crossed = { failure: null, failure_text: null, crossed_at: new Date(Date.now() - 60_000), link_url: null };
    const withChanges = async (changes: Parameters<typeof change>[2]) => {
      await change(migrationId, 3, { ...crossed, ...changes });
      return (await read(session, '?exceptions=true')).companies.find(({ row }) => row === 3);
    };
    const wrong = await withChanges({ state: 'failed', failure: 'wrong-organization' });
    expect(wrong).toMatchObject({
      linkUrl: null,
      problem: expect.stringMatching(/organi.*; the application .* was re/) as string,
    });
    expect(wrong?.remedies).not.toContain('relink');
    expect(await withChanges({ state: 'waiting', failure_text: 'throttled', tries: 2 })).toMatchObject({
      problem: expect.stringMatching(/^throttled; the application .* was replaced/) as string,
    });
    expect(await withChanges({ state: 'failed', failure: 'reauthorization-required' })).toMatchObject({
      state: 'must-reconnect',
      problem: expect.not.stringContaining('was replaced') as string,
    });
    const link = 'https://service.example/3';
    expect(await withChanges({ state: 'failed', failure: 'incomplete', link_url: link })).toMatchObject({
      linkUrl: link,
      problem: expect.stringMatching(/; the application .* was replaced/) as string,
    });
    const links = await session.fetch('/api/reconnect-links.csv');
    expect(parse(await links.text(), { bom: true, columns: true })).toMatchObject([
      { reference: 'c1' },
      { reference: 'c2' },
      { reference: 'c3', link },
    ]);
    await change(migrationId, 1, { authorized_at: new Date(Date.now() + 60_000) });
    expect((await read(session, '?exceptions=true')).companies).not.toContainEqual(expect.objectContaining({ row: 1 }));
  });
});
