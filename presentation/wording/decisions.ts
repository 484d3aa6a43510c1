/** Decisions in words, for the report and the audit trail. */
import type { Companies, Decision } from '../../domain/migration/decision';
import type { LimitsChange } from '../../domain/planning/limits';
import { moment, counted } from '../../domain/text/sentences';
import { windowsText } from './windows';

/** A decision about more companies than this names only the first ones. The audit trail holds all of them. */
const MOST_NAMES = 20;

export function decisionText(decision: Decision): string {
  const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
  switch (decision.kind) {
    case 'step':
      return `${decision.verdict} ${decision.step}${reason}`;
    case 'time':
      return `propose to start at ${moment(decision.startAt)}${reason}`;
    case 'first-company':
      return `choose ${decision.reference} as the first company${reason}`;
    case 'sync-disabled':
      return `confirm syncing off for ${decision.companies === 'all' ? 'all companies' : counted(decision.companies.length, 'company')}`;
    case 'credentials-supplied':
      return `supply ${counted(decision.companies, 'credential')}`;
    case 'application-supplied':
      return `supply application ${decision.clientId} (${decision.environment})`;
    case 'manifest-amended':
      return `amend the manifest: ${counted(decision.added, 'company')} added, ${decision.corrected} corrected`;
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
      return `${decision.kind} ${companiesText(decision.companies)}${reason}`;
    case 'replace-credential':
      return `replace the credential of ${companiesText(decision.companies)}${reason}`;
    case 'adjust':
      return `adjust ${limitsText(decision.limits)}${reason}`;
    case 'cancel':
    case 'pause':
    case 'resume':
      return `${decision.kind}${reason}`;
  }
}

function limitsText({ windows, ...others }: LimitsChange): string {
  return [
    ...Object.entries(others).map(([name, value]) => `${name} to ${JSON.stringify(value)}`),
    ...(windows ? [`windows to ${windowsText(windows)}`] : []),
  ].join(', ');
}

function companiesText(companies: Companies): string {
  if (companies === 'all') return 'all';
  const more = companies.length > MOST_NAMES ? ` and ${companies.length - MOST_NAMES} more` : '';
  return companies.slice(0, MOST_NAMES).join(', ') + more;
}
