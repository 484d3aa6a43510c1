import { sql } from 'kysely';
import { postponePortalView, takeWatchedMigrations, writePortalView } from '../../../store';
import { useLedger } from '../../support/migrations/ledger';
import { call, openSession, usePortal } from './portal-role';

const ledger = useLedger();
const portal = usePortal(ledger);
beforeEach(() => sql`truncate portal_views`.execute(ledger.db));

describe('a view', () => {
  const watched = (changes = {}) =>
    takeWatchedMigrations(ledger.db, {
      ...{ namespace: 'default', withinMs: 60_000, olderThanMs: 2_000, limit: 10 },
      ...changes,
    });

  test('is written by one worker while a browser is watching, and shown to the sessions of its migration', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    const { session: foreign } = await openSession(ledger, portal);
    expect(await watched()).toEqual([]);
    expect(await call(portal, 'view', session)).toEqual([
      { view: null, version: '0', written_at: null, is_current: false, age_ms: null },
    ]);
    const taken = await Promise.all(Array.from({ length: 5 }, () => watched()));
    expect(taken.flat()).toEqual([migrationId]);
    await writePortalView(ledger.db, migrationId, { headline: 'moving' });
    expect(await call(portal, 'view', session)).toMatchObject([{ view: { headline: 'moving' }, is_current: true }]);
    expect(await call(portal, 'view', foreign)).toMatchObject([{ view: null }]);
    expect(await watched({ limit: 1 })).toHaveLength(1); // the view of the other migration

    expect(await watched()).toEqual([]); // the view is not old enough
    expect(await watched({ olderThanMs: 0 })).toEqual([migrationId]);
    await sql`update portal_views set written_at = now() - interval '1 hour', taken_at = null`.execute(ledger.db);
    expect(await call(portal, 'view', session)).toMatchObject([{ is_current: false }]);
    await sql`update portal_views set watched_at = now() - interval '1 hour'`.execute(ledger.db);
    expect(await watched()).toEqual([]);
    await call(portal, 'view', session);
    expect(await watched()).toEqual([migrationId]);
  });

  test('has a new version only if its content has changed', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    const written = async (view: object) => {
      await writePortalView(ledger.db, migrationId, view);
      const [{ version, ...row } = {}] = await call(portal, 'view', session);
      const [known] = await call(portal, 'view', session, version);
      expect([row['view'], known]).toEqual([
        view,
        { ...row, version, view: null, age_ms: expect.any(Number) as number },
      ]);
      return version;
    };
    const first = await written({ headline: 'one', counts: [1, 2] });
    expect(await written({ counts: [1, 2], headline: 'one' })).toBe(first);
    const second = await written({ headline: 'two', counts: [1, 2] });
    expect(Number(second)).toBeGreaterThan(Number(first));
    expect(await written({ headline: 'one', counts: [1, 2] })).not.toBe(first);
  });

  test('is taken again if a worker takes it and does not write it, and never in another namespace', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    await call(portal, 'view', session);
    await sql`update migrations set namespace = 'theirs' where id = ${migrationId}`.execute(ledger.db);
    expect(await watched()).toEqual([]);
    expect(await watched({ namespace: 'theirs' })).toEqual([migrationId]);
    expect(await watched({ namespace: 'theirs' })).toEqual([]);
    await sql`update portal_views set taken_at = now() - interval '11 seconds'`.execute(ledger.db);
    expect(await watched({ namespace: 'theirs' })).toEqual([migrationId]);
  });

  test('that has crashed three workers is taken again only after ten minutes, until it is written', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    await call(portal, 'view', session);
    const takenAfter = async (time: string) => {
      await sql`update portal_views set taken_at = taken_at - ${time}::interval`.execute(ledger.db);
      return (await watched()).length;
    };
    expect(await takenAfter('0')).toBe(1);
    await postponePortalView(ledger.db, migrationId); // the worker has survived
    for (let ended = 0; ended < 3; ended += 1) expect(await takenAfter('11 seconds')).toBe(1);
    expect(await takenAfter('11 seconds')).toBe(0);
    expect(await takenAfter('10 minutes')).toBe(1);
    await writePortalView(ledger.db, migrationId, { headline: 'written' });
    await sql`update portal_views set written_at = now() - interval '1 minute'`.execute(ledger.db);
    expect(await watched()).toHaveLength(1);
    expect(await takenAfter('11 seconds')).toBe(1);
  });

  test('does not make 50 sessions wait for a session that is marking it as watched', async () => {
    const { migrationId, session } = await openSession(ledger, portal);
    await call(portal, 'view', session);
    await sql`update portal_views set watched_at = now() - interval '1 minute'`.execute(ledger.db);
    await ledger.db.transaction().execute(async (tx) => {
      await sql`update portal_views set taken_at = now() where migration_id = ${migrationId}`.execute(tx);
      for (let each = 0; each < 50; each += 1) expect(await call(portal, 'view', session)).toHaveLength(1);
    });
  });
});
