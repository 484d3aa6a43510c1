/**
 * Derives from the decisions which companies could be moved at each time: none, the first company, or all.
 *
 * Support accepts the details, both sides approve the same start, the client confirms its application and support
 * verifies it: then the first company is released. Once support has approved the first company, all companies are
 * released. A rejection of a step before the last one withdraws the approvals of this step and of later steps; a new
 * start time withdraws those of `schedule` and of later steps; choosing another first company withdraws those of
 * `migrate-first-company`. The approvals of `update-application` are an exception: only a rejection of that step
 * withdraws them, because they say what was done at the platform, and a later change does not undo that. If details
 * change after they were accepted, some approvals are needed again. The checker does not consider this.
 */
import type { LedgerMigration, TrailEntry } from './ledger';

const STEPS = [
  'supply-details',
  'schedule',
  'update-application',
  'disable-syncing',
  'migrate-first-company',
  'complete-migration',
];

/** The approvals that release the first company, as `<step> <role>`. */
const FOR_FIRST = [
  'supply-details support',
  'schedule support',
  'schedule client',
  'update-application client',
  'update-application support',
];
/** Decisions after which another company can go first. A migration that resumes chooses again. */
const CHANGES_THE_CHOICE = [
  'first-company',
  'exclude',
  'skip',
  'retry',
  'replace-credential',
  'manifest-supplied',
  'manifest-amended',
  'resume',
];
const FOR_ALL = 'migrate-first-company support';

/** A value that holds from a time (in milliseconds) until the next value of the timeline. */
export interface Since<T> {
  readonly at: number;
  readonly value: T;
}

export interface Releases {
  readonly timeline: readonly Since<string>[];
  /** An upper bound for the number of first companies. Every decision that can change the choice adds one. */
  readonly firstCompanies: number;
}

/** @param decisions the applied decisions of the migration, in order */
export function releasesOf({ route }: LedgerMigration, decisions: readonly TrailEntry[]): Releases {
  const isManaged = route === 'managed';
  const timeline: Since<string>[] = [{ at: -Infinity, value: isManaged ? 'nothing' : 'all' }];
  let approvals: readonly string[] = [];
  let firstCompanies = 1;
  for (const { at, role, content } of decisions) {
    const { kind, step = '', verdict } = content;
    if (kind === 'step' && verdict === 'approve') approvals = [...approvals, `${step} ${role}`];
    if (kind === 'step' && verdict === 'reject') approvals = withoutFrom(approvals, step);
    if (kind === 'time') approvals = withoutFrom(approvals, 'schedule');
    if (kind === 'first-company') approvals = withoutFrom(approvals, 'migrate-first-company');
    if (isNewChoice(kind, step, verdict)) firstCompanies += 1;
    if (isManaged) timeline.push({ at: at.getTime(), value: releasedBy(approvals) });
    if (kind === 'cancel') {
      timeline.push({ at: at.getTime(), value: 'nothing' });
      break;
    }
  }
  return { timeline, firstCompanies };
}

function isNewChoice(kind: string, step: string, verdict: string | undefined): boolean {
  if (kind === 'step') return verdict === 'reject' && step === 'migrate-first-company';
  return CHANGES_THE_CHOICE.includes(kind);
}

function withoutFrom(approvals: readonly string[], reopened: string): readonly string[] {
  if (reopened === 'complete-migration') return approvals;
  return approvals.filter((approval) => {
    const step = approval.split(' ', 1)[0] ?? '';
    if (step === 'update-application' && reopened !== step) return true;
    return STEPS.indexOf(step) < STEPS.indexOf(reopened);
  });
}

function releasedBy(approvals: readonly string[]): string {
  if (!FOR_FIRST.every((approval) => approvals.includes(approval))) return 'nothing';
  return approvals.includes(FOR_ALL) ? 'all' : 'first-company';
}
