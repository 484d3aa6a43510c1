/** Says in the handover report what the client has to do about companies. */
import { isWronglyConnected, NOT_CHECKED, type MoveStage } from '../../domain/companies/company-state';
import { missingCredentialText } from '../../domain/companies/credential-state';
import { clientRemedyText, remediesFor, type Remediable } from '../../domain/companies/remedies';
import type { Route } from '../../platforms/platforms';
import type { LedgerCompany } from '../../store';
import {
  applicationName,
  remedyForReplaced,
  replacedRemedyText,
  type ApplicationsOfMoved,
} from '../../domain/preflight/applications';
import { sentence } from '../../domain/text/sentences';

type UnmovedCompany = Remediable & Pick<LedgerCompany, 'replacedApplication' | 'sentAt'>;

/** Returns what the client has to do about a company that has not moved; empty if that is said elsewhere. */
export function whatToDo(
  company: UnmovedCompany,
  { stage, route }: { readonly stage: MoveStage; readonly route: Route },
): string {
  // Advice about a replaced application is given where that application is named. Until the application is registered
  // again or the end customer reconnects, nothing else helps a company that lacks only its sync or its records.
  if (company.replacedApplication && AFTER_AUTHORIZATION.includes(company.failure)) return '';
  if (stage === 'open') return whatToDoNow(company, route);
  if (stage === 'terminated' && company.state !== 'failed') return 'ask support what happens next';
  // Once the migration has ended, only companies that are still being checked have these states.
  if (company.state === 'importing' || company.state === 'syncing') return BEING_CHECKED;
  switch (company.failure) {
    case 'incomplete':
    case 'sync-failed':
    case 'sync-timed-out':
      return 'nothing; the connection is in place, and support takes care of its sync';
    case 'wrong-organization':
      if (isWronglyConnected(company)) return whileWronglyConnected(company);
      return IN_NEW_MIGRATION;
    case 'refused':
    case 'application-refused':
    case 'credential-unreadable':
      return IN_NEW_MIGRATION;
    case 'reauthorization-required':
      return company.linkUrl === null ? 'ask support for a link' : 'send its end customer the link to reconnect';
    case null:
      // A retry keeps `crossedAt` and `sentAt`, so the service can already have the grant of a waiting company.
      if (company.crossedAt !== null)
        return 'ask support, because access was handed over to us, but the move was not verified';
      if (company.state === 'waiting' && company.sentAt === null) return 'move the company in a new migration';
      return 'ask support, because its credential may have been sent to us, but the move was not verified';
  }
}

const IN_NEW_MIGRATION = 'correct the problem, then move the company in a new migration';

function whileWronglyConnected({ linkUrl }: UnmovedCompany): string {
  const link =
    linkUrl === null
      ? 'ask support for a link, and send it to its end customer'
      : 'send its end customer the link again';
  return `${link}, to connect the right organization. Then ask support to check it, because reconnections are not checked after the end of the migration`;
}

/** The failures of companies whose connections are authorized. */
const AFTER_AUTHORIZATION: readonly UnmovedCompany['failure'][] = ['incomplete', 'sync-failed', 'sync-timed-out'];

const BEING_CHECKED = 'nothing yet; it is still being checked';

function whatToDoNow(company: UnmovedCompany, route: Route): string {
  const { state, tries, heldBack, confirmedAt, credential, deferred } = company;
  if (state === 'importing' || state === 'syncing') return 'nothing; it is being moved';
  if (state === 'waiting' && heldBack === NOT_CHECKED) return BEING_CHECKED;
  const [remedy] = remediesFor(company);
  if (state !== 'waiting' || heldBack !== null || (deferred && remedy === 'credentials'))
    return remedy === undefined || remedy === 'application' ? '' : clientRemedyText(remedy, route);
  // Advice about a replaced application is given where that application is named.
  if (company.replacedApplication) return '';
  if (confirmedAt === null) return 'once you are asked, confirm that its syncing is off';
  if (missingCredentialText(company) !== null)
    return credential === 'too-early'
      ? 'supply a credential that was exported after the confirmation that syncing is off'
      : 'supply a credential';
  return tries > 0 ? 'nothing; it will be tried again' : 'nothing; its turn is still to come';
}

/**
 * Returns the introduction of the report's section about companies whose application was replaced. Says what helps the
 * companies of each replaced application, as under "What you need to do".
 */
export function replacedNote(applications: ApplicationsOfMoved): string {
  const remedies = applications.replaced.map((each) => {
    const text = `${sentence(replacedRemedyText(remedyForReplaced(each, applications, 'client')))}.`;
    return applications.replaced.length === 1 ? text : `Connected with ${applicationName(each.application)}: ${text}`;
  });
  const companies = applications.replaced.reduce((sum, each) => sum + each.companies, 0);
  const which = companies === 1 ? 'this company' : 'these companies';
  return [`The service can no longer refresh the tokens of ${which}.`, ...remedies].join(' ');
}
