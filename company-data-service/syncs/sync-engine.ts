/** Runs syncs and push operations. Sleeps until the next step is due, or until any process queues new work. */
import { sql } from 'kysely';
import { Client } from 'pg';
import { failureForLog } from '../database/database';
import { PUSHES_AT_ONCE, processDuePushes } from '../pushes/push-step';
import { queueScheduledSyncs } from './sync-settings';
import { SYNCS_AT_ONCE, processDueSyncs, type StepDependencies } from './sync-step';
import { WORK_CHANNEL } from './syncs';

/** Poll delay while another process has locked the due rows, because it is processing them or has just died. */
const LOCKED_POLL_MS = 100;
/** Delay after a failed step. */
const RETRY_DELAY_MS = 1000;
/** Longest sleep. Notifications wake the engine earlier, but a notification can be lost with its connection. */
const MAX_SLEEP_MS = 30_000;
/** Time between two checks for due schedules. Twice a minute is precise enough, because schedules are in hours. */
const SCHEDULE_CHECK_INTERVAL_MS = 30_000;

export interface SyncEngineOptions extends StepDependencies {
  readonly databaseUrl: string;
}

export class SyncEngine {
  private stopped = false;
  private woken = false;
  private wake: () => void = () => undefined;
  private nextScheduleCheckAt = 0;
  private listener: Client | undefined;
  private running: Promise<void> = Promise.resolve();

  constructor(private readonly options: SyncEngineOptions) {}

  start(): void {
    this.running = this.run();
  }

  /** Stops after the current step. Unfinished work continues in another process or at the next start. */
  async stop(): Promise<void> {
    this.stopped = true;
    this.wake();
    await this.running;
    await this.listener?.end();
  }

  private async run(): Promise<void> {
    while (!this.stopped) {
      this.woken = false;
      await this.sleep(await this.work());
    }
  }

  /** Runs the steps that are due and returns the milliseconds until the next step. */
  private async work(): Promise<number> {
    const { db, logger } = this.options;
    try {
      await this.listen();
      await this.checkSchedules();
      const [synced, pushed] = [await processDueSyncs(this.options), await processDuePushes(this.options)];
      if (synced === SYNCS_AT_ONCE || pushed === PUSHES_AT_ONCE) return 0;
      const dueInMs = await msUntilDue(db);
      if (dueInMs === undefined) return MAX_SLEEP_MS;
      if (dueInMs > 0) return Math.min(dueInMs, MAX_SLEEP_MS);
      return synced + pushed > 0 ? 0 : LOCKED_POLL_MS;
    } catch (failure) {
      logger.error({ err: failureForLog(failure) }, 'a step of the sync engine failed and will be retried');
      return RETRY_DELAY_MS;
    }
  }

  private async checkSchedules(): Promise<void> {
    if (Date.now() < this.nextScheduleCheckAt) return;
    this.nextScheduleCheckAt = Date.now() + SCHEDULE_CHECK_INTERVAL_MS;
    await queueScheduledSyncs(this.options.db);
  }

  private async sleep(ms: number): Promise<void> {
    if (ms === 0 || this.woken || this.stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, Math.ceil(ms));
      this.wake = () => {
        this.woken = true;
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Listens for notifications on a separate connection. Does nothing if the engine is already listening. */
  private async listen(): Promise<void> {
    if (this.listener) return;
    const listener = new Client({
      connectionString: this.options.databaseUrl,
      application_name: 'company-data-service',
    });
    listener.on('notification', () => this.wakeUp());
    listener.on('error', () => {
      this.listener = undefined;
      this.wakeUp();
    });
    await listener.connect();
    try {
      await listener.query(`listen ${WORK_CHANNEL}`);
    } catch (failure) {
      // The next step opens another connection.
      await listener.end();
      throw failure;
    }
    this.listener = listener;
  }

  /** Wakes the engine. If a step is running, prevents the engine from sleeping after the step. */
  private wakeUp(): void {
    this.woken = true;
    this.wake();
  }
}

async function msUntilDue(db: StepDependencies['db']): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from least(
      (select min(due_at) from syncs where due_at is not null),
      (select min(due_at) from push_operations where due_at is not null)
    ) - clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  return rows[0]?.ms ?? undefined;
}
