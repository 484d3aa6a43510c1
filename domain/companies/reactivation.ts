/**
 * Reactivation: whether the client may switch a company's syncing back on in its own application. If two applications
 * use the same token, both can lose access.
 */
import type { CompanyState, MoveStage } from './company-state';
import type { FailureKind } from './failures';

/**
 * `ask-first`: it is unknown which side has the grant, or a terminated migration is not closed yet. `not-yet`: the
 * company can still be moved. `until-reconnected`: allowed until its end customer reconnects, because the service has a
 * grant from then on. `after-authorization`: only after its end customer has authorized the client's application again,
 * because the platform has refused the old token.
 */
export type Reactivation = 'never' | 'ask-first' | 'not-yet' | 'until-reconnected' | 'after-authorization' | 'yes';

export interface ReactivationFacts {
  readonly state: CompanyState;
  /** When the service received a grant; null if it has none. */
  readonly crossedAt: Date | null;
  /** The time of the last send intent; null if there is none, or if the credential was certainly not used. */
  readonly sentAt: Date | null;
  readonly failure: FailureKind | null;
}

/**
 * Returns whether the client may switch the company's syncing back on.
 *
 * @param stage whether companies of the migration can still move. While it is `terminated`, support has not decided yet
 *   what happens to the companies that were not moved
 */
export function reactivationOf(
  { state, crossedAt, sentAt, failure }: ReactivationFacts,
  stage: MoveStage,
): Reactivation {
  if (crossedAt !== null || state === 'moved' || state === 'syncing') return 'never';
  if (stage === 'terminated') return 'ask-first';
  const ended = stage === 'ended';
  // If a token was sent and no answer arrived, either side could have the grant, even if the company was left out.
  const holderUnknown = sentAt !== null && failure === null;
  switch (state) {
    case 'importing':
    case 'outcome-unknown':
      return 'ask-first';
    case 'failed':
      if (!ended) return 'not-yet';
      return failure === 'reauthorization-required' ? 'until-reconnected' : 'yes';
    case 'waiting':
      if (holderUnknown) return 'ask-first';
      return ended ? 'yes' : 'not-yet';
    case 'skipped':
    case 'excluded':
      if (holderUnknown) return 'ask-first';
      return failure === 'reauthorization-required' ? 'after-authorization' : 'yes';
  }
}

export const REACTIVATION_TEXTS: Readonly<Record<Reactivation, string>> = {
  never: 'never',
  'ask-first': 'ask first',
  'not-yet': 'not yet',
  'until-reconnected': 'until it reconnects',
  'after-authorization': 'after its end customer has authorized your application again',
  yes: 'yes',
};
