/** The outcomes of decisions about companies, with the number of companies that the ledger changed. */
import { counted, outOf } from '../text/sentences';
import type { Outcome } from './decision';

/** The beginning of the outcome of a decision that has changed no company. */
const NOTHING_CHANGED = 'nothing has changed: ';
/** The same beginning if the decision has withdrawn approvals, so that something has changed. */
const NO_COMPANY_CHANGED = 'no company has changed: ';

/** Separates the outcome of a decision from the approvals that it withdraws. */
export const WITHDRAWS = '; this withdraws ';

/** The outcome of a retry before the move in the self-service route. It changes no company. */
export const DETAILS_CHECKED_AGAIN = 'the supplied details will be checked again';

/**
 * Returns the text of the outcome. If not all of the requested companies were changed, the text says how many were. If
 * none was changed, the text contains only this fact, its reason, and the approvals that the decision withdraws,
 * because the rest of `text` would say the opposite.
 *
 * @param text begins with the number of requested companies, if it has a number: `4 companies left out: closed`
 */
export function companiesOutcomeText(text: string, changed: number, requested: number): string {
  if (changed === requested || text.startsWith(DETAILS_CHECKED_AGAIN)) return text;
  if (changed === 0) return noneChangedText(text, whyNone(requested));
  const all = counted(requested, 'company');
  const corrected = text.startsWith(`${all} `) ? counted(changed, 'company') + text.slice(all.length) : text;
  const others =
    requested - changed === 1
      ? 'the other company does not exist, or its state does not allow the decision'
      : 'the other companies do not exist, or their state does not allow the decision';
  return `${corrected}; applied to ${outOf(changed, requested, 'company')}: ${others}`;
}

/** Says that no company was changed, and which approvals were withdrawn. */
function noneChangedText(text: string, why: string): string {
  // The last separator, because the reason of a decision can contain the same words.
  const at = text.lastIndexOf(WITHDRAWS);
  return at < 0 ? `${NOTHING_CHANGED}${why}` : `${NO_COMPANY_CHANGED}${why}${text.slice(at)}`;
}

function whyNone(requested: number): string {
  return requested === 1
    ? 'the company does not exist, or its state does not allow the decision'
    : `the ${counted(requested, 'company')} do not exist, or their state does not allow the decision`;
}

/**
 * The beginning of the outcome of a retry of all companies, until the ledger has counted them. The retry does not
 * change companies that are held back or wait for a credential.
 */
export const ALL_WITH_EXCEPTION = 'all companies that failed, were deferred or have an unknown outcome';
/** The beginning of the outcome of a check of all reconnections, until the ledger has counted the companies. */
export const ALL_TO_RECONNECT = 'all companies with a link to reconnect';

/** Returns the outcome of a supply of which the ledger accepted another number than the decision says. */
export function acceptedText(accepted: number, requested: number): string {
  const missing = requested - accepted;
  const others = counted(missing, accepted === 0 ? 'credential' : 'other credential');
  const company = missing === 1 ? 'its company' : 'their companies';
  const why =
    missing > 0 ? `: ${others} did not arrive, or the state of ${company} does not allow a new credential` : '';
  return `${counted(accepted, 'credential')} supplied, although the decision says ${requested}${why}`;
}

/** The beginning of the clause about companies that a retry of all companies leaves out. */
const NO_HELP = 'a retry does not help ';

/**
 * Returns the outcome of a decision about all companies, with the number of companies that were changed.
 *
 * @param leftOut number of companies that must reconnect, and that a retry leaves out because it cannot help them
 */
export function allCompaniesOutcomeText(text: string, changed: number, leftOut = 0): string {
  const all = [ALL_WITH_EXCEPTION, ALL_TO_RECONNECT].find((each) => text.startsWith(`${each} `));
  if (all === undefined) return text;
  const none = all === ALL_TO_RECONNECT ? 'companies that a reconnection can help' : all.slice('all '.length);
  const noHelp = `${NO_HELP}${counted(leftOut, 'company')} that must reconnect`;
  if (changed === 0) return noneChangedText(text, leftOut === 0 ? `there are no ${none}` : noHelp);
  const rest = text.slice(all.length);
  return `${counted(changed, 'company')}${rest}${leftOut === 0 ? '' : `; ${noHelp}`}`;
}

/**
 * Returns the outcome of a confirmation that syncing is off. If the manifest does not contain all of the companies, the
 * text says how many it contains.
 *
 * @param text begins with the confirmation, and contains the number of companies that the decision names
 */
export function confirmedText(text: string, known: number, requested: number): string {
  if (known === requested) return text;
  const none = requested === 1 ? 'this company' : `these ${counted(requested, 'company')}`;
  if (known === 0) return noneChangedText(text, `the manifest does not contain ${none}`);
  const others = requested - known === 1 ? 'the other' : 'the others';
  return text.replace(COMPANIES, `${outOf(known, requested, 'company')}: the manifest does not contain ${others}`);
}

const COMPANIES = /[\d,]+ compan(?:y|ies)/;

/** The number of changed companies, of confirmed companies, or of accepted credentials, in a partial outcome. */
const CONFIRMED = /^confirmed that syncing is off for ([\d,]+) of [\d,]+ compan(?:y|ies): /;
const APPLIED_TO = /; applied to ([\d,]+) of [\d,]+ compan(?:y|ies): /;
const ACCEPTED = /^([\d,]+) credentials? supplied, although the decision says \d+: /;

/**
 * Returns whether an applied decision changed or confirmed fewer companies, or accepted fewer credentials, than it
 * names. For a decision about all companies, returns true only if a retry changed none because they must reconnect. In
 * self-service, a retry before the move only checks the details again, and is not partial.
 */
export function isPartial({ text }: Pick<Outcome, 'text'>): boolean {
  const isNone = [NOTHING_CHANGED, NO_COMPANY_CHANGED].some((beginning) =>
    ['the ', NO_HELP].some((why) => text.startsWith(beginning + why)),
  );
  return isNone || [APPLIED_TO, CONFIRMED, ACCEPTED].some((partial) => partial.test(text));
}

/**
 * Returns how many companies an applied decision changed, or how many credentials it accepted.
 *
 * @param requested the number that the decision names
 */
export function changedCount({ text }: Pick<Outcome, 'text'>, requested: number): number {
  if (!isPartial({ text })) return requested;
  const changed = (ACCEPTED.exec(text) ?? CONFIRMED.exec(text) ?? APPLIED_TO.exec(text))?.[1];
  return changed === undefined ? 0 : Number(changed.replaceAll(',', ''));
}
