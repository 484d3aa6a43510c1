/**
 * The state of a company, and the six words shown to clients.
 *
 * The ledger stores the state. Only the claim, and reconciling a company whose outcome is unknown, set it to
 * `importing`.
 */
import type { FailureKind } from './failures';

export const COMPANY_STATES = [
  'waiting',
  'importing',
  'syncing',
  'moved',
  'failed',
  'skipped',
  'excluded',
  'outcome-unknown',
] as const;

export type CompanyState = (typeof COMPANY_STATES)[number];

/** The reason for which a company is held back until the preflight has checked its added or corrected row. */
export const NOT_CHECKED = 'not checked yet';

/** Returns whether the final outcome of a company is still unknown. */
export function isOpen(state: CompanyState): boolean {
  return state === 'waiting' || state === 'importing' || state === 'syncing' || state === 'outcome-unknown';
}

/** The words that describe the state of a company to people. Each key is a value of `--state`. */
export const CLIENT_STATES = {
  moved: 'moved',
  moving: 'moving',
  'not-moved-yet': 'not moved yet',
  'must-reconnect': 'must reconnect',
  'not-moved': 'not moved',
  'left-out': 'left out',
} as const;

export type ClientState = keyof typeof CLIENT_STATES;

/**
 * The stage of a migration, which decides whether companies can still move. `terminated`: its workflow has ended in
 * Temporal, but the migration is not closed yet, so no company moves or is checked. `ended`: no company moves any more,
 * and companies that were moving are checked.
 */
export type MoveStage = 'open' | 'terminated' | 'ended';

/** The words for a company that was moving when the migration reached the stage. */
const MOVING_WORDS: Readonly<Record<MoveStage, string>> = {
  open: CLIENT_STATES.moving,
  terminated: 'interrupted',
  ended: 'still being checked',
};

/** Returns the words for the states of companies. The words can also follow a number: `3 moved`. */
export function clientStateWords(stage: MoveStage): Readonly<Record<ClientState, string>> {
  return { ...CLIENT_STATES, moving: MOVING_WORDS[stage] };
}

/**
 * Returns the key in `CLIENT_STATES` for the state of a company. The key of a failed company also depends on the
 * failure.
 *
 * @param hasEnded true if no company moves any more, because the migration or its workflow has ended. The key is then
 *   `not-moved` instead of `not-moved-yet`
 */
export function clientStateOf(state: CompanyState, failure: FailureKind | null, hasEnded = false): ClientState {
  switch (state) {
    case 'moved':
      return 'moved';
    case 'importing':
    case 'syncing':
      return 'moving';
    case 'waiting':
    case 'outcome-unknown':
      return hasEnded ? 'not-moved' : 'not-moved-yet';
    case 'failed':
      return failure === 'reauthorization-required' ? 'must-reconnect' : 'not-moved';
    case 'skipped':
    case 'excluded':
      return 'left-out';
  }
}

/**
 * Returns whether the end customer of a company should get the link to reconnect: the company must reconnect, or it
 * depends on an application that was replaced, even if it was left out. Having a link is not enough, because a company
 * that was not moved for another reason can also have one, and a left-out company keeps its last failure.
 */
export function needsLink(state: CompanyState, failure: FailureKind | null, dependsOnReplaced: boolean): boolean {
  return dependsOnReplaced || clientStateOf(state, failure) === 'must-reconnect';
}

/**
 * Returns whether the service holds the connection of another organization for a company that was not moved. Its end
 * customer can use the link again, and connect the right organization, also after the end of the migration.
 */
export function isWronglyConnected(company: {
  readonly state: CompanyState;
  readonly failure: FailureKind | null;
  readonly crossedAt: Date | null;
}): boolean {
  const { state, failure, crossedAt } = company;
  return state === 'failed' && failure === 'wrong-organization' && crossedAt !== null;
}

/** Returns the words that people read for the state of a company: *moved*, *must reconnect* and so on. */
export function clientStateText(state: CompanyState, failure: FailureKind | null, stage: MoveStage = 'open'): string {
  return clientStateWords(stage)[clientStateOf(state, failure, stage !== 'open')];
}

/**
 * Returns why a waiting company was not moved, once no company moves any more; null while it can still be moved.
 *
 * @param tries number of times that its import was tried
 */
export function unreachedText(stage: MoveStage, tries: number): string | null {
  if (stage === 'open') return null;
  return `the migration ${stage === 'ended' ? 'ended' : 'was stopped'} before the company was ${tries > 0 ? 'tried again' : 'moved'}`;
}

/** Says why a company was not moved: `must reconnect: the authorization no longer works`. */
export function notMovedText(state: ClientState, why: string | null): string {
  const text = CLIENT_STATES[state];
  if (why === null) return text;
  // Some reasons already begin with the state.
  return why.startsWith(`${text}: `) ? why : `${text}: ${why}`;
}

/**
 * Says why a company was left out, and what had gone wrong before: `sold; before that: not all records have arrived`.
 *
 * @returns null if neither is known
 */
export function leftOutText(reason: string | null, failure: string | null): string | null {
  if (failure === null) return reason;
  return reason === null ? failure : `${reason}; before that: ${failure}`;
}

/** The ledger states and failures that a client state covers. */
export interface LedgerStates {
  readonly states: readonly CompanyState[];
  /** Absent: any failure. True: only `reauthorization-required`. False: any other failure, or none. */
  readonly mustReconnect?: boolean;
}

/** Returns the ledger states and failures that a client state covers: the inverse of `clientStateOf`. */
export function ledgerStatesOf(clientState: ClientState, hasEnded = false): LedgerStates {
  const states = COMPANY_STATES.filter((state) => clientStateOf(state, null, hasEnded) === clientState);
  switch (clientState) {
    case 'must-reconnect':
      return { states: ['failed'], mustReconnect: true };
    case 'not-moved':
      return { states, mustReconnect: false };
    case 'moved':
    case 'moving':
    case 'not-moved-yet':
    case 'left-out':
      return { states };
  }
}
