import { get, type IncomingMessage } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { revokeInvitation, writePortalView } from '../../store';
import { until } from '../support/async';
import { createMigration, openPortal, signIn, usePortal, type Session } from './running-portal';

const portal = usePortal();

interface Stream {
  readonly status: number;
  /** Names and data of the events so far. */
  readonly events: readonly (readonly [name: string, data: unknown])[];
  text(): string;
  isOpen(): boolean;
  close(): void;
  /** Stops or continues reading. */
  pause(): void;
  resume(): void;
}

async function open(
  url: string,
  { token }: Pick<Session, 'token'>,
  more: Readonly<Record<string, string>> = {},
): Promise<Stream> {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const options = { headers: { authorization: `Bearer ${token}`, ...more }, agent: false };
    get(`${url}/api/events`, options, resolve).on('error', reject);
  });
  let text = '';
  let isOpen = true;
  response.on('data', (bytes: Buffer) => (text += bytes.toString()));
  response.on('close', () => (isOpen = false));
  response.on('error', () => undefined);
  return {
    status: response.statusCode ?? 0,
    get events() {
      return [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(
        ([, name = '', data = '']) => [name, JSON.parse(data) as unknown] as const,
      );
    },
    text: () => text,
    isOpen: () => isOpen,
    close: () => response.destroy(),
    pause: () => response.pause(),
    resume: () => response.resume(),
  };
}

const headlines = ({ events }: Stream) =>
  events
    .filter(([name]) => name === 'migration')
    .map(([, data]) => (data as { view: { headline: string } }).view.headline);

test('a browser gets the view at once and when it has changed', async () => {
  const session = await signIn(portal);
  await writePortalView(portal.db, session.migrationId, { headline: 'one' });
  const stream = await open(portal.url, session);
  await until(() => headlines(stream).length > 0);
  expect(await (await session.fetch('/api/migration')).json()).toEqual(stream.events[0]?.[1]);
  await writePortalView(portal.db, session.migrationId, { headline: 'two' });
  await until(() => headlines(stream).length > 1);
  expect(headlines(stream)).toEqual(['one', 'two']);
  stream.close();
});

test('a browser gets no event if a worker writes the same view again, but gets an event once no worker writes any more', async () => {
  const session = await signIn(portal);
  await writePortalView(portal.db, session.migrationId, { headline: 'one' });
  const stream = await open(portal.url, session);
  await until(() => headlines(stream).length > 0);
  for (let polls = 0; polls < 3; polls += 1) {
    await writePortalView(portal.db, session.migrationId, { headline: 'one' });
    await delay(1_100);
  }
  expect(headlines(stream)).toEqual(['one']);
  await sql`update portal_views set written_at = now() - interval '1 hour'`.execute(portal.db);
  await until(() => headlines(stream).length > 1);
  expect(stream.events.map(([, data]) => (data as { isCurrent: boolean }).isCurrent)).toEqual([true, false]);
  stream.close();
});

test('a browser that connects again gets only a view that it does not have', async () => {
  const session = await signIn(portal);
  const idOf = (stream: Stream) => [...stream.text().matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? '';
  await writePortalView(portal.db, session.migrationId, { headline: 'one' });
  const first = await open(portal.url, session);
  await until(() => headlines(first).length > 0);
  first.close();
  const again = await open(portal.url, session, { 'last-event-id': idOf(first) });
  await delay(1_500);
  expect([again.text().includes('retry: '), headlines(again)]).toEqual([true, []]);
  await writePortalView(portal.db, session.migrationId, { headline: 'two' });
  await until(() => headlines(again).length > 0);
  expect(headlines(again)).toEqual(['two']);
  again.close();
  // The view is sent to a browser with an older id, an invalid id or an id of another migration.
  const foreign = await signIn(portal);
  await sql`
    insert into portal_views select ${foreign.migrationId}, view, version, written_at, now() from portal_views
    where migration_id = ${session.migrationId}`.execute(portal.db);
  for (const [who, id] of [
    [session, idOf(first)],
    [session, 'x'.repeat(5_000)],
    [foreign, idOf(again)],
  ] as const) {
    const late = await open(portal.url, who, { 'last-event-id': id });
    await until(() => headlines(late).length > 0);
    expect(headlines(late)).toEqual(['two']);
    late.close();
  }
});

test('a stream without events is kept open with comments, and the stream of a browser that reads nothing is closed', async () => {
  const limited = await openPortal({ limits: { silenceMs: 500, stalledMs: 2_000, streamsPerSession: 1 } });
  try {
    const session = await signIn(limited);
    const stream = await open(limited.url, session);
    await until(() => stream.text().split('\n:\n').length > 2);
    stream.pause();
    await writePortalView(limited.db, session.migrationId, { filler: 'x'.repeat(20_000_000) });
    const isRefused = async () => {
      const other = await open(limited.url, session);
      other.close();
      return other.status === 429;
    };
    expect(await isRefused()).toBe(true);
    await until(async () => !(await isRefused()), 15_000);
    stream.close();
  } finally {
    await limited.close();
  }
});

test('a browser that opens the page first waits for the first view', async () => {
  const session = await signIn(portal);
  const answer = await session.fetch('/api/migration');
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '2']);
  const stream = await open(portal.url, session);
  expect(stream.status).toBe(200);
  await writePortalView(portal.db, session.migrationId, { headline: 'first' });
  await until(() => headlines(stream).length > 0);
  stream.close();
});

