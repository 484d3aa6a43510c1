import type { Companies, Decision } from '../../domain/migration/decision';
import type { LimitsChange } from '../../domain/planning/limits';
import { moment } from '../../domain/text/moments';
import { windowsText } from './windows';
import { counted } from '../../domain/text/sentences';

/** A decision about more companies names the first ones; the audit trail has them all. */
const NAMED_AT_MOST = 20;

/** What somebody decided, in words for a report. */
export function decisionText(decision: Decision): string {
  const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
  switch (decision.kind) {
    case 'step':
      return `${decision.verdict} ${decision.step}${reason}`;
    case 'time':
      return `propose to start at ${moment(decision.startAt)}${reason}`;
    case 'first-company':
      return `let ${decision.reference} go first${reason}`;
    case 'sync-disabled':
      return `confirm syncing disabled: ${decision.companies === 'all' ? 'all' : counted(decision.companies.length, 'company')}`;
    case 'credentials-supplied':
      return `supply ${counted(decision.companies, 'credential')}`;
    case 'application-supplied':
      return `supply the application ${decision.clientId} (${decision.environment})`;
    case 'manifest-amended':
      return `amend the manifest: ${counted(decision.added, 'company')} added, ${decision.corrected} corrected`;
    case 'exclude':
    case 'skip':
    case 'retry':
    case 'relink':
      return `${decision.kind} ${named(decision.companies)}${reason}`;
    case 'replace-credential':
      return `replace the credential of ${named(decision.companies)}${reason}`;
    case 'adjust':
      return `adjust ${adjusted(decision.limits)}${reason}`;
    case 'cancel':
    case 'pause':
    case 'resume':
      return `${decision.kind}${reason}`;
  }
}

function adjusted({ windows, ...others }: LimitsChange): string {
  return [
    ...Object.entries(others).map(([name, value]) => `${name} to ${JSON.stringify(value)}`),
    ...(windows ? [`windows to ${windowsText(windows)}`] : []),
  ].join(', ');
}

function named(companies: Companies): string {
  if (companies === 'all') return 'all';
  const more = companies.length > NAMED_AT_MOST ? ` and ${companies.length - NAMED_AT_MOST} more` : '';
  return companies.slice(0, NAMED_AT_MOST).join(', ') + more;
}
