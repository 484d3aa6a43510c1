/** The plan: the input of a migration. Small, because companies and credentials are in the ledger and the vault. */
import type { MigrationLimits } from '../planning/limits';
import type { Route } from '../../platforms/platforms';
import type { Approver } from './approvers';

/** The rules for decisions in a migration. */
export interface DecisionRules {
  /** True if an approval, or a confirmation for all companies, must carry the digest of what its sender reviewed. */
  readonly requireDigest: boolean;
  /** True if a person is prevented from approving what they supplied or proposed, and from approving in both roles. */
  readonly fourEyes: boolean;
  /**
   * The approvers at the start, if only signed decisions are accepted; otherwise null, and names are not verified.
   * Support can change the approvers later (`approvers.ts`).
   */
  readonly approvers: readonly Approver[] | null;
}

export interface MigrationPlan {
  /** `<client>.<platform>[.<label>]`. Also the workflow id. */
  readonly migrationId: string;
  /** The client's short name: lower-case letters, digits and hyphens. Ids are not encrypted. */
  readonly client: string;
  readonly route: Route;
  /** The four-letter key in the platform table. */
  readonly platformKey: string;
  /** Who answers the client's questions: a team, a phone number or an address. */
  readonly contact: string;
  /** Reference of the company to move first; null for the first company that can be moved. */
  readonly firstCompany: string | null;
  /** The limits at the start. `adjust` changes only the limits in the migration's state and in the ledger. */
  readonly limits: MigrationLimits;
  readonly decisions: DecisionRules;
}

export const DEFAULT_DECISION_RULES: DecisionRules = { requireDigest: false, fourEyes: false, approvers: null };
