/**
 * Changes after a sign-off: companies whose outcome has changed since a role signed off the handover.
 *
 * Sign-offs are withdrawn only by decisions, but an outcome can also change without a decision: an end customer
 * reconnects, and the company is then verified again. The sign-off still counts, so people have to be told.
 */
import { CLIENT_STATES, type ClientState } from '../companies/company-state';
import { countOpen } from '../companies/counts';
import type { Approval } from '../migration/migration-state';
import { roleText } from '../migration/steps';
import { momentText, numberText, oneLine, sentence } from '../text/sentences';
import type { Progress } from './progress';

/** Companies with the same new outcome. */
export interface ChangedCompanies {
  readonly state: ClientState;
  readonly companies: number;
  /** The first five references, in the manifest's order. */
  readonly references: readonly string[];
}

/** A sign-off that still counts, and the companies whose outcome has changed since. */
export interface ChangedSinceSignOff extends Pick<Approval, 'role' | 'by' | 'at'> {
  /** Not empty. */
  readonly changed: readonly ChangedCompanies[];
}

const MAX_REFERENCE_LENGTH = 40;

/** Names the companies by their new outcome: `moved: C-1; not moved: C-2, C-3 and 4 more`. */
export function changedText({ changed }: Pick<ChangedSinceSignOff, 'changed'>): string {
  return changed
    .map(({ state, companies, references }) => {
      const more = companies - references.length;
      const names = references.map((reference) => oneLine(reference, MAX_REFERENCE_LENGTH)).join(', ');
      return `${CLIENT_STATES[state]}: ${names}${more > 0 ? ` and ${numberText(more)} more` : ''}`;
    })
    .join('; ');
}

/** Says, as a clause, who signed off before outcomes changed, and when. */
export function signedBeforeText(change: ChangedSinceSignOff): string {
  return `${roleText(change.role)} signed off at ${momentText(change.at)}, before these outcomes: ${changedText(change)}`;
}

/**
 * Says who signed off before outcomes changed. If the handover can be rejected, also says how both sides can sign off
 * again.
 */
export function signOffAgainText(
  change: ChangedSinceSignOff,
  { migrationId, counts }: Pick<Progress, 'migrationId' | 'counts'>,
): string {
  // While a company is moving or can move, there is no handover to reject.
  if (countOpen(counts) > 0) return sentence(signedBeforeText(change));
  return `${sentence(signedBeforeText(change))}. If ${roleText(change.role)} no longer accepts the result, reject the handover; both sides then sign off again: ferry reject ${migrationId} complete-migration --reason "why"`;
}

/**
 * Says to the client that outcomes have changed since its own sign-off.
 *
 * @param canReject false if the sign-off cannot be withdrawn now
 */
export function sinceOwnSignOffText(change: ChangedSinceSignOff, canReject: boolean): string {
  const text = `Since your sign-off at ${momentText(change.at)}, these outcomes are new: ${changedText(change)}.`;
  return canReject
    ? `${text} If you no longer accept the result, reject the handover; your sign-off then no longer counts.`
    : text;
}
