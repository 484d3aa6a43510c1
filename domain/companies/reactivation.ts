/**
 * Reactivation: whether a client may switch a company on again in its own application. Two applications that use one
 * token can end it for both.
 */
import type { CompanyState } from './company-state';
import type { FailureKind } from './failures';

/**
 * `ask-first`: it is unknown which side holds the grant. `not-yet`: the company is still to be moved.
 * `until-reconnected`: allowed until its end customer reconnects, because the service holds a grant from then on.
 */
export type Reactivation = 'never' | 'ask-first' | 'not-yet' | 'until-reconnected' | 'yes';

export interface ReactivationFacts {
  readonly state: CompanyState;
  /** When the service received a grant; null: it holds none. */
  readonly crossedAt: Date | null;
  /** When a single-use token was last sent to the service; null: none was sent, or it was certainly not used. */
  readonly sentAt: Date | null;
  readonly failure: FailureKind | null;
}

/**
 * Returns whether the client may switch the company on again.
 *
 * @param ended whether the migration has ended, so that no company moves any more
 */
export function reactivationOf({ state, crossedAt, sentAt, failure }: ReactivationFacts, ended: boolean): Reactivation {
  if (crossedAt !== null) return 'never';
  // Leaving a company out does not tell which side holds the grant of a token that was sent without an answer.
  const holderUnknown = sentAt !== null && failure === null;
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
      return holderUnknown ? 'ask-first' : 'yes';
    case 'skipped':
    case 'excluded':
      return holderUnknown ? 'ask-first' : 'yes';
  }
}

export function reactivationText(reactivation: Reactivation): string {
  switch (reactivation) {
    case 'never':
      return 'never';
    case 'ask-first':
      return 'ask first';
    case 'not-yet':
      return 'not yet';
    case 'until-reconnected':
      return 'until it has reconnected';
    case 'yes':
      return 'yes';
  }
}
