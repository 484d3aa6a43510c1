/** Finds the credentials and manifest rows that a restored ledger has lost, so that people supply them again. */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { RefusedDecision } from '../../domain/migration/reconciliation';
import { missingApprovals } from '../../domain/decisions/approvals';
import { NO_DECISIONS, withDecision } from '../../domain/decisions/release';
import { findMissingCredentials, lockUntouchedCompanies, type MissingCredentials, type Queryable } from '../../store';
import { manifestProblem } from './manifest';

/**
 * Returns whether the ledger has lost credentials of a decision. Call this in the transaction that restores the
 * decision, but before the restore, because the restore deletes the staged credentials.
 *
 * The decision `credentials-supplied` states only how many credentials were supplied, not for which companies. If some
 * are missing, the result is `accepted` as soon as any company accepts a credential and has none staged, even if the
 * missing credentials belong to companies that have moved since.
 *
 * @param areUsable false if the staged credentials do not match the decision, and are discarded
 */
export async function findLostCredentials(
  tx: Queryable,
  migrationId: string,
  decision: DecisionRecord['decision'],
  areUsable: boolean,
): Promise<MissingCredentials> {
  const { decisionId, kind } = decision;
  if (kind !== 'credentials-supplied' && kind !== 'replace-credential') return 'none';
  const staged = { decisionId, replaces: kind === 'replace-credential' };
  return kind === 'replace-credential'
    ? findMissingCredentials(tx, migrationId, staged, { areUsable, references: decision.companies })
    : findMissingCredentials(tx, migrationId, staged, { areUsable, supplied: decision.companies });
}

/**
 * Returns the command that supplies the lost rows of a refused manifest. Returns null if the decision was refused for
 * another reason, because the same rows would then be refused again.
 *
 * @param records all decisions of the workflow, oldest first
 */
export async function commandForLostManifest(
  tx: Queryable,
  migrationId: string,
  { decision }: DecisionRecord,
  records: readonly DecisionRecord[],
): Promise<RefusedDecision['supplyWith'] | null> {
  if (decision.kind !== 'manifest-supplied') return null;
  if (!(await lockUntouchedCompanies(tx, migrationId))) return 'amend';
  if ((await manifestProblem(tx, migrationId, decision)) === null) return null;
  return isManifestReplaceable(records) ? 'manifest' : 'amend';
}

/**
 * Returns whether the workflow accepts another manifest. It does not once the details have been accepted, or companies
 * have been left out. Moves need not be checked, because a move requires accepted details, and step 1 cannot be
 * reopened after a move has begun.
 */
function isManifestReplaceable(records: readonly DecisionRecord[]): boolean {
  let recorded = NO_DECISIONS;
  let areLeftOut = false;
  for (const { decision, outcome } of records) {
    if (!outcome.applied || decision.kind === 'unreadable') continue;
    recorded = withDecision(recorded, decision, outcome.at);
    // A supplied manifest replaces all companies.
    areLeftOut = decision.kind !== 'manifest-supplied' && (areLeftOut || LEAVE_OUT.includes(decision.kind));
  }
  return !areLeftOut && missingApprovals(recorded, 'supply-details').length > 0;
}

const LEAVE_OUT: readonly DecisionRecord['decision']['kind'][] = ['exclude', 'skip'];
