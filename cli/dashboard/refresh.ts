/** Reads what the desk shows: the list as `ferry list` does, more of what is in sight, everything of what is open. */
import type { LedgerCompany, Overview } from '../../store';
import { readCompanies, readLatestDecisions, readOverviews } from '../../store';
import type { LedgerClient, MigrationSummary } from '../../client';
import { firstConnectionError, listMigrations, readOutages, readProgress, connectionErrorText } from '../../client';
import { withTimeout } from '../shared/waiting';
import { openFacts } from './facts';
import type { Detail, DashboardRow, Reading } from './state';

/** What is to be read. */
export interface Wanted {
  /** Of all rows, those in sight: of them alone more is read than the list. */
  readonly inSight: (rows: readonly DashboardRow[]) => readonly DashboardRow[];
  /** The migration that has the whole screen; null: none. */
  readonly open: string | null;
}

const ANSWER_WITHIN_MS = 4_000;
/** Temporal and its workers say in time that they do not answer; a database that has stopped says nothing. */
const LEDGER_WITHIN_MS = 4_000;
const DECISIONS_SHOWN = 20;
/** All of them are in `ferry exceptions`. */
const EXCEPTIONS_SHOWN = 200;

/** Opens a reader, which remembers what need not be read again. It does not fail: it says what could not be read. */
export function openReader(ferry: LedgerClient): (wanted: Wanted) => Promise<Reading> {
  const overviews = new Map<string, Overview>();
  const facts = openFacts(ferry);
  const readExceptions = openExceptions(ferry);

  async function readRows({ inSight }: Wanted, met: Met): Promise<readonly DashboardRow[] | undefined> {
    const lines = await met(listed(ferry));
    if (!lines) return undefined;
    const known = (): readonly DashboardRow[] =>
      lines.map((line) => ({
        ...line,
        overview: overviews.get(line.migrationId) ?? null,
        facts: facts.of(line.migrationId),
      }));
    const seen = inSight(known());
    const ids = seen.map(({ migrationId }) => migrationId);
    const [read] = await Promise.all([
      met(withTimeout(LEDGER_WITHIN_MS, readOverviews(ferry.db, ids))),
      met(facts.refresh(seen)),
    ]);
    for (const overview of read ?? []) overviews.set(overview.migrationId, overview);
    return known();
  }

  async function readDetail(migrationId: string): Promise<Detail> {
    const [progress, [overview = null], heldUp, decisions] = await Promise.all([
      readProgress(ferry, migrationId, ANSWER_WITHIN_MS),
      withTimeout(LEDGER_WITHIN_MS, readOverviews(ferry.db, [migrationId])),
      ferry.temporal.withDeadline(Date.now() + ANSWER_WITHIN_MS, () => readOutages(ferry, migrationId)),
      withTimeout(LEDGER_WITHIN_MS, readLatestDecisions(ferry.db, migrationId, DECISIONS_SHOWN)),
    ]);
    const { exceptionsDigest, heldBack } = progress.counts;
    const version = `${migrationId} ${exceptionsDigest} ${heldBack}`;
    const exceptions = await withTimeout(LEDGER_WITHIN_MS, readExceptions(migrationId, version));
    return { progress, overview, heldUp, decisions, exceptions };
  }

  return async (wanted) => {
    const errors: unknown[] = [];
    const met: Met = (work) => work.catch((error: unknown) => void errors.push(error));
    const [rows, detail] = await Promise.all([
      readRows(wanted, met),
      wanted.open === null ? undefined : met(readDetail(wanted.open)),
    ]);
    const trouble = errors.length === 0 ? null : connectionErrorText(firstConnectionError(errors));
    return { ...(rows ? { rows } : {}), ...(detail ? { detail } : {}), trouble, at: Date.now() };
  };
}

/** Undefined: it could not be read, and why is noted. */
type Met = <T>(work: Promise<T>) => Promise<T | undefined | void>;

function listed(ferry: LedgerClient): Promise<readonly MigrationSummary[]> {
  return ferry.temporal.withDeadline(Date.now() + ANSWER_WITHIN_MS, async () => {
    const lines: MigrationSummary[] = [];
    for await (const line of listMigrations(ferry, 'open')) lines.push(line);
    return lines;
  });
}

/** The first exceptions of a migration, read again when they have changed. */
function openExceptions({
  db,
}: LedgerClient): (migrationId: string, version: string) => Promise<readonly LedgerCompany[]> {
  let latest: { readonly version: string; readonly exceptions: readonly LedgerCompany[] } | null = null;
  return async (migrationId, version) => {
    if (latest?.version === version) return latest.exceptions;
    const exceptions: LedgerCompany[] = [];
    for await (const company of readCompanies(db, migrationId, { exceptions: true })) {
      exceptions.push(company);
      if (exceptions.length === EXCEPTIONS_SHOWN) break;
    }
    latest = { version, exceptions };
    return exceptions;
  };
}
