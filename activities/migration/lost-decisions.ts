/** Restores the decisions that a restored ledger has lost, and reports which supplies were lost with them. */
import { heartbeat } from '@temporalio/activity';
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { ReconciliationResult, RefusedDecision, RestoredDecision } from '../../domain/migration/reconciliation';
import type { Database } from '../../store';
import type { ActivityDeps } from '../deps';
import { restoreDecision } from './decisions';
import { commandForLostManifest } from './lost-supplies';
import { updateWindowOccurrence } from './windows';

/**
 * Applies and records again the decisions that Temporal has and the ledger has lost, oldest first.
 *
 * @param isBehind whether the ledger is known to be behind its workflow
 */
export async function restoreDecisions(
  deps: ActivityDeps,
  migrationId: string,
  isBehind: boolean,
): Promise<Pick<ReconciliationResult, 'decisions' | 'refused'>> {
  const { db, workflowRecords } = deps;
  const restored: PerhapsPartial[] = [];
  const refused: RefusedDecision[] = [];
  const records = await workflowRecords.decisionsOf(migrationId);
  const latestManifest = records.findLast(({ decision, outcome }) => isManifest(decision) && outcome.applied);
  for (const record of records) {
    heartbeat();
    const { decision } = record;
    const restore = async (tx: Database) => {
      const restoration = await restoreDecision(tx, migrationId, record, isBehind);
      const isLostManifest = record === latestManifest && restoration?.outcome.applied === false;
      const command = isLostManifest ? await commandForLostManifest(tx, migrationId, record, records) : null;
      return restoration && { ...restoration, command };
    };
    const restoration = await db.transaction().execute(restore);
    if (!restoration) continue;
    const { outcome, lostCredentials, command } = restoration;
    const { decisionId, kind, by } = decision;
    const each = { decisionId, kind, by, at: outcome.at };
    if (record.outcome.applied && !outcome.applied)
      refused.push({ ...each, why: outcome.text, ...(command && { supplyWith: command }) });
    else restored.push({ ...each, ...(!outcome.applied && { wasRefused: true }), lostCredentials });
    if (outcome.applied && decision.kind === 'adjust' && decision.limits.windows)
      await updateWindowOccurrence(deps, migrationId);
  }
  return { decisions: withPartial(restored, refused), refused };
}

const isManifest = ({ kind }: DecisionRecord['decision']): boolean => kind === 'manifest-supplied';

type PerhapsPartial = Omit<RestoredDecision, 'isPartial'> &
  Pick<NonNullable<Awaited<ReturnType<typeof restoreDecision>>>, 'lostCredentials'>;

/**
 * Marks the decisions whose credentials must be supplied again. If rows of the manifest were lost as well, lost
 * credentials that no company in the ledger accepts can belong to those rows, so their decisions are marked, too.
 */
function withPartial(
  restored: readonly PerhapsPartial[],
  refused: readonly RefusedDecision[],
): readonly RestoredDecision[] {
  const areRowsLost =
    refused.some(({ supplyWith }) => supplyWith !== undefined) ||
    restored.some(({ kind, wasRefused }) => kind === 'manifest-amended' && !wasRefused);
  const isPartial = ({ lostCredentials }: PerhapsPartial): boolean =>
    lostCredentials === 'accepted' || (lostCredentials === 'not-accepted' && areRowsLost);
  return restored.map((each) => {
    const { lostCredentials: _, ...decision } = each;
    return isPartial(each) ? { ...decision, isPartial: true } : decision;
  });
}
