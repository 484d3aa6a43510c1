/** Builds the page's rows of companies from the ledger's facts. */
import { inClientWords } from '../../domain/companies/client-words';
import { clientStateOf, leftOutText, unreachedText } from '../../domain/companies/company-state';
import {
  acceptedSupplies,
  missingCredentialText,
  notReadyText,
  type SupplyMessage,
} from '../../domain/companies/credential-state';
import { failureText, namesFailure, type FailureKind } from '../../domain/companies/failures';
import { REPLACED_PROBLEM, replacedRemedyFor } from '../../domain/preflight/applications';
import { acceptedRemedies, remediesFor, type RemedyRules } from '../../domain/companies/remedies';
import { momentText } from '../../domain/text/sentences';
import { withoutUnsafeCharacters } from '../../domain/text/untrusted-text';
import type { z } from 'zod';
import type { CompanySchema, MigrationView } from '../contract/migration-view';
import type { CompanyRow } from './database';

export type PortalCompany = z.infer<typeof CompanySchema>;

/** The facts of the view that decide when companies move, and which decisions about them the migration accepts now. */
export type AcceptingView = Pick<MigrationView, 'route' | 'steps' | 'firstCompany' | 'actions' | 'state' | 'windows'>;

/**
 * @param view the migration's latest view; null to list every remedy, for example before a worker has written a view
 */
export function companyOf(company: CompanyRow, view: AcceptingView | null): PortalCompany {
  const { row, reference, name, organization, wave, state, failure, credential, confirmedAt, movedAt } = company;
  const problem = problemOf(company, view);
  const remediable = { ...company, deferred: company.isDeferred };
  const remedies = remediesFor(remediable);
  const isMoving = state === 'importing' || state === 'syncing' || state === 'moved';
  return {
    row,
    reference,
    name,
    organization,
    wave,
    state: clientStateOf(state, failure, company.hasEnded),
    confirmedAt: confirmedAt?.toISOString() ?? null,
    hasCredential: credential === 'supplied' || isMoving,
    movedAt: movedAt?.toISOString() ?? null,
    problem: problem === null ? null : withoutUnsafeCharacters(problem),
    remedies: company.hasEnded ? [] : [...(view ? acceptedRemedies(remediable, rulesFor(company, view)) : remedies)],
    accepts: company.hasEnded ? [] : acceptedSupplies(company).filter((message) => isAccepted(message, view)),
    linkUrl: remedies.includes('relink') || company.dependsOnReplaced ? webAddress(company.linkUrl) : null,
  };
}

function rulesFor({ reference }: CompanyRow, { route, steps, firstCompany }: AcceptingView): RemedyRules {
  const isCompleting = steps.some(({ step, state }) => step === 'complete-migration' && state !== 'later');
  return { route, isCompleting, isFirst: firstCompany?.reference === reference };
}

/** Before step 6, a migration can refuse `replaceCredential` for all companies. Its view then does not offer it. */
function isAccepted(supply: SupplyMessage, view: AcceptingView | null): boolean {
  return supply !== 'replaceCredential' || view === null || view.actions.some(({ message }) => message === supply);
}

/**
 * Returns the problem of a company; null if there is none. Adds that the company depends on a replaced application,
 * unless its end customer must reconnect it anyway.
 */
function problemOf(company: CompanyRow, view: AcceptingView | null): string | null {
  const own = ownProblemOf(company, view);
  if (!company.dependsOnReplaced || clientStateOf(company.state, company.failure) === 'must-reconnect') return own;
  const replaced = `${REPLACED_PROBLEM}; ${replacedRemedyFor(webAddress(company.linkUrl))}`;
  const isLeftOut = company.state === 'skipped' || company.state === 'excluded';
  return own === null && !isLeftOut ? replaced : `${own ?? 'left out'}; ${replaced}`;
}

function ownProblemOf(company: CompanyRow, view: AcceptingView | null): string | null {
  const { state, failure, failureText: stored, heldBack, leftOutReason } = company;
  const detail = stored === null ? null : inClientWords(stored);
  const failed = failure === null ? detail : failedText(failure, detail);
  if (state === 'skipped' || state === 'excluded') return leftOutText(leftOutReason, failed);
  const again = nextTryText(company, view);
  if (failed !== null && again !== null) return `${failed}; ${again}`;
  if (failure !== null) return failed;
  if (state === 'outcome-unknown') return detail ?? 'it is unknown whether the credential was used';
  const unreached = state === 'waiting' && company.hasEnded ? unreachedText('ended', company.tries) : null;
  if (unreached !== null) return [detail ?? heldBack ?? [], unreached].flat().join('; ');
  return detail ?? heldBack ?? missingCredentialText(company);
}

/**
 * Says that a deferred company will be tried again, and when, if that is known. Null if it is not deferred or not
 * ready, the migration has ended, or only the first company can move now. Does not depend on the current time, so that
 * the text stays the same while it is shown.
 */
function nextTryText(company: CompanyRow, view: AcceptingView | null): string | null {
  const { isDeferred, retryAt, hasEnded } = company;
  if (!isDeferred || hasEnded || notReadyText(company) !== null || !canMove(company, view)) return null;
  const after = retryAt === null ? '' : ` after ${momentText(retryAt.toISOString())}`;
  const again = `it will be tried again automatically${after}`;
  const hasWindows = view?.windows != null;
  if (view?.state !== 'paused') return `${again}${hasWindows ? ', when a window is open' : ''}`;
  return `${again}, once the migration has been resumed${hasWindows ? ' and a window is open' : ''}`;
}

/** Returns whether a company can move in the current step: in the managed route, before step 6, only the first one. */
function canMove(company: CompanyRow, view: AcceptingView | null): boolean {
  if (view === null || view.route === 'self-service') return true;
  const { isCompleting, isFirst } = rulesFor(company, view);
  return isCompleting || isFirst;
}

/** Returns the failure with its detail. The import's detail already begins with the text of the failure. */
function failedText(failure: FailureKind, detail: string | null): string {
  const text = failureText(failure);
  return detail === null || namesFailure(detail, failure) ? (detail ?? text) : `${text} (${detail})`;
}

/** Returns the address if a browser can open it safely, because the page makes it a link; otherwise null. */
function webAddress(url: string | null): string | null {
  return url !== null && URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) ? url : null;
}