test('a browser gets no events of another migration', async () => {
  const [mine, theirs] = [await signIn(portal), await signIn(portal)];
  const [stream, other] = [await open(portal.url, mine), await open(portal.url, theirs)];
  await writePortalView(portal.db, theirs.migrationId, { headline: 'theirs' });
  await until(() => headlines(other).length > 0);
  await writePortalView(portal.db, mine.migrationId, { headline: 'mine' });
  await until(() => headlines(stream).length > 0);
  expect(stream.text()).not.toContain('theirs');
  stream.close();
  other.close();
});

test('streams of a revoked invitation end within 15 seconds, and other streams continue', async () => {
  const migrationId = await createMigration(portal.db);
  const [revoked, other] = [await signIn(portal, { migrationId }), await signIn(portal, { migrationId })];
  await writePortalView(portal.db, migrationId, { headline: 'one' });
  const [stream, kept] = [await open(portal.url, revoked), await open(portal.url, other)];
  await until(() => headlines(stream).length > 0 && headlines(kept).length > 0);
  await revokeInvitation(portal.db, revoked.invitationId, 'Sam');
  await until(() => !stream.isOpen(), 15_000);
  expect(stream.events.at(-1)?.[0]).toBe('ended');
  await writePortalView(portal.db, migrationId, { headline: 'after' });
  await until(() => headlines(kept).includes('after'));
  expect(kept.isOpen()).toBe(true);
  expect(stream.text()).not.toContain('after');
  kept.close();
});

test('a browser that stops reading for a while then gets only the latest view, and delays no other browser', async () => {
  const session = await signIn(portal);
  const [slow, fast] = [await open(portal.url, session), await open(portal.url, session)];
  slow.pause();
  const filler = 'x'.repeat(4_000_000);
  const count = 6;
  for (let number = 1; number <= count; number += 1) {
    await writePortalView(portal.db, session.migrationId, { headline: String(number), filler });
    await until(() => fast.text().includes(`"headline":"${number}"`));
  }
  slow.resume();
  await until(() => slow.text().includes(`"headline":"${count}"`));
  expect(headlines(fast)).toEqual(['1', '2', '3', '4', '5', '6']);
  expect(headlines(slow).length).toBeLessThan(count);
  slow.close();
  fast.close();
});

test('the number of streams of a session is limited, and a closed stream makes room for another', async () => {
  const limited = await openPortal({ limits: { streamsPerSession: 2, streams: 3 } });
  try {
    const [session, other] = [await signIn(limited), await signIn(limited)];
    const streams = [await open(limited.url, session), await open(limited.url, session)];
    expect((await open(limited.url, session)).status).toBe(429);
    const third = await open(limited.url, other);
    expect(third.status).toBe(200);
    expect((await open(limited.url, other)).status).toBe(503);
    for (const stream of streams) stream.close();
    await until(async () => {
      const again = await open(limited.url, session);
      again.close();
      return again.status === 200;
    });
  } finally {
    await limited.close();
  }
});

test('200 browsers that watch one migration cause one statement per second', async () => {
  const watched = await openPortal({ limits: { streamsPerSession: 200 } });
  try {
    const session = await signIn(watched);
    await writePortalView(watched.db, session.migrationId, { headline: 'one' });
    const streams = await Promise.all(Array.from({ length: 200 }, () => open(watched.url, session)));
    await until(() => streams.every((stream) => headlines(stream).length === 1));
    const calls = async () => {
      const { rows } = await sql<{ calls: string | null }>`
        select sum(xact_commit) as calls from pg_stat_database where datname = current_database()`.execute(watched.db);
      return Number(rows[0]?.calls);
    };
    const perSecond = async (): Promise<number> => {
      const before = await calls();
      const startedAt = Date.now();
      await until(() => Date.now() - startedAt > 3_000);
      return ((await calls()) - before) / ((Date.now() - startedAt) / 1_000);
    };
    // Postgres can take a few seconds to count the statements that opened the streams.
    await until(async () => (await perSecond()) < 20);
    for (const stream of streams) stream.close();
  } finally {
    await watched.close();
  }
});
