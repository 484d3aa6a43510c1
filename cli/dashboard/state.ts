/** The state of the dashboard: plain data that only readings, keys and decisions change. */
import { actingText } from '../../domain/progress/acting-roles';
import { withTasksOfSupport } from '../../domain/progress/meanwhile';
import type { Progress } from '../../domain/progress/progress';
import type { AuditEntry, Confirmers, LedgerCompany, Overview } from '../../store';
import type { DecisionResult, MigrationSummary } from '../../client';
import type { ScheduleFindings } from '../reporting/paused-windows';
import type { StyledLine } from '../terminal/styled-text';

export interface DashboardRow extends MigrationSummary {
  /** Null if it has not been read yet, or while the ledger does not answer. Only visible rows are read. */
  readonly overview: Overview | null;
  /** Null if the workflow has not answered yet. Can be half a minute old, and older while no worker answers. */
  readonly progress: Progress | null;
  /** The people whose keys support has to confirm. Default: none. */
  readonly keysToConfirm?: readonly string[];
  /** True if the ledger was restored to an older state, so that no company can move. Default: false. */
  readonly ledgerBehind?: boolean;
}

/** The data of a migration's page. */
export interface MigrationDetail {
  readonly progress: Progress;
  readonly overview: Overview | null;
  /** The state of the Schedule that opens the windows. Default: not paused. */
  readonly schedule?: ScheduleFindings;
  /** The people whose keys support has to confirm. Default: none. */
  readonly keysToConfirm?: readonly string[];
  /** True if the ledger was restored to an older state, so that no company can move. Default: false. */
  readonly ledgerBehind?: boolean;
  /** The people who have confirmed that syncing is off; null until step 4 has ended. */
  readonly confirmers: Confirmers | null;
  /** Errors of activities and workflow tasks that keep failing and are being retried. */
  readonly outages: readonly string[];
  /** Newest first. */
  readonly decisions: readonly AuditEntry[];
  readonly exceptions: readonly LedgerCompany[];
}

/** The result of a decision that was made in the dashboard. */
export interface ActionResult {
  /** `partial`: applied to only some of the companies that the decision names, or to none. */
  readonly outcome: DecisionResult['outcome'] | 'partial' | 'nothing' | 'failed';
  readonly text: string;
}

/** A result that stays on the screen until the next key, although the row of its migration can change. */
export interface TimedResult extends ActionResult {
  /** Milliseconds since 1970. */
  readonly at: number;
}

/** The content of the main part of the screen. */
export interface Page {
  readonly title: StyledLine;
  readonly lines: readonly StyledLine[];
  readonly keys: readonly (readonly [key: string, does: string])[];
}

export interface DashboardState {
  /** Null if the migrations have not been read yet. */
  readonly rows: readonly DashboardRow[] | null;
  /** Id of the selected migration; null if there is none. */
  readonly selected: string | null;
  /** True if the selected migration's page is shown, false if the list is shown. */
  readonly isOpen: boolean;
  /** Data of the selected migration's page; null if the page is closed, or its data has not been read yet. */
  readonly detail: MigrationDetail | null;
  /** The selected exception's row number in the manifest; null if there is none. */
  readonly selectedException: number | null;
  /** Index of the first line shown of the migration's full texts; null if the page does not show them. */
  readonly fullTextTop: number | null;
  readonly isHelpShown: boolean;
  readonly lastResult: TimedResult | null;
  /** Says why something could not be read; null if everything was read. */
  readonly connectionError: string | null;
  /** When everything was last read without an error. Milliseconds since 1970; null if it never was. */
  readonly readAt: number | null;
}

export const INITIAL_STATE: DashboardState = {
  rows: null,
  selected: null,
  isOpen: false,
  detail: null,
  selectedException: null,
  fullTextTop: null,
  isHelpShown: false,
  lastResult: null,
  connectionError: null,
  readAt: null,
};

/**
 * The result of one reading. A field is absent if it was not requested or could not be read; the state then keeps its
 * old value.
 */
export interface Reading {
  readonly rows?: readonly DashboardRow[];
  readonly detail?: MigrationDetail;
  readonly connectionError: string | null;
  /** Milliseconds since 1970. */
  readonly at: number;
}

/**
 * Applies a reading. The selected migration stays selected when the order changes. If it is no longer listed, none is
 * selected until the user selects one, because a key would otherwise hit a migration that the user has not chosen.
 */
export function withReading(state: DashboardState, { rows, detail, connectionError, at }: Reading): DashboardState {
  const ordered = rows ? sortedRows(rows) : state.rows;
  const isListed = ordered === null || ordered.some(({ migrationId }) => migrationId === state.selected);
  const isFirstList = state.rows === null || state.rows.length === 0;
  const unlisted = isFirstList ? (ordered?.[0]?.migrationId ?? null) : null;
  const openDetail = detail?.progress.migrationId === state.selected && state.isOpen ? detail : state.detail;
  return {
    ...state,
    rows: ordered,
    // An open page stays open even if its migration is no longer listed because it has just ended.
    selected: isListed || state.isOpen ? state.selected : unlisted,
    detail: openDetail,
    selectedException: selectedExceptionIn(openDetail, state.selectedException),
    connectionError,
    readAt: connectionError === null ? at : state.readAt,
  };
}

function selectedExceptionIn(detail: MigrationDetail | null, row: number | null): number | null {
  const exceptions = detail?.exceptions ?? [];
  return exceptions.some((each) => each.row === row) ? row : (exceptions[0]?.row ?? null);
}

function sortedRows(rows: readonly DashboardRow[]): readonly DashboardRow[] {
  const rank = (row: DashboardRow): number => STATUS_GROUPS.indexOf(statusGroup(row));
  return [...rows].sort((a, b) => rank(a) - rank(b) || BY_NAME.compare(a.migrationId, b.migrationId));
}

/** Sorts `m2` before `m10`. */
const BY_NAME = new Intl.Collator('en', { numeric: true });

/**
 * The groups of migrations, in the order of the list: support must act, no person must act, or only the client must
 * act.
 */
const STATUS_GROUPS = ['support', 'running', 'client'] as const;

export type StatusGroup = (typeof STATUS_GROUPS)[number];

/**
 * Returns the group of a migration. A paused migration is in the group of support, except in self-service, where the
 * client resumes it.
 */
export function statusGroup(row: RoleFacts & Pick<DashboardRow, 'state' | 'step'>): StatusGroup {
  const roles = actingRolesText(row);
  const isForSupport = row.state === 'paused' && row.step !== 'self-service';
  if (isForSupport || roles.includes('support')) return 'support';
  return roles.includes('client') ? 'client' : 'running';
}

/**
 * Names the roles that have to act: `client and support`, or `nobody`. Prefers the workflow's progress to Temporal's
 * search attribute (`waitingFor`), which names the client even for problems of the details that only support can solve.
 */
export function actingRolesText({ waitingFor, progress, keysToConfirm = [], ledgerBehind = false }: RoleFacts): string {
  const roles = progress ? actingText(progress) || 'nobody' : waitingFor;
  return withTasksOfSupport(roles, { ledgerBehind, hasKeysToConfirm: keysToConfirm.length > 0 });
}

type RoleFacts = Pick<DashboardRow, 'waitingFor' | 'progress' | 'keysToConfirm' | 'ledgerBehind'>;

/** Returns the page of the list that contains the selected row. @param height number of rows per page */
export function visibleRows({ rows, selected }: DashboardState, height: number): readonly DashboardRow[] {
  if (rows === null) return [];
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
