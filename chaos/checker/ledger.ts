/** Reads the tables of the orchestrator's database directly. */
import { Client } from 'pg';
import type { WeeklyWindow } from './evidence';

export interface LedgerMigration {
  readonly id: string;
  readonly route: string;
  readonly platformKey: string;
  readonly state: string;
  readonly ending: string | null;
  /** The current windows. */
  readonly windows: readonly WeeklyWindow[];
}

export interface LedgerRow {
  readonly migration: string;
  readonly row: number;
  readonly reference: string;
  readonly platformKey: string;
  readonly organization: string;
  readonly state: string;
  readonly failure: string | null;
  readonly expectedInvoices: number | null;
  readonly confirmedAt: Date | null;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  /** The latest claim or reclaim, and the latest send intent since the claim, by the clock of the database. */
  readonly claimedAt: Date | null;
  readonly sentAt: Date | null;
  /** True if more than one attempt has recorded a send intent since the claim. */
  readonly sentAgain: boolean;
  readonly crossedAt: Date | null;
  /** True if the company existed at the service before the migration: the client supplied its id. */
  readonly existedBefore: boolean;
}

export interface TrailEntry {
  readonly migration: string;
  readonly decisionId: string;
  readonly at: Date;
  /** The time of the record: soon after `at`, or later if the ledger was down or had to be repaired. */
  readonly recordedAt: Date;
  readonly role: string | null;
  readonly applied: boolean;
  readonly content: TrailContent;
}

/** The parts of a decision that the checker reads. */
export interface TrailContent {
  readonly kind: string;
  readonly step?: string;
  readonly verdict?: string;
  readonly companies?: string | number | readonly string[];
  readonly startAt?: string;
  readonly windows?: readonly WeeklyWindow[];
  readonly limits?: { readonly windows?: readonly WeeklyWindow[] };
}

export interface Ledger {
  readonly migrations: ReadonlyMap<string, LedgerMigration>;
  readonly rows: readonly LedgerRow[];
  /** In the order of the trail. */
  readonly trail: readonly TrailEntry[];
}

/** Reads the migrations with these ids, their companies, and their decisions. */
export async function readLedger(url: string, migrations: readonly string[]): Promise<Ledger> {
  return withClient(url, async (client) => {
    const found = await client.query<LedgerMigration>(
      `select id, route, platform_key as "platformKey", state, ending, limits -> 'windows' as windows
       from tokenferry.migrations where id = any($1)`,
      [migrations],
    );
    const companies = await client.query<LedgerRow>(
      `select migration_id as migration, row, reference, platform_key as "platformKey", organization, state, failure,
         expected_invoices as "expectedInvoices", confirmed_at as "confirmedAt", company_id as "companyId",
         connection_id as "connectionId", claimed_at as "claimedAt", authorization_sent_at as "sentAt",
         authorizations_sent > 1 as "sentAgain", crossed_at as "crossedAt",
         named is not null as "existedBefore"
       from tokenferry.companies where migration_id = any($1) order by migration_id, row`,
      [migrations],
    );
    const trail = await client.query<TrailEntry>(
      `select migration_id as migration, decision_id as "decisionId", at, recorded_at as "recordedAt", role, applied, content
       from tokenferry.decisions where migration_id = any($1) order by position`,
      [migrations],
    );
    return { migrations: new Map(found.rows.map((each) => [each.id, each])), rows: companies.rows, trail: trail.rows };
  });
}

/** Connects, runs the work in one snapshot of the database, and disconnects. */
export async function withClient<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    return await work(client);
  } finally {
    await client.end();
  }
}
