/** The outcomes of decisions about companies, with the number of companies that the ledger changed. */
import { counted, outOf } from '../text/sentences';
import type { Outcome } from './decision';

/**
 * Returns the text of the outcome. If not all of the requested companies were changed, the text says how many were.
 *
 * @param text begins with the number of requested companies, if it has a number: `4 companies left out: closed`
 */
export function companiesOutcomeText(text: string, changed: number, requested: number): string {
  if (changed === requested) return text;
  const all = counted(requested, 'company');
  const corrected = text.startsWith(`${all} `) ? counted(changed, 'company') + text.slice(all.length) : text;
  return `${corrected}; applied to ${outOf(changed, requested, 'company')}: ${whyNotAll(changed, requested)}`;
}

function whyNotAll(changed: number, requested: number): string {
  if (requested === 1) return 'the company does not exist, or its state does not allow the decision';
  const which = changed === 0 ? 'the companies' : 'the rest of the companies';
  return `${which} do not exist, or their state does not allow the decision`;
}

/**
 * The beginning of the outcome of a retry of all companies, until the ledger has counted them. The retry does not
 * change companies that are held back or wait for a credential.
 */
export const ALL_WITH_EXCEPTION = 'all companies that failed, were deferred or have an unknown outcome';
/** The beginning of the outcome of a check of all reconnections, until the ledger has counted the companies. */
export const ALL_TO_RECONNECT = 'all companies that must reconnect';

/** Returns the outcome of a decision about all companies, with the number of companies that were changed. */
export function allCompaniesOutcomeText(text: string, changed: number): string {
  const all = [ALL_WITH_EXCEPTION, ALL_TO_RECONNECT].find((each) => text.startsWith(`${each} `));
  return all === undefined ? text : counted(changed, 'company') + text.slice(all.length);
}

/** Returns whether an applied decision changed fewer companies than it names. */
export function isPartial({ text }: Pick<Outcome, 'text'>): boolean {
  return /; applied to [\d,]+ of [\d,]+ compan(?:y|ies): /.test(text);
}
