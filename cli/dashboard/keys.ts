/** Handles keys. A key changes the state at once or requests an action that takes longer. */
import { selectedRow, type DashboardState } from './state';

/** A decision that the user wants to make. A dialog follows. */
export interface RequestedDecision {
  readonly kind: 'approve' | 'reject' | 'pause' | 'resume' | 'retry';
  readonly migrationId: string;
  /** For a retry, the reference of the selected company; absent if none is selected. */
  readonly reference?: string;
}

export type KeyAction = 'quit' | RequestedDecision;

export interface KeyResult {
  readonly state: DashboardState;
  readonly action?: KeyAction;
}

/**
 * Handles a key.
 *
 * @param height number of rows per page of the list
 * @param lastTop index of the first line shown when a migration's full texts are scrolled to the end
 */
export function handleKey(before: DashboardState, key: string, height: number, lastTop = 0): KeyResult {
  // Clears the last result, because the user has seen it when they press a key.
  const state = { ...before, lastResult: null };
  if (key === 'ctrl-c' || key === 'q') return { state, action: 'quit' };
  if (state.isHelpShown) return { state: { ...state, isHelpShown: false } };
  if (key === '?' || key === 'h') return { state: { ...state, isHelpShown: true } };
  if (state.fullTextTop !== null) {
    // The text can have become shorter since the last key.
    const at = Math.min(state.fullTextTop, lastTop);
    return {
      state: { ...state, fullTextTop: SCROLL_KEYS.has(key) ? moveSelection(at, key, lastTop + 1, height) : null },
    };
  }
  const action = decisionFor(state, key);
  if (action) return { state, action };
  return { state: state.isOpen ? navigateMigration(state, key, height) : navigateList(state, key, height) };
}

const SCROLL_KEYS: ReadonlySet<string> = new Set(['up', 'k', 'down', 'j', 'pageup', 'pagedown', 'home', 'end']);

function decisionFor(state: DashboardState, key: string): RequestedDecision | null {
  const migrationId = state.selected;
  if (migrationId === null) return null;
  switch (key) {
    case 'a':
      return { kind: 'approve', migrationId };
    case 'x':
      return { kind: 'reject', migrationId };
    case 'p':
      return { kind: isPaused(state) ? 'resume' : 'pause', migrationId };
    case 'r': {
      const selected = state.detail?.exceptions.find(({ row }) => row === state.selectedException);
      return { kind: 'retry', migrationId, ...(state.isOpen && selected ? { reference: selected.reference } : {}) };
    }
    default:
      return null;
  }
}

/**
 * Returns whether the migration is paused. Prefers its open page to the list, because the list is updated a moment
 * later.
 */
function isPaused(state: DashboardState): boolean {
  const shown = state.isOpen && state.detail ? state.detail.progress.state : selectedRow(state)?.state;
  return shown === 'paused';
}

function navigateList(state: DashboardState, key: string, height: number): DashboardState {
  const rows = state.rows ?? [];
  const at = rows.findIndex(({ migrationId }) => migrationId === state.selected);
  if (key === 'return' || key === 'right') return at < 0 ? state : { ...state, isOpen: true, detail: null };
  const to = moveSelection(at, key, rows.length, height);
  return { ...state, selected: rows[to]?.migrationId ?? state.selected };
}

function navigateMigration(state: DashboardState, key: string, height: number): DashboardState {
  if (key === 'escape' || key === 'left' || key === 'backspace') {
    const isListed = selectedRow(state) !== undefined;
    return {
      ...state,
      isOpen: false,
      detail: null,
      selectedException: null,
      selected: isListed ? state.selected : (state.rows?.[0]?.migrationId ?? null),
    };
  }
  if (key === 'return' || key === 'right') return state.detail === null ? state : { ...state, fullTextTop: 0 };
  const exceptions = state.detail?.exceptions ?? [];
  const at = exceptions.findIndex(({ row }) => row === state.selectedException);
  return {
    ...state,
    selectedException: exceptions[moveSelection(at, key, exceptions.length, height)]?.row ?? state.selectedException,
  };
}

/** Returns the new index of the selection. @param count length of the list */
function moveSelection(at: number, key: string, count: number, height: number): number {
  const clamped = (to: number): number => Math.max(0, Math.min(count - 1, to));
  switch (key) {
    case 'up':
    case 'k':
      return clamped(at - 1);
    case 'down':
    case 'j':
      return clamped(at + 1);
    case 'pageup':
      return clamped(at - height);
    case 'pagedown':
      return clamped(at + height);
    case 'home':
      return 0;
    case 'end':
      return clamped(count - 1);
    default:
      return at;
  }
}
