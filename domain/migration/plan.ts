/**
 * The plan: the input of a migration. It is small, and contains no companies, no credentials and no names but
 * approvers'.
 */
import type { MigrationLimits } from '../planning/limits';
import type { Route } from '../../platforms/platforms';
import type { Approver } from './signatures';

/** The rules for decisions in a migration. */
export interface DecisionRules {
  /** True: an approval must carry the digest of what its sender reviewed. */
  readonly digestObligatory: boolean;
  /** True: a person cannot approve what they supplied or proposed, nor approve for both roles. */
  readonly fourEyes: boolean;
  /**
   * The people whose signed decisions are accepted; null: decisions are unsigned, and the sender's name is believed.
   */
  readonly approvers: readonly Approver[] | null;
}

export interface MigrationPlan {
  /** `<client>.<platform>[.<label>]`. Also the workflow id. */
  readonly migrationId: string;
  /**
   * The client's short name: letters, digits and hyphens. Not the name of the business, because ids are not encrypted.
   */
  readonly client: string;
  readonly route: Route;
  /** The four-letter key in the platform table. */
  readonly platformKey: string;
  /** The client's contact for questions: a team, a phone number or an address. */
  readonly contact: string;
  /** Reference of the company to move first; null: the first company that can be moved. */
  readonly firstCompany: string | null;
  /** The limits at the start. `adjust` changes the ones in the migration's state and the ledger, not these. */
  readonly limits: MigrationLimits;
  readonly decisions: DecisionRules;
}

export const DEFAULT_DECISION_RULES: DecisionRules = { digestObligatory: false, fourEyes: false, approvers: null };
