/** Runs syncs and push operations: sleeps exactly until the next one is due, or until one is queued anywhere. */
import { sql } from 'kysely';
import { Client } from 'pg';
import { failureForLog } from '../database/database';
import { PUSHES_AT_ONCE, stepDuePushes } from '../pushes/push-step';
import { queueScheduledSyncs } from './sync-settings';
import { STEP_SIZE, stepDueSyncs, type SyncStepDependencies } from './sync-step';
import { WORK_CHANNEL } from './syncs';

/** Poll delay while another process has locked the due rows: it is working on them or has just died. */
const HELD_ELSEWHERE_MS = 100;
const AFTER_FAILURE_MS = 1000;
/**
 * Poll delay while nothing is due. Notifications wake the engine; this covers one that was lost with its connection.
 */
const IDLE_MS = 30_000;

export interface SyncEngineOptions extends SyncStepDependencies {
  readonly databaseUrl: string;
}

export class SyncEngine {
  private stopped = false;
  private woken = false;
  private wake: () => void = () => undefined;
  private schedulesNextAt = 0;
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

  /** Takes the steps that are due and returns the milliseconds until the next ones. */
  private async work(): Promise<number> {
    const { db, logger } = this.options;
    try {
      await this.listen();
      await this.followSchedules();
      const [synced, pushed] = [await stepDueSyncs(this.options), await stepDuePushes(this.options)];
      if (synced === STEP_SIZE || pushed === PUSHES_AT_ONCE) return 0;
      const dueInMs = await msUntilDue(db);
      if (dueInMs === undefined) return IDLE_MS;
      if (dueInMs > 0) return Math.min(dueInMs, IDLE_MS);
      return synced + pushed > 0 ? 0 : HELD_ELSEWHERE_MS;
    } catch (failure) {
      logger.error({ err: failureForLog(failure) }, 'a sync or push step failed and will be retried');
      return AFTER_FAILURE_MS;
    }
  }

  /** Twice a minute is precise enough, because schedules are in hours. */
  private async followSchedules(): Promise<void> {
    if (Date.now() < this.schedulesNextAt) return;
    this.schedulesNextAt = Date.now() + IDLE_MS;
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

  /** Listens on a separate connection; a lost one is replaced before the next step. */
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
    await listener.query(`listen ${WORK_CHANNEL}`);
    this.listener = listener;
  }

  /** Remembers a notification that arrives during a step, so that the engine does not sleep after it. */
  private wakeUp(): void {
    this.woken = true;
    this.wake();
  }
}

async function msUntilDue(db: SyncStepDependencies['db']): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number | null }>`
    select (extract(epoch from least(
      (select min(due_at) from syncs where due_at is not null),
      (select min(due_at) from push_operations where due_at is not null)
    ) - clock_timestamp()) * 1000)::float8 as ms`.execute(db);
  return rows[0]?.ms ?? undefined;
}
