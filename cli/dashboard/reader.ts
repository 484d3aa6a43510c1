/**
 * Reads the data for the dashboard: all open migrations, counts for the rows on the screen, and details of the
 * migration whose page is shown.
 */
import {
  readLedgersBehind,
  listUnconfirmedKeys,
  listUnfinishedMigrations,
  readCompanies,
  readLatestDecisions,
  readOverviews,
  type LedgerCompany,
  type Overview,
  type UnconfirmedKey,
} from '../../store';
import {
  rootConnectionError,
  listMigrations,
  readRetries,
  connectionErrorText,
  type LedgerClient,
  type MigrationSummary,
} from '../../client';
import { readConfirmersOf } from '../reporting/steps-table';
import { readSchedule } from '../reporting/paused-windows';
import { retryTexts } from '../reporting/retries';
import { readProgressInTime, withLedgerLimit, withLedgerState } from '../connections/ledger-limit';
import { shortTime } from '../terminal/times';
import { openProgressCache } from './progress-cache';
import type { MigrationDetail, DashboardRow, Reading } from './state';
import { withReconciledLedger } from '../../domain/progress/ledger-behind';
import type { Progress } from '../../domain/progress/progress';
import { isOver } from '../../domain/migration/terminated';
import { collected } from '../../domain/text/streams';

export interface ReadRequest {
  /** Returns the visible rows; counts and progress are read only for them. */
  readonly visibleRows: (rows: readonly DashboardRow[]) => readonly DashboardRow[];
  /** Null if no migration's page is shown. */
  readonly shownMigrationId: string | null;
}

/**
 * The same as `QUERY_TIMEOUT_MS` in progress-cache.ts: long enough for a second attempt, which reaches another worker
 * if the first has died.
 */
const TEMPORAL_TIMEOUT_MS = 4_000;
const MAX_DECISIONS = 20;
/** Maximum number of exceptions on a page. `ferry exceptions` prints all of them. */
const MAX_EXCEPTIONS = 200;

/**
 * Opens a reader with a cache. Each reading uses the connections that `ferry` has at that time. The `connectionError`
 * of a reading says why something could not be read. A reading throws only if there is a bug in this program.
 */
