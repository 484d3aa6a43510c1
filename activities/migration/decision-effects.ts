/** Applies verified decisions to the ledger. */
import type { CredentialsSupplied, Decision, Outcome } from '../../domain/migration/decision';
import { acceptedText, confirmedText } from '../../domain/migration/partial-outcome';
import { confirmedOffText } from '../../domain/decisions/ruling';
import { actsAsSupport } from '../../domain/decisions/self-service';
import {
  acceptFailures,
  acceptStaged,
  changeLimits,
  clearFailedFirst,
  confirmDisabled,
  endOutage,
  findUnknownReferences,
  liftPausesByPeople,
  requestFirstAgain,
  requestFirstCompany,
  setPaused,
  stopClaims,
  withdrawConfirmations,
  type Database,
  type LedgerFacts,
} from '../../store';
import { applyToCompanies, isExceptionDecision } from './exceptions';
import { applyManifest } from './manifest';

/**
 * Applies a verified decision to the ledger.
 *
 * @returns the text of the outcome
 */
export async function applyDecision(
  tx: Database,
  { migrationId, route, paused, pausedItself }: Pick<LedgerFacts, 'migrationId' | 'route' | 'paused' | 'pausedItself'>,
  decision: Decision,
  outcome: Outcome,
): Promise<string> {
  if (isExceptionDecision(decision)) return applyToCompanies(tx, migrationId, decision, outcome);
  switch (decision.kind) {
    case 'sync-disabled':
      return applyConfirmation(tx, migrationId, decision, outcome);
    case 'pause':
      await setPaused(tx, migrationId, true);
      break;
    case 'resume':
      // A restored ledger might lack the pause. The resume then changes nothing; in particular, it does not accept the
      // failures so far.
      if (!paused) break;
      if (pausedItself && !actsAsSupport({ route }, decision.role)) {
        await liftPausesByPeople(tx, migrationId);
        break;
      }
      // A resume accepts the failures so far, because the person who resumes the migration has seen them.
      await acceptFailures(tx, migrationId);
      await clearFailedFirst(tx, migrationId);
      await setPaused(tx, migrationId, false);
      break;
    case 'step':
      if (decision.verdict === 'reject') await applyRejection(tx, migrationId, decision);
      break;
    case 'time':
      if (decision.windows) await changeLimits(tx, migrationId, { windows: decision.windows });
      break;
    case 'first-company':
      await requestFirstCompany(tx, migrationId, decision.reference);
      break;
    case 'adjust':
      await changeLimits(tx, migrationId, decision.limits);
      break;
    case 'cancel':
      await stopClaims(tx, migrationId);
      break;
    case 'credentials-supplied':
      return acceptCredentials(tx, migrationId, decision, outcome);
    case 'manifest-supplied':
      return applyManifest(tx, migrationId, decision, outcome.text);
    case 'application-supplied':
    case 'manifest-amended':
    case 'add-approver':
    case 'remove-approver':
      break;
  }
  return outcome.text;
}

/**
 * Records a confirmation. The text counts only companies in the manifest, and says whether all of them had been
 * confirmed before, because the workflow does not know either.
 */
async function applyConfirmation(
  tx: Database,
  migrationId: string,
  { companies, by }: Extract<Decision, { readonly kind: 'sync-disabled' }>,
  { at }: Outcome,
): Promise<string> {
  const hasChanged = await confirmDisabled(tx, { migrationId, companies, by, at });
  // Not the text of the outcome: if the decision is restored, the ledger may have corrected that text before.
  const full = confirmedOffText(companies);
  if (companies === 'all') return hasChanged ? full : `already ${full}`;
  const named = [...new Set(companies)];
  const unknown = await findUnknownReferences(tx, migrationId, named);
  if (!hasChanged && unknown.length === 0) return `already ${full}`;
  return confirmedText(full, named.length - unknown.length, named.length);
}

/**
 * Starts to use the credentials that were staged for the decision. Their number in the outcome comes from the ledger,
 * not from the message.
 */
async function acceptCredentials(
  tx: Database,
  migrationId: string,
  { decisionId, companies }: CredentialsSupplied,
  { text }: Outcome,
): Promise<string> {
  const accepted = await acceptStaged(tx, migrationId, { decisionId, replaces: false });
  return accepted === companies ? text : acceptedText(accepted, companies);
}

async function applyRejection(
  tx: Database,
  migrationId: string,
  { step, afterwards }: Extract<Decision, { readonly kind: 'step' }>,
): Promise<void> {
  // A rejection stops the moves, so an outage no longer does.
  await endOutage(tx, migrationId);
  if (step === 'disable-syncing') await withdrawConfirmations(tx, migrationId);
  if (step !== 'migrate-first-company') return;
  if (afterwards?.next === 'same-company' && afterwards.reference === undefined)
    await requestFirstAgain(tx, migrationId, 'all');
  else if (afterwards && 'reference' in afterwards) await requestFirstCompany(tx, migrationId, afterwards.reference);
}
