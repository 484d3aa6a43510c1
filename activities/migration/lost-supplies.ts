/** Finds what a restored ledger has lost of the supplies of decisions, so that people supply it again. */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { RefusedDecision } from '../../domain/migration/reconciliation';
import type { Queryable } from '../../store';
import { lacksStaged, lockUntouchedCompanies } from '../../store';
import { manifestProblem } from './manifest';
import { exchangeRefusal } from './staged-supply';

/**
 * Returns whether the ledger no longer has all credentials of a decision, and companies still accept one. Call this in
 * the transaction that restores the decision, before it is restored, because that deletes the staged credentials.
 *
 * A decision about waiting companies states only their number. So the result can also be true if the missing credentials
 * belong to companies that have moved since, and other companies are waiting.
 */
export async function lacksCredentials(
  tx: Queryable,
  migrationId: string,
  decision: DecisionRecord['decision'],
): Promise<boolean> {
  const { decisionId, kind } = decision;
  if (kind !== 'credentials-supplied' && kind !== 'replace-credential') return false;
  const staged = { decisionId, replaces: kind === 'replace-credential' };
  // Credentials that do not match the digest are discarded, so they are lost as well.
  const areUsable = (await exchangeRefusal(tx, migrationId, decision)) === null;
  return kind === 'replace-credential'
    ? lacksStaged(tx, migrationId, staged, { areUsable, references: decision.companies })
    : lacksStaged(tx, migrationId, staged, { areUsable, supplied: decision.companies });
}

/**
 * Returns the command that supplies the lost rows of a refused manifest. Returns null if the decision was refused for
 * another reason, so that the same rows would be refused again.
 */
export async function commandForLostManifest(
  tx: Queryable,
  migrationId: string,
  { decision }: DecisionRecord,
): Promise<RefusedDecision['supplyWith'] | null> {
  if (decision.kind !== 'manifest-supplied') return null;
  if (!(await lockUntouchedCompanies(tx, migrationId))) return 'amend';
  return (await manifestProblem(tx, migrationId, decision)) === null ? null : 'manifest';
}
