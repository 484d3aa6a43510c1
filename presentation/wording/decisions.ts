/** Describes decisions in words, for the report and the audit trail. */
import type { Companies, Decision } from '../../domain/migration/decision';
import type { LimitsChange } from '../../domain/planning/limits';
import { momentText, counted } from '../../domain/text/sentences';
import { windowsText } from './windows';

/** Maximum number of references in the text of a decision. The audit trail contains all of them. */
const MAX_REFERENCES = 20;

export function decisionText(decision: Decision): string {
  const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
  switch (decision.kind) {
    case 'step':
      return `${decision.verdict} ${decision.step}${reason}`;
    case 'time':
      return `propose to start at ${momentText(decision.startAt)}${reason}`;
    case 'first-company':
      return `choose ${decision.reference} as the first company${reason}`;
    case 'sync-disabled':
      return `confirm that syncing is off for ${decision.companies === 'all' ? 'all companies' : counted(decision.companies.length, 'company')}`;
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

function limitsText({ windows, ...otherLimits }: LimitsChange): string {
  return [
    ...Object.entries(otherLimits).map(([name, value]) => `${name} to ${JSON.stringify(value)}`),
    ...(windows ? [`windows to ${windows.length === 0 ? 'none' : windowsText(windows)}`] : []),
  ].join(', ');
}

function companiesText(companies: Companies): string {
  if (companies === 'all') return 'all companies';
  const more = companies.length > MAX_REFERENCES ? ` and ${companies.length - MAX_REFERENCES} more` : '';
  return companies.slice(0, MAX_REFERENCES).join(', ') + more;
}