export function openReader(ferry: LedgerClient): (request: ReadRequest) => Promise<Reading> {
  const overviews = new Map<string, Overview>();
  const progress = openProgressCache(ferry);
  const readExceptions = openExceptionCache(ferry);
  // The terminated migrations as last read. If the list cannot be read again, they stay on the screen.
  let terminated: readonly MigrationSummary[] = [];
  let unconfirmed: readonly UnconfirmedKey[] = [];
  // Null until the ledger has answered.
  let behind: ReadonlyMap<string, boolean> | null = null;

  function rowProgress(migrationId: string): Progress | null {
    const read = progress.of(migrationId);
    return read !== null && behind?.get(migrationId) === false ? withReconciledLedger(read) : read;
  }

  async function readRows(
    { visibleRows }: ReadRequest,
    attempt: Attempt,
  ): Promise<readonly DashboardRow[] | undefined> {
    const [open, unfinished, keys] = await Promise.all([
      attempt(listOpenMigrations(ferry)),
      attempt(withLedgerLimit(listUnfinishedMigrations(ferry.db, ferry.temporal.options.namespace))),
      attempt(withLedgerLimit(listUnconfirmedKeys(ferry.db, null))),
    ]);
    if (!open) return undefined;
    unconfirmed = keys ?? unconfirmed;
    const ended = unfinished?.filter((id) => !open.some(({ migrationId }) => migrationId === id));
    terminated = (ended && (await attempt(listTerminated(ferry, ended)))) ?? terminated;
    const lines = [
      ...open,
      ...terminated.filter(({ migrationId }) => !open.some((line) => line.migrationId === migrationId)),
    ];
    const current = (): readonly DashboardRow[] =>
      lines.map((line) => ({
        ...line,
        overview: overviews.get(line.migrationId) ?? null,
        progress: rowProgress(line.migrationId),
        keysToConfirm: isOver(line.state) ? [] : peopleIn(line.migrationId, unconfirmed),
        ledgerBehind: behind?.get(line.migrationId) ?? false,
      }));
    const visible = visibleRows(current());
    const ids = visible.map(({ migrationId }) => migrationId);
    // If the ledger has just not answered, a second wait for it would only delay the list. Reading the progress of a
    // terminated migration would wait for the ledger, too.
    const [latest] = await Promise.all([
      unfinished ? attempt(withLedgerLimit(readOverviews(ferry.db, ids))) : undefined,
      attempt(progress.refresh(unfinished ? visible : visible.filter(({ endedInTemporal }) => !endedInTemporal))),
    ]);
    // The list shows Temporal's counts while the ledger does not answer, because a row must not show old counts beside
    // a new state.
    if (!latest) overviews.clear();
    for (const overview of latest ?? []) overviews.set(overview.migrationId, overview);
    const marks = lines
      .filter(({ state, endedInTemporal }) => !endedInTemporal && !isOver(state))
      .map(({ migrationId }) => [migrationId, progress.markOf(migrationId)] as const);
    const read = latest && (await attempt(withLedgerLimit(readLedgersBehind(ferry.db, new Map(marks)))));
    // While the ledger does not answer, it could be restored to an older state.
    behind = read ?? new Map([...(behind ?? [])].filter(([, isBehind]) => isBehind));
    return current();
  }

  async function readDetail(migrationId: string): Promise<MigrationDetail> {
    const answered = readProgressInTime(ferry, migrationId, TEMPORAL_TIMEOUT_MS).then((read) =>
      withLedgerState(ferry, read),
    );
    const current = answered.then(({ progress: read }) => read);
    const scheduled = current.then((progress) =>
      ferry.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () => readSchedule(ferry, progress)),
    );
    const [{ progress, schedule }, { ledgerBehind }, [overview = null], retries, decisions, confirmers, keys] =
      await Promise.all([
        scheduled,
        answered,
        withLedgerLimit(readOverviews(ferry.db, [migrationId])),
        ferry.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, () => readRetries(ferry, migrationId)),
        withLedgerLimit(readLatestDecisions(ferry.db, migrationId, MAX_DECISIONS)),
        current.then((progress) => readConfirmersOf(ferry.db, progress)),
        withLedgerLimit(listUnconfirmedKeys(ferry.db, migrationId)),
      ]);
    const keysToConfirm = isOver(progress.state) ? [] : peopleIn(migrationId, keys);
    const { exceptionsDigest, heldBack } = progress.counts;
    const version = `${migrationId} ${progress.state} ${exceptionsDigest} ${heldBack}`;
    const exceptions = await withLedgerLimit(readExceptions(migrationId, version));
    const shownAt = new Date();
    const texts = retryTexts(ferry, migrationId, retries, (iso) => shortTime(iso, shownAt));
    const outages = await withLedgerLimit(texts);
    return { progress, schedule, keysToConfirm, ledgerBehind, overview, outages, decisions, exceptions, confirmers };
  }

  return async (request) => {
    const errors: unknown[] = [];
    const attempt: Attempt = (work) => work.catch((error: unknown) => void errors.push(error));
    const [rows, detail] = await Promise.all([
      readRows(request, attempt),
      request.shownMigrationId === null ? undefined : attempt(readDetail(request.shownMigrationId)),
    ]);
    const connectionError = errors.length === 0 ? null : connectionErrorText(rootConnectionError(errors));
    return { ...(rows ? { rows } : {}), ...(detail ? { detail } : {}), connectionError, at: Date.now() };
  };
}

const peopleIn = (id: string, keys: readonly UnconfirmedKey[]): readonly string[] =>
  keys.flatMap(({ migrationId, person }) => (migrationId === id ? [person] : []));

/** Runs work. If it fails, keeps the error and returns undefined. */
type Attempt = <T>(work: Promise<T>) => Promise<T | undefined | void>;

function listOpenMigrations(ferry: LedgerClient): Promise<readonly MigrationSummary[]> {
  const list = () => collected(listMigrations(ferry, 'open'));
  return ferry.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, list);
}

/**
 * Lists the migrations that support has to close, because they have not ended, although their workflows have ended in
 * Temporal. Their companies do not move, but the organizations cannot join another migration.
 *
 * @param ids the migrations that are open in the ledger, but not in Temporal
 */
async function listTerminated(ferry: LedgerClient, ids: readonly string[]): Promise<readonly MigrationSummary[]> {
  if (ids.length === 0) return [];
  const list = () => collected(listMigrations(ferry, ids));
  const listed = ferry.temporal.withDeadline(Date.now() + TEMPORAL_TIMEOUT_MS, list);
  // The list also reads the ledger. If Temporal does not answer, its deadline must end first, so that the error says
  // so.
  return (await withLedgerLimit(listed, TEMPORAL_TIMEOUT_MS)).filter(({ endedInTemporal }) => endedInTemporal);
}

/** Opens a cache of a migration's first exceptions, which are read again only when their version has changed. */
function openExceptionCache(
  ferry: LedgerClient,
): (migrationId: string, version: string) => Promise<readonly LedgerCompany[]> {
  let latest: { readonly version: string; readonly exceptions: readonly LedgerCompany[] } | null = null;
  return async (migrationId, version) => {
    if (latest?.version === version) return latest.exceptions;
    const exceptions: LedgerCompany[] = [];
    for await (const company of readCompanies(ferry.db, migrationId, { exceptions: true })) {
      exceptions.push(company);
      if (exceptions.length === MAX_EXCEPTIONS) break;
    }
    latest = { version, exceptions };
    return exceptions;
  };
}
