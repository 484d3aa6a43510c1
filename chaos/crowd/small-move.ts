/** Measures the batch of one migration. */
import { setTimeout as delay } from 'node:timers/promises';
import { tsToMs } from '@temporalio/common/lib/time';
import type { LedgerClient } from '../../client';
import { batchRunIdOf } from '../../domain/migration/temporal-names';
import { withClient } from '../../stack/postgres/databases';
import type { Cluster } from '../cluster';
import { SUPPORT, type ChaosMigration } from '../driver/migration';

export interface SmallMove {
  /** From the approval of the first company until the last company has been moved. */
  readonly tookMs: number;
  /**
   * How long activities of the batch waited for a worker, by Temporal's clock: the sum, and the longest wait.
   * Activities with several attempts are left out, because the history does not say when the earlier attempts began.
   */
  readonly allWaitsMs: number;
  readonly longestWaitMs: number;
  /**
   * Activities that needed more than one attempt. In a run without faults, the usual reason is that the machine was too
   * busy to send a heartbeat in time.
   */
  readonly retriedActivities: number;
}

const POLL_MS = 50;
const MOVED_WITHIN_MS = 600_000;

/** Approves the first company and waits until all companies have been moved. */
export async function measureMove(
  ferry: LedgerClient,
  migration: ChaosMigration,
): Promise<{ readonly tookMs: number }> {
  const approvedAtMs = Date.now();
  const approved = migration.decide('approve', { step: 'migrate-first-company', ...SUPPORT });
  for (;;) {
    const { open, last } = await ferry.db
      .selectFrom('companies')
      .where('migration_id', '=', migration.id)
      .select(({ fn, eb }) => [
        fn.countAll<number>().filterWhere('state', '<>', 'moved').as('open'),
        fn.max(eb.ref('moved_at')).as('last'),
      ])
      .executeTakeFirstOrThrow();
    if (open === 0 && last !== null) {
      await approved;
      return { tookMs: last.getTime() - approvedAtMs };
    }
    if (Date.now() > approvedAtMs + MOVED_WITHIN_MS)
      throw new Error(`${migration.id} still has ${open} open companies`);
    await delay(POLL_MS);
  }
}

/** Returns how long the activities of the latest batch run waited between being scheduled and being started. */
export async function slotWaits({ temporal }: LedgerClient, migrationId: string): Promise<Omit<SmallMove, 'tookMs'>> {
  const { events } = await temporal.workflow.getHandle(batchRunIdOf(migrationId)).fetchHistory();
  const scheduled = new Map<string, number>();
  const waits: number[] = [];
  let retriedActivities = 0;
  for (const event of events ?? []) {
    if (event.activityTaskScheduledEventAttributes) scheduled.set(String(event.eventId), tsToMs(event.eventTime));
    const started = event.activityTaskStartedEventAttributes;
    if (!started) continue;
    if (started.attempt === 1)
      waits.push(tsToMs(event.eventTime) - (scheduled.get(String(started.scheduledEventId)) ?? NaN));
    else retriedActivities += 1;
  }
  const allWaitsMs = waits.reduce((sum, each) => sum + each, 0);
  return { allWaitsMs, longestWaitMs: Math.max(0, ...waits), retriedActivities };
}

/** Returns the number of moved companies of all migrations. */
export async function movedCompanies({ databases }: Cluster): Promise<number> {
  return withClient(databases.ledger.url, async (client) => {
    const { rows } = await client.query<{ moved: number }>(
      "select count(*)::integer as moved from tokenferry.companies where state = 'moved'",
    );
    return rows[0]?.moved ?? 0;
  });
}
