/** Describes decisions in words, for the handover report and the event list in Temporal. */
import { approverFingerprint } from '../../domain/migration/approvers';
import type { Decision, NextAfterRejection, StepDecision } from '../../domain/migration/decision';
import { stepText } from '../../domain/migration/steps';
import { intervalsText } from '../../domain/planning/limit-texts';
import { LIMIT_NAMES, percent, type LimitsChange, type MigrationLimits } from '../../domain/planning/limits';
import { counted, duration, momentText } from '../../domain/text/sentences';
import { windowsText } from './windows';

/** Maximum number of references in the text of a decision. The audit trail contains all of them. */
const MAX_REFERENCES = 20;

/**
 * Describes a decision, with its reason.
 *
 * @param timeText formats a time; by default with its time zone
 */
export function decisionText(decision: Decision, timeText: (iso: string) => string = momentText): string {
  const reason = decision.reason === undefined ? '' : ` (${decision.reason})`;
  return actionText(decision, timeText) + reason;
}

/**
 * Describes a decision, without its reason.
 *
 * @param timeText formats a time; by default with its time zone
 */
export function actionText(decision: Decision, timeText: (iso: string) => string = momentText): string {
  switch (decision.kind) {
    case 'step':
      return stepDecisionText(decision);
    case 'time':
      return `propose to start at ${timeText(decision.startAt)}`;
    case 'first-company':
      return `choose ${decision.reference} as the first company`;
    case 'sync-disabled':
      return `confirm that syncing is off for ${decision.companies === 'all' ? 'all companies' : counted(decision.companies.length, 'company')}`;
    case 'credentials-supplied':
      return `supply ${counted(decision.companies, 'credential')}`;
    case 'application-supplied':
      return `supply application ${decision.clientId} (${decision.environment})`;
    case 'manifest-supplied':
      return `supply a manifest of ${counted(decision.companies, 'company')}`;
    case 'manifest-amended':
      return `amend the manifest: ${counted(decision.added, 'company')} added, ${decision.corrected} corrected`;
    case 'exclude':
    case 'skip':
      return `${decision.kind} ${namedText(decision.companies)}`;
    case 'retry':
      return `retry ${decision.companies === 'all' ? 'all companies that can be retried' : namedText(decision.companies)}`;
    case 'relink':
      return decision.companies === 'all'
        ? 'check every company that has a link to reconnect, once its end customer has reconnected it'
        : `check ${namedText(decision.companies)} again, once reconnected`;
    case 'replace-credential':
      return `replace the credential of ${namedText(decision.companies)}`;
    case 'add-approver':
    case 'remove-approver': {
      const { role, by } = decision.approver;
      const verb = decision.kind === 'add-approver' ? 'add' : 'remove';
      return `${verb} ${by} (${role}) as an approver, key ${approverFingerprint(decision.approver)}`;
    }
    case 'adjust':
      return `adjust the limits: ${limitsText(decision.limits)}`;
    case 'cancel':
    case 'pause':
    case 'resume':
      return decision.kind;
  }
}

function nextText(afterwards: NextAfterRejection): string {
  switch (afterwards.next) {
    case 'same-company':
      return afterwards.reference === undefined
        ? ' and try the same company again'
        : `, ${afterwards.reference}, and try it again`;
    case 'another-company':
      return ` and try ${afterwards.reference} next`;
    case 'abandon':
      return ' and abandon the migration';
  }
}

function stepDecisionText({ step, verdict, afterwards }: StepDecision): string {
  switch (step) {
    case 'complete-migration':
      return `${verdict === 'approve' ? 'sign off' : verdict} the handover`;
    case 'migrate-first-company':
      return `${verdict} the first company${afterwards ? nextText(afterwards) : ''}`;
    case 'supply-details':
    case 'schedule':
    case 'update-application':
    case 'disable-syncing':
      return `${verdict} ${stepText(step)}`;
  }
}

const LIMIT_TEXTS: { readonly [Name in keyof MigrationLimits]: (value: MigrationLimits[Name]) => string } = {
  slicesAtOnce: (slices) => `${counted(slices, 'slice')} at once`,
  companiesPerSliceAtOnce: (companies) => `${counted(companies, 'company')} at once in each slice`,
  companiesPerMinute: (companies) =>
    companies === null ? 'no limit on the rate' : `at most ${counted(companies, 'company')} per minute`,
  syncTimeoutMs: (ms) => `${duration(ms)} for each company to sync`,
  rampCompanies: (companies) => (companies === 0 ? 'no ramp' : `a ramp of ${counted(companies, 'company')}`),
  toleratedFailures: (failures) =>
    failures === null
      ? 'no limit on the number of companies that could not be moved'
      : `pause when more than ${counted(failures, 'company')} could not be moved`,
  toleratedShare: (share) =>
    share === null
      ? 'no limit on the share of companies that could not be moved'
      : `pause when more than ${percent(share)} of the companies tried could not be moved`,
  windows: (windows) =>
    windows.length === 0 ? 'no windows (moves can begin at any time)' : `moves begin ${windowsText(windows)}`,
  remindBeforeStale: (intervals) => `${LIMIT_NAMES.remindBeforeStale} ${intervalsText(intervals)}`,
  remindWhileStale: (intervals) => `${LIMIT_NAMES.remindWhileStale} ${intervalsText(intervals)}`,
};

export function limitsText(limits: LimitsChange): string {
  const names = Object.keys(LIMIT_TEXTS) as (keyof MigrationLimits)[];
  return names.flatMap((name) => limitText(name, limits[name])).join(', ');
}

function limitText<Name extends keyof MigrationLimits>(
  name: Name,
  value: MigrationLimits[Name] | undefined,
): readonly string[] {
  return value === undefined ? [] : [LIMIT_TEXTS[name](value)];
}

function namedText(companies: readonly string[]): string {
  const more = companies.length > MAX_REFERENCES ? ` and ${companies.length - MAX_REFERENCES} more` : '';
  return companies.slice(0, MAX_REFERENCES).join(', ') + more;
}
