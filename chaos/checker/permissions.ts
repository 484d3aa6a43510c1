/**
 * Checks the invariants `confirmation`, `release` and `window`: each token was sent only when the decisions in the
 * audit trail allowed it.
 *
 * The orchestrator checks whether a row may be moved when it claims the row, and the token can be in flight until the
 * lease of the claim ends. So a send is accepted if it was allowed when it was sent, or at some time in the
 * {@link IN_FLIGHT_MS} before that. A send whose answer was lost or was an error may be repeated at any time, with the
 * same token and to the same connection, because the claim of the row still holds. A claim has no such tolerance: its
 * time in the ledger, which comes from the clock of the ledger's database, must be inside a window. Between a
 * decision that changes the windows and its record in the ledger, a claim may be inside the old or the new windows.
 */
import type { Evidence, Findings, Invariant, Violation, WeeklyWindow } from './evidence';
import { groupBy, type RowFacts, type Send } from './facts';
import type { Ledger, LedgerMigration, LedgerRow, TrailContent, TrailEntry } from './ledger';
import { releasesOf, type Since } from './releases';
import { isInside } from './windows';

/** The lease of a claim: docs/glossary.md. */
const IN_FLIGHT_MS = 135_000;
/** The search for a permission goes back from the time of the send in steps of this length. */
const SEARCH_MS = 1_000;

export function checkPermissions(
  rows: readonly RowFacts[],
  { migrations, trail }: Ledger,
  evidence: Pick<Evidence, 'windows'>,
): Findings {
  const applied = groupBy(
    trail.filter((entry) => entry.applied),
    (entry) => entry.migration,
  );
  const violations: Violation[] = [];
  let sent = 0;
  for (const [id, ofMigration] of groupBy(rows, ({ row }) => row.migration)) {
    const migration = migrations.get(id);
    if (migration === undefined) continue;
    const decisions = applied.get(id) ?? [];
    const started = evidence.windows?.find((each) => each.migration === id)?.windows;
    const windows = windowsOf(migration, decisions, started, 'at');
    const recordedWindows = windowsOf(migration, decisions, started, 'recordedAt');
    const releases = releasesOf(migration, decisions);
    for (const { row } of ofMigration) {
      const at = claimBefore(row);
      if (at === null || isInsideThen(windows, at) || isInsideThen(recordedWindows, at)) continue;
      const detail = `claimed at ${iso(at)}, outside the windows`;
      violations.push({ invariant: 'window', migration: id, reference: row.reference, detail });
    }
    const first = new Set<string>();
    for (const { facts, send } of claimsOf(ofMigration)) {
      sent += 1;
      const report = (invariant: Invariant, detail: string): void => {
        const { reference } = facts.row;
        violations.push({ invariant, migration: id, reference, detail: `sent at ${iso(send.at)}, ${detail}` });
      };
      if (!isConfirmed(facts, decisions, send.at)) report('confirmation', 'before the client had confirmed it');
      if (!wasTrue(send.at, (at) => isInsideThen(windows, at))) report('window', 'outside the windows');
      const isReleased = (wanted: readonly string[]): boolean =>
        wasTrue(send.at, (at) => wanted.includes(valueAt(releases.timeline, at) ?? ''));
      if (isReleased(['all'])) continue;
      if (!isReleased(['first-company'])) report('release', 'before it was released');
      else if (first.add(facts.row.reference).size > releases.firstCompanies) {
        report('release', `although only the first company was released; sent: ${[...first].join(', ')}`);
      }
    }
  }
  return { violations, checked: { confirmation: sent, release: sent, window: sent } };
}

/**
 * Returns the time of the claim that preceded the send, in milliseconds; null if nothing was sent, or if a later
 * attempt has reclaimed the row, because the ledger keeps only the latest claim.
 */
function claimBefore({ claimedAt, sentAt, sentAgain }: LedgerRow): number | null {
  return claimedAt === null || sentAt === null || sentAgain || claimedAt > sentAt ? null : claimedAt.getTime();
}

interface Claim {
  readonly facts: RowFacts;
  readonly send: Send;
}

/** Returns the sends in chronological order, without those that repeat a send whose answer was lost or was an error. */
function claimsOf(rows: readonly RowFacts[]): readonly Claim[] {
  return rows
    .flatMap((facts) =>
      facts.sends
        .filter((send, index) => !facts.sends.slice(0, index).some((before) => isRepeated(before, send)))
        .map((send) => ({ facts, send })),
    )
    .sort((one, other) => one.send.at - other.send.at);
}

function isRepeated(before: Send, send: Send): boolean {
  const isSame = before.connectionId === send.connectionId && before.body === send.body;
  return isSame && (!before.delivered || before.status === null || before.status >= 400);
}

/**
 * Returns whether the client had confirmed the row. In the managed route, a decision of the client confirms rows, and a
 * rejection of `disable-syncing` withdraws the confirmation. In the self-service route, the ledger has the time of the
 * client's statement.
 */
function isConfirmed({ row, migration }: RowFacts, decisions: readonly TrailEntry[], at: number): boolean {
  if (migration.route !== 'managed') return row.confirmedAt !== null && row.confirmedAt.getTime() <= at;
  const isFor = ({ kind, companies }: TrailContent): boolean =>
    kind === 'sync-disabled' &&
    (companies === 'all' || (Array.isArray(companies) && companies.includes(row.reference)));
  const withdraws = ({ kind, verdict, step }: TrailContent): boolean =>
    kind === 'step' && verdict === 'reject' && step === 'disable-syncing';
  return wasTrue(at, (then) => {
    const latest = decisions.findLast(
      (each) => each.at.getTime() <= then && (isFor(each.content) || withdraws(each.content)),
    );
    return latest !== undefined && isFor(latest.content);
  });
}

/**
 * Returns the windows over time; null while they are not known.
 *
 * @param time the time from which a change counts: when it was decided, or when the ledger recorded it
 */
function windowsOf(
  migration: LedgerMigration,
  decisions: readonly TrailEntry[],
  started: readonly WeeklyWindow[] | undefined,
  time: 'at' | 'recordedAt',
): readonly Since<readonly WeeklyWindow[] | null>[] {
  const changes = decisions.flatMap(({ [time]: at, content: { kind, windows, limits } }) => {
    const changed = kind === 'time' ? windows : kind === 'adjust' ? limits?.windows : undefined;
    return changed === undefined ? [] : [{ at: at.getTime(), value: changed }];
  });
  const initial = started ?? (changes.length === 0 ? migration.windows : null);
  return [{ at: -Infinity, value: initial }, ...changes];
}

function isInsideThen(windows: readonly Since<readonly WeeklyWindow[] | null>[], at: number): boolean {
  const then = valueAt(windows, at) ?? null;
  return then === null || isInside(then, at);
}

function valueAt<T>(timeline: readonly Since<T>[], at: number): T | undefined {
  return timeline.findLast((each) => each.at <= at)?.value;
}

function wasTrue(at: number, condition: (at: number) => boolean): boolean {
  for (let before = 0; before <= IN_FLIGHT_MS; before += SEARCH_MS) if (condition(at - before)) return true;
  return false;
}

const iso = (at: number): string => new Date(at).toISOString();
