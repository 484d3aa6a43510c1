/** Tests what the dashboard reads while the ledger or Temporal does not answer. No worker is running. */
import { openReader } from '../../../cli/dashboard/reader';
import type { DashboardRow } from '../../../cli/dashboard/state';
import { setTimeout as delay } from 'node:timers/promises';
import { ServiceError } from '@temporalio/client';
import type { LedgerClient } from '../../../client';
import { readMigration } from '../../../store';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';

const orchestrator = useOrchestrator();

/** A ledger that never answers, like a stopped Postgres. */
const silent: unknown = new Proxy(() => silent, {
  get: (_, name) => (/^execute/.test(String(name)) ? () => new Promise(() => undefined) : silent),
});

test('the dashboard lists the open migrations although the ledger does not answer', async () => {
  const { id } = await startTestMigration(orchestrator, 'silent-ledger', ['sbx-ok-1.sl1']);
  const read = openReader({ ...orchestrator.ferry, db: silent as LedgerClient['db'] });
  const { rows = [], connectionError } = await read({ visibleRows: (all) => all, shownMigrationId: null });
  expect(connectionError).toBe('cannot read from the database');
  expect(rows).toMatchObject([{ migrationId: id, overview: null }]);
});

test('a row shows only counts from Temporal while the ledger does not answer, because its state is from Temporal', async () => {
  const { id } = await startTestMigration(orchestrator, 'old-counts', ['sbx-ok-1.oc1']);
  const ferry = { ...orchestrator.ferry };
  const read = openReader(ferry);
  const overview = async () => {
    const { rows = [] } = await read({ visibleRows: (all) => all, shownMigrationId: null });
    return rows.find(({ migrationId }) => migrationId === id)?.overview;
  };
  await until(async () => (await overview())?.total === 1);
  ferry.db = silent as LedgerClient['db'];
  expect(await overview()).toBeNull();
});

/** Starts a migration that is open in the ledger, and terminates its workflow. */
async function terminatedMigration(client: string): Promise<string> {
  const { db, temporal } = orchestrator.ferry;
  const { id } = await startTestMigration(orchestrator, client, ['sbx-ok-1.tl1']);
  await db.updateTable('migrations').set({ state: 'open' }).where('id', '=', id).execute();
  await temporal.workflow.getHandle(id).terminate('a test');
  await until(async () => (await readMigration(db, id))?.state === 'open');
  return id;
}

test('the dashboard keeps terminated migrations while the ledger does not answer, and waits for it only once', async () => {
  const id = await terminatedMigration('kept-terminated');
  const ferry = { ...orchestrator.ferry };
  const read = openReader(ferry);
  const ofMigration = (all: readonly DashboardRow[]) => all.filter(({ migrationId }) => migrationId === id);
  const shown = async () => (await read({ visibleRows: ofMigration, shownMigrationId: null })).rows ?? [];

  const isListed = async () => (await shown()).some(({ migrationId }) => migrationId === id);
  await until(isListed);
  ferry.db = silent as LedgerClient['db'];
  const startedAt = Date.now();
  expect(await shown()).toContainEqual(
    expect.objectContaining({ migrationId: id, endedInTemporal: expect.anything() as unknown }),
  );
  expect(Date.now() - startedAt).toBeLessThan(7_000);
});

test('if Temporal does not answer, the dashboard does not name the database', async () => {
  await terminatedMigration('silent-temporal');
  const { temporal } = orchestrator.ferry;
  let calls = 0;
  const hanging = Object.create(temporal, {
    withDeadline: {
      // The first call lists the open migrations, and the second lists the terminated ones.
      value: (deadline: number, work: () => Promise<unknown>) => {
        calls += 1;
        return calls === 1 ? temporal.withDeadline(deadline, work) : lateDeadline(deadline);
      },
    },
  }) as typeof temporal;
  const read = openReader({ ...orchestrator.ferry, temporal: hanging });
  const { connectionError } = await read({ visibleRows: () => [], shownMigrationId: null });
  expect({ calls, connectionError }).toEqual({ calls: 2, connectionError: 'cannot read from Temporal' });
});

/** Fails a moment after a deadline, like gRPC. */
async function lateDeadline(deadline: number): Promise<never> {
  await delay(deadline - Date.now() + 100);
  throw new ServiceError('Deadline exceeded');
}
