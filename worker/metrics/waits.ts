/** Reads how many migrations are waiting for each role, and for how long. */
import type { Client } from '@temporalio/client';
import { ROLES, type Role } from '../../domain/migration/steps';
import { MIGRATIONS, progressQuery } from '../../workflows/messages';

export type Waits = Readonly<Record<Role, { readonly migrations: number; readonly oldestSeconds: number }>>;

/** The maximum number of migrations that are examined. If there are more, those that started first are left out. */
const MAX_MIGRATIONS = 500;
const QUERY_TIMEOUT_MS = 2_000;
/**
 * The maximum number of queries in one reading, so that a scrape is not delayed for long. The next reading queries the
 * remaining workflows.
 */
const MAX_QUERIES = 20;

interface KnownWait {
  readonly key: string;
  readonly sinceMs: number;
}

/**
 * Reads from Temporal's visibility store who has to act in each migration. Asks each workflow for the start of its
 * current wait, and remembers the answer until the wait changes.
 */
export class WaitReader {
  private known = new Map<string, KnownWait>();

  constructor(private readonly client: Client) {}

  async read(): Promise<Waits> {
    const now = Date.now();
    const seen = new Map<string, KnownWait>();
    const waits = { client: { migrations: 0, oldestSeconds: 0 }, support: { migrations: 0, oldestSeconds: 0 } };
    let queries = 0;
    for (const { workflowId, waitingFor, key } of await this.list()) {
      let wait = this.known.get(workflowId);
      if (wait?.key !== key) {
        queries += 1;
        const sinceMs = queries <= MAX_QUERIES ? await this.since(workflowId) : null;
        // If it is not known yet when the wait began, the next reading asks again.
        wait = { key: sinceMs === null ? '' : key, sinceMs: sinceMs ?? now };
      }
      seen.set(workflowId, wait);
      for (const role of ROLES.filter((each) => waitingFor.includes(each))) {
        waits[role].migrations += 1;
        waits[role].oldestSeconds = Math.max(waits[role].oldestSeconds, (now - wait.sinceMs) / 1_000);
      }
    }
    this.known = seen;
    return waits;
  }

  private async list() {
    const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
    const query = `WorkflowType IN (${types.join(', ')}) AND ExecutionStatus = 'Running' AND FerryWaitingFor != 'nobody'`;
    const found: { workflowId: string; waitingFor: string; key: string }[] = [];
    for await (const { workflowId, searchAttributes } of this.client.workflow.list({ query })) {
      const { FerryStep, FerryState, FerryWaitingFor } = searchAttributes;
      const waitingFor = String(FerryWaitingFor);
      found.push({ workflowId, waitingFor, key: [FerryStep, FerryState, waitingFor].join(' ') });
      if (found.length === MAX_MIGRATIONS) break;
    }
    return found;
  }

  /** Returns when the current wait began, in milliseconds; null if no worker answers in time. */
  private async since(workflowId: string): Promise<number | null> {
    try {
      const { waitingSince } = await this.client.withDeadline(Date.now() + QUERY_TIMEOUT_MS, () =>
        this.client.workflow.getHandle(workflowId).query(progressQuery),
      );
      return waitingSince === null ? null : Date.parse(waitingSince);
    } catch {
      return null;
    }
  }
}
