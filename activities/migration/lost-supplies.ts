/** Finds what a restored ledger has lost of the supplies of decisions, so that people supply it again. */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { RefusedDecision } from '../../domain/migration/reconciliation';
import type { MissingCredentials, Queryable } from '../../store';
import { findMissingCredentials, lockUntouchedCompanies } from '../../store';
import { manifestProblem } from './manifest';

/**
 * Returns whether the ledger has lost credentials of a decision. Call this in the transaction that restores the
 * decision, before it is restored, because that deletes the staged credentials.
 *
 * A decision about waiting companies states only their number. So credentials can also be `accepted` if they belong to
 * companies that have moved since, and other companies are waiting.
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
 * another reason, so that the same rows would be refused again.
 */
export async function commandForLostManifest(
  tx: Queryable,
  migrationId: string,
  { decision }: DecisionRecord,
): Promise<RefusedDecision['supplyWith'] | null> {
  if (decision.kind !== 'manifest-supplied') return null;
  if (!(await lockUntouchedCompanies(tx, migrationId))) return 'amend';
  if ((await manifestProblem(tx, migrationId, decision)) === null) return null;
  return 'manifest';
}
