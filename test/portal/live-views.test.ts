/**
 * The database statements of the live views, which other tests cannot see, and views that nobody has read for a while.
 */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SignedIn } from '../../portal/server/api';
import type { ChangedView, PortalDatabase } from '../../portal/server/database';
import { LiveViews } from '../../portal/server/live-views';
import { DEFAULT_LIMITS } from '../../portal/server/limits';
import { until } from '../support/async';

test('browsers that connect at the same moment cause one statement, and share the bytes of the event', async () => {
  const known: (string | null)[] = [];
  const changedView = async (_: Buffer, version: string | null) => {
    known.push(version);
    await new Promise((resolve) => setTimeout(resolve, 50));
    const view = version === null ? { headline: 'one' } : null;
    return { view, version: '1', writtenAt: '2026-11-24T09:00:00.000Z', isCurrent: true };
  };
  const views = new LiveViews({ changedView } as unknown as PortalDatabase, DEFAULT_LIMITS, { warn: () => undefined });
  const events: Buffer[] = [];
  const write = (bytes: Buffer): boolean => {
    if (bytes.includes('event: ')) events.push(bytes);
    return true;
  };
  const end = (): void => undefined;
  for (let each = 0; each < 500; each += 1) {
    const response = Object.assign(new EventEmitter(), { write, end }) as unknown as ServerResponse;
    views.add({ hash: Buffer.alloc(32, each), migrationId: 'kite' } as SignedIn, response, undefined);
  }
  await until(() => known.length === 3);
  views.close();
  expect(known).toEqual([null, '1', '1']);
  expect(events).toHaveLength(500);
  expect(new Set(events).size).toBe(1);
});

describe('a view that nobody has read for a while', () => {
  beforeEach(() => jest.useFakeTimers());
  afterEach(() => jest.useRealTimers());

  /** Watches a migration. The database answers each read with the result of `read`. */
  function watch(read: () => { readonly version: string; readonly isCurrent: boolean }) {
    const changedView = async (_: Buffer, known: string | null) => {
      const { version, isCurrent } = await Promise.resolve().then(read);
      const view = version === known ? null : { headline: version };
      return { view, version, isCurrent, writtenAt: '2026-11-24T09:00:00.000Z' } as unknown as ChangedView;
    };
    const db = { changedView } as unknown as PortalDatabase;
    const views = new LiveViews(db, DEFAULT_LIMITS, { warn: () => undefined });
    const events: string[] = [];
    const write = (bytes: Buffer): boolean => {
      events.push(...[...bytes.toString().matchAll(/^id: \w+-(.*)$/gm)].map(([, id = '']) => id));
      return true;
    };
    const response = Object.assign(new EventEmitter(), { write, end: () => undefined }) as unknown as ServerResponse;
    views.add({ hash: Buffer.alloc(32), migrationId: 'kite' } as SignedIn, response, undefined);
    return { events, close: () => views.close() };
  }

  test('is not sent if a worker writes a newer view within 6 seconds', async () => {
    const since = Date.now();
    const { events, close } = watch(() => ({ version: '1', isCurrent: Date.now() - since > 3_000 }));
    await jest.advanceTimersByTimeAsync(2_000);
    expect(events).toEqual([]);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual(['1-current']);
    close();
  });

  test('is sent as old if no worker writes a newer one', async () => {
    const { events, close } = watch(() => ({ version: '1', isCurrent: false }));
    await jest.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual(['1-old']);
    close();
  });

  test('is not sent as old after the database was unreachable', async () => {
    let [isUnreachable, isCurrent] = [false, true];
    const { events, close } = watch(() => {
      if (isUnreachable) throw new Error('the database cannot be reached');
      return { version: '1', isCurrent };
    });
    await jest.advanceTimersByTimeAsync(10_000);
    [isUnreachable, isCurrent] = [true, false];
    await jest.advanceTimersByTimeAsync(30_000);
    isUnreachable = false;
    await jest.advanceTimersByTimeAsync(3_000);
    isCurrent = true;
    await jest.advanceTimersByTimeAsync(10_000);
    expect(events).toEqual(['1-current']);
    // The view has been read for more than 6 s, so it is sent as old as soon as workers stop writing it.
    isCurrent = false;
    await jest.advanceTimersByTimeAsync(1_500);
    expect(events).toEqual(['1-current', '1-old']);
    close();
  });
});

describe('while the database answers nothing', () => {
  beforeEach(() => jest.useFakeTimers({ now: Date.parse('2026-11-24T09:00:00.000Z') }));
  afterEach(() => jest.useRealTimers());

  test('browsers are told that the view cannot be read, and when it can be read again', async () => {
    let release: (() => void) | undefined;
    let isFrozen = false;
    const changedView = async () => {
      if (isFrozen) await new Promise<void>((resolve) => (release = resolve));
      return { view: {}, version: '1', writtenAt: '2026-11-24T09:00:00.000Z', isCurrent: true };
    };
    const db = { changedView } as unknown as PortalDatabase;
    const views = new LiveViews(db, DEFAULT_LIMITS, { warn: () => undefined });
    const connect = () => {
      const sent: string[] = [];
      const write = (bytes: Buffer): boolean => {
        sent.push(...[...bytes.toString().matchAll(/^event: reading\ndata: (.*)$/gm)].map(([, data = '']) => data));
        if (bytes.toString() === ':\n\n') sent.push('comment');
        return true;
      };
      const response = Object.assign(new EventEmitter(), { write, end: () => undefined }) as unknown as ServerResponse;
      views.add({ hash: Buffer.alloc(32), migrationId: 'kite' } as SignedIn, response, undefined);
      return sent;
    };
    const sent = connect();
    await jest.advanceTimersByTimeAsync(5_000);
    isFrozen = true;
    await jest.advanceTimersByTimeAsync(8_000);
    expect(sent).toEqual([]);
    await jest.advanceTimersByTimeAsync(12_000);
    const unread = '{"unreadSince":"2026-11-24T09:00:05.000Z"}';
    expect(sent.filter((each) => each !== 'comment')).toEqual([unread]);
    expect(connect()).toEqual([unread]);
    // The stream stays open meanwhile.
    await jest.advanceTimersByTimeAsync(20_000);
    expect(sent).toContain('comment');
    isFrozen = false;
    release?.();
    await jest.advanceTimersByTimeAsync(1_500);
    expect(sent.filter((each) => each !== 'comment')).toEqual([unread, '{"unreadSince":null}']);
    views.close();
  });
});
