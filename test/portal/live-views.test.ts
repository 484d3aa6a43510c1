/** The database statements of the live views, which other tests cannot see. */
import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { SignedIn } from '../../portal/server/api';
import type { PortalDatabase } from '../../portal/server/database';
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
