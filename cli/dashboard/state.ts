/** What the desk knows and shows: plain data, changed by what is read and by keys. */
import type { Progress } from '../../domain/progress/progress';
import type { Window } from '../../domain/planning/windows';
import type { AuditEntry, LedgerCompany, Overview } from '../../store';
import type { DecisionResult, MigrationSummary } from '../../client';

/** What a migration's workflow says of itself, as far as the list shows it. */
export interface Facts {
  /** What is waited for, or being done, in one sentence. */
  readonly what: string;
  /** ISO 8601, UTC; null: nobody is waited for. */
  readonly waitingSince: string | null;
  /** Nothing gets through to the service or its platform. */
  readonly standsStill: boolean;
  readonly windows: readonly Window[];
  /** As it was estimated for the agreed start. ISO 8601, UTC; null: nothing is agreed, or not within a year. */
  readonly endsBy: string | null;
}

/** A migration in the list. */
export interface DashboardRow extends MigrationSummary {
  /** Null: not read yet, as it was not in sight. */
  readonly overview: Overview | null;
  readonly facts: Facts | null;
}

/** A migration on its own page. */
export interface Detail {
  readonly progress: Progress;
  readonly overview: Overview | null;
  /** What keeps failing and is tried again. */
  readonly heldUp: readonly string[];
  /** The newest first. */
  readonly decisions: readonly AuditEntry[];
  readonly exceptions: readonly LedgerCompany[];
}

/** What became of the last thing that was done here. */
export interface Said {
  readonly became: DecisionResult['became'] | 'nothing' | 'failed';
  readonly text: string;
}

export interface DashboardState {
  /** Null: not read yet. */
  readonly rows: readonly DashboardRow[] | null;
  /** The migration that keys are about; null: there is none. */
  readonly selected: string | null;
  /** It has the whole screen. */
  readonly isOpen: boolean;
  /** Of the selected migration, while it is open; null: not read yet. */
  readonly detail: Detail | null;
  /** The exception that is looked at, by its row in the manifest. */
  readonly exception: number | null;
  readonly isHelpShown: boolean;
  readonly said: Said | null;
  /** What does not answer; null: everything does. */
  readonly trouble: string | null;
  /** When everything was read last. Milliseconds since 1970; null: not yet. */
  readonly freshAt: number | null;
}

export const EMPTY_DASHBOARD: DashboardState = {
  rows: null,
  selected: null,
  isOpen: false,
  detail: null,
  exception: null,
  isHelpShown: false,
  said: null,
  trouble: null,
  freshAt: null,
};

/** What was read in one go. What is absent could not be read, and stays as it is. */
export interface Reading {
  readonly rows?: readonly DashboardRow[];
  readonly detail?: Detail;
  readonly trouble: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The desk with what was read. Whatever is selected stays selected, wherever it has moved to. */
export function withReading(state: DashboardState, { rows, detail, trouble, at }: Reading): DashboardState {
  const ordered = rows ? inOrder(rows) : state.rows;
  const stays = ordered === null || ordered.some(({ migrationId }) => migrationId === state.selected);
  const ofOpened = detail?.progress.migrationId === state.selected && state.isOpen ? detail : state.detail;
  return {
    ...state,
    rows: ordered,
    // The page of a migration that has just ended still says how.
    selected: stays || state.isOpen ? state.selected : (ordered[0]?.migrationId ?? null),
    detail: ofOpened,
    exception: exceptionStill(ofOpened, state.exception),
    trouble,
    freshAt: trouble === null ? at : state.freshAt,
  };
}

function exceptionStill(detail: Detail | null, row: number | null): number | null {
  const exceptions = detail?.exceptions ?? [];
  return exceptions.some((each) => each.row === row) ? row : (exceptions[0]?.row ?? null);
}

/** Those for whom support has to do something come first, then what moves, then what waits for the client. */
function inOrder(rows: readonly DashboardRow[]): readonly DashboardRow[] {
  return [...rows].sort((a, b) => urgency(a) - urgency(b) || BY_NAME.compare(a.migrationId, b.migrationId));
}

/** The second before the tenth. */
const BY_NAME = new Intl.Collator('en', { numeric: true });

export function urgency({ state, waitingFor }: Pick<DashboardRow, 'state' | 'waitingFor'>): number {
  if (state === 'paused' || waitingFor.includes('support')) return 0;
  return waitingFor.includes('client') ? 2 : 1;
}

/** The rows of the list that are in sight: the page of them that holds the selected one. */
export function inSight({ rows, selected }: DashboardState, height: number): readonly DashboardRow[] {
  if (rows === null || height < 1) return [];
  const at = Math.max(
    0,
    rows.findIndex(({ migrationId }) => migrationId === selected),
  );
  const top = Math.floor(at / height) * height;
  return rows.slice(top, top + height);
}

export function selectedRow({ rows, selected }: DashboardState): DashboardRow | undefined {
  return rows?.find(({ migrationId }) => migrationId === selected);
}
