/** What keys do: they change what is shown, or wish for something that takes longer. */
import type { DashboardState } from './state';
import { selectedRow } from './state';

/** A decision that somebody wants to take. */
export interface WantedDecision {
  readonly kind: 'approve' | 'reject' | 'pause' | 'resume' | 'retry';
  readonly migrationId: string;
  /** The company that is looked at. */
  readonly reference?: string;
}

export type Wish = 'quit' | WantedDecision;

export interface Pressed {
  readonly state: DashboardState;
  readonly wish?: Wish;
}

/** @param height how many rows a page of the list has */
export function pressed(before: DashboardState, key: string, height: number): Pressed {
  // Whoever presses a key has read what was said.
  const state = { ...before, said: null };
  if (key === 'ctrl-c' || key === 'q') return { state, wish: 'quit' };
  if (state.isHelpShown) return { state: { ...state, isHelpShown: false } };
  if (key === '?' || key === 'h') return { state: { ...state, isHelpShown: true } };
  const wish = wishOf(state, key);
  if (wish) return { state, wish };
  return { state: state.isOpen ? onMigration(state, key, height) : onList(state, key, height) };
}

function wishOf(state: DashboardState, key: string): WantedDecision | null {
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
      const looked = state.detail?.exceptions.find(({ row }) => row === state.exception);
      return { kind: 'retry', migrationId, ...(state.isOpen && looked ? { reference: looked.reference } : {}) };
    }
    default:
      return null;
  }
}

/** As far as anybody knows: lists follow a moment later than the migration's own page. */
function isPaused(state: DashboardState): boolean {
  const shown = state.isOpen && state.detail ? state.detail.progress.state : selectedRow(state)?.state;
  return shown === 'paused';
}

function onList(state: DashboardState, key: string, height: number): DashboardState {
  const rows = state.rows ?? [];
  const at = rows.findIndex(({ migrationId }) => migrationId === state.selected);
  if (key === 'return' || key === 'right') return at < 0 ? state : { ...state, isOpen: true, detail: null };
  const to = moved(at, key, rows.length, height);
  return { ...state, selected: rows[to]?.migrationId ?? state.selected };
}

function onMigration(state: DashboardState, key: string, height: number): DashboardState {
  if (key === 'escape' || key === 'left' || key === 'backspace') {
    const stays = selectedRow(state) !== undefined;
    return {
      ...state,
      isOpen: false,
      detail: null,
      exception: null,
      selected: stays ? state.selected : (state.rows?.[0]?.migrationId ?? null),
    };
  }
  const exceptions = state.detail?.exceptions ?? [];
  const at = exceptions.findIndex(({ row }) => row === state.exception);
  return { ...state, exception: exceptions[moved(at, key, exceptions.length, height)]?.row ?? state.exception };
}

/** Where the selection goes in a list of so many. */
function moved(at: number, key: string, count: number, height: number): number {
  const within = (to: number): number => Math.max(0, Math.min(count - 1, to));
  switch (key) {
    case 'up':
    case 'k':
      return within(at - 1);
    case 'down':
    case 'j':
      return within(at + 1);
    case 'pageup':
      return within(at - height);
    case 'pagedown':
      return within(at + height);
    case 'home':
      return 0;
    case 'end':
      return within(count - 1);
    default:
      return at;
  }
}
