/** What a client may switch on again in its own application: a token that two applications use can die for both. */
import type { CompanyState } from './company-state';
import type { FailureKind } from './failures';

/**
 * `ask-first`: nobody knows yet who holds its token; `not-yet`: it is still to be moved; `until-reconnected`: as soon as
 * its end customer has connected again, the service holds a grant.
 */
export type Reactivation = 'never' | 'ask-first' | 'not-yet' | 'until-reconnected' | 'yes';

export interface ReactivationFacts {
  readonly state: CompanyState;
  /** Since when the service holds a grant of it. */
  readonly crossedAt: Date | null;
  /** When a token that can be used only once was last sent to the service, unless it certainly was not used. */
  readonly sentAt: Date | null;
  readonly failure: FailureKind | null;
}

/** @param ended nothing is moved any more */
export function reactivationOf({ state, crossedAt, sentAt, failure }: ReactivationFacts, ended: boolean): Reactivation {
  if (crossedAt !== null) return 'never';
  // Whoever gave it up, or left it out after all, has not found out who holds its token.
  const nobodyKnows = sentAt !== null && failure === null;
  switch (state) {
    case 'migrated':
    case 'syncing':
      return 'never';
    case 'importing':
    case 'outcome-unknown':
      return 'ask-first';
    case 'failed':
      if (!ended) return 'not-yet';
      return failure === 'reauthorization-required' ? 'until-reconnected' : 'yes';
    case 'waiting':
      if (!ended) return 'not-yet';
      return nobodyKnows ? 'ask-first' : 'yes';
    case 'skipped':
    case 'excluded':
      return nobodyKnows ? 'ask-first' : 'yes';
  }
}

export function reactivationText(may: Reactivation): string {
  switch (may) {
    case 'never':
      return 'never';
    case 'ask-first':
      return 'ask first';
    case 'not-yet':
      return 'not yet';
    case 'until-reconnected':
      return 'until it has connected again';
    case 'yes':
      return 'yes';
  }
}
