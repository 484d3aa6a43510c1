/** Reads how many migrations are waiting for each role, and for how long. */
import type { Client } from '@temporalio/client';
import { ROLES, type Role } from '../../domain/migration/steps';
import { MIGRATIONS, progressQuery } from '../../workflows/messages';

export type Waits = Readonly<Record<Role, { readonly migrations: number; readonly oldestSeconds: number }>>;

/** The maximum number of migrations that are examined. If there are more, those that started first are left out. */
const MAX_MIGRATIONS = 500;
/** The maximum time that the queries of one reading take together, so that a scrape is not delayed for long. */
const QUERIES_WITHIN_MS = 2_000;
/** The maximum number of queries in one reading. The next reading queries the remaining workflows. */
const MAX_QUERIES = 20;

/** A wait that Temporal's visibility store shows. */
interface ListedWait {
  readonly workflowId: string;
  readonly waitingFor: string;
  /** Changes when the migration waits for something else. */
  readonly key: string;
}

interface KnownWait {
  readonly key: string;
  readonly sinceMs: number;
}

/**
 * Reads from Temporal's visibility store who has to act in each migration. Asks each workflow for the start of its
 * current wait, and remembers the answer until the wait changes.
 */
export class WaitReader {
  private known: ReadonlyMap<string, KnownWait> = new Map();
  /** The workflows that have not answered, in the order in which they were asked. */
  private readonly unanswered = new Set<string>();

  constructor(private readonly client: Client) {}

  async read(): Promise<Waits> {
    const now = Date.now();
    const listed = await this.list();
    const known = await this.ask(listed);
    const waits = { client: { migrations: 0, oldestSeconds: 0 }, support: { migrations: 0, oldestSeconds: 0 } };
    for (const { workflowId, waitingFor } of listed) {
      // A wait whose beginning is not known yet counts as new.
      const { sinceMs } = known.get(workflowId) ?? { sinceMs: now };
      for (const role of ROLES.filter((each) => waitingFor.includes(each))) {
        waits[role].migrations += 1;
        waits[role].oldestSeconds = Math.max(waits[role].oldestSeconds, (now - sinceMs) / 1_000);
      }
    }
    this.known = known;
    return waits;
  }

  /** Returns the current waits whose beginnings are known, after asking about some of the others. */
  private async ask(listed: readonly ListedWait[]): Promise<ReadonlyMap<string, KnownWait>> {
    const known = new Map<string, KnownWait>();
    const unknown: ListedWait[] = [];
    for (const each of listed) {
      const wait = this.known.get(each.workflowId);
      if (wait?.key === each.key) known.set(each.workflowId, wait);
      else unknown.push(each);
    }
    // Workflows that have not answered come last, so that they do not keep the others from being asked.
    const order = [...this.unanswered];
    const asked = unknown
      .sort((one, other) => order.indexOf(one.workflowId) - order.indexOf(other.workflowId))
      .slice(0, MAX_QUERIES);
    const deadline = Date.now() + QUERIES_WITHIN_MS;
    await Promise.all(
      asked.map(async ({ workflowId, key }) => {
        const sinceMs = await this.since(workflowId, deadline);
        this.unanswered.delete(workflowId);
        if (sinceMs === null) this.unanswered.add(workflowId);
        else known.set(workflowId, { key, sinceMs });
      }),
    );
    const ids = new Set(listed.map(({ workflowId }) => workflowId));
    for (const workflowId of this.unanswered) if (!ids.has(workflowId)) this.unanswered.delete(workflowId);
    return known;
  }

  private async list(): Promise<readonly ListedWait[]> {
    const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
    const query = `WorkflowType IN (${types.join(', ')}) AND ExecutionStatus = 'Running' AND FerryWaitingFor != 'nobody'`;
    const found: ListedWait[] = [];
    for await (const { workflowId, searchAttributes } of this.client.workflow.list({ query })) {
      const { FerryStep, FerryState, FerryWaitingFor } = searchAttributes;
      const waitingFor = String(FerryWaitingFor);
      found.push({ workflowId, waitingFor, key: [FerryStep, FerryState, waitingFor].join(' ') });
      if (found.length === MAX_MIGRATIONS) break;
    }
    return found;
  }

  /** Returns when the current wait began, in milliseconds; null if it is not known or no worker answers in time. */
  private async since(workflowId: string, deadline: number): Promise<number | null> {
    try {
      const { waitingSince } = await this.client.withDeadline(deadline, () =>
        this.client.workflow.getHandle(workflowId).query(progressQuery),
      );
      return waitingSince === null ? null : Date.parse(waitingSince);
    } catch {
      return null;
    }
  }
}
