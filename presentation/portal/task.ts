/** The parts of the portal's view that say what the client has to do, by when and why, and what follows. */
import type { MigrationView } from '../../portal/contract/migration-view';
import { countOpen } from '../../domain/companies/counts';
import { isEnding, type Approval, type Ending } from '../../domain/migration/migration-state';
import { firstOpening } from '../../domain/progress/first-opening';
import { canBothResume } from '../../domain/progress/acting-roles';
import type { Progress } from '../../domain/progress/progress';
import { oneLine, sentence } from '../../domain/text/sentences';
import { deadlineOf, taskOf, type Task } from '../wording/client-page';
import {
  hasClientTask,
  lastDecisionText,
  laterText,
  meanwhileText,
  shouldSupplyApplication,
} from '../wording/client-task';
import { problemsInPortal } from '../wording/details';
import { othersFollow } from '../wording/move-status';

/** The facts about the chosen first company that the task shows in addition to the progress. */
export interface TaskFacts {
  /** The chosen first company, if it lacks the confirmation that syncing is off; otherwise null. */
  readonly unconfirmedFirst: string | null;
  /** The reference that was chosen to move first, if no company of the manifest has it; otherwise null. */
  readonly unknownFirst: string | null;
  /** The chosen first company, if it was left out and the migration is not paused; otherwise null or absent. */
  readonly leftOutFirst?: string | null;
}

interface CredentialFacts {
  /** True if only credentials that were obtained after the confirmation count. */
  readonly isRotating: boolean;
}

const MAX_TEXT_LENGTH = 1_000;

/** Returns the text as one line of limited length. */
export const text = (untrusted: string): string => oneLine(untrusted, MAX_TEXT_LENGTH);

/** Returns what the client has to do, or else what it can do meanwhile; null if there is nothing. */
export function taskView(progress: Progress, facts: TaskFacts & CredentialFacts, now: string): MigrationView['task'] {
  const { waitingSince, state } = progress;
  if (isEnding(state)) return taskAfterEnd(state);
  if (state === 'terminated') return TASK_AFTER_TERMINATION;
  if (!hasClientTask(progress)) {
    const meanwhile = meanwhileText(progress);
    if (meanwhile === null && canBothResume(progress))
      return {
        ...{ what: `${sentence(taskOf(progress, now).what)}.`, why: whyText(progress, facts) },
        ...{ since: null, by: null },
      };
    return meanwhile === null
      ? null
      : {
          what: text(meanwhile),
          why: shouldSupplyApplication(progress)
            ? 'Tokens work only with the application that obtained them.'
            : whyText({ ...progress, state: 'running' }, facts),
          ...{ since: null, by: null },
        };
  }
  const { what, problems } = taskForFirst(progress, facts) ?? taskOf(progress, now);
  const listed = problemsInPortal(problems, progress.migrationId).map(text);
  const deadline = deadlineOf(progress, now);
  return {
    ...{ what: text(`${sentence(what)}${listed.length > 0 ? ':' : '.'}`), why: whyText(progress, facts) },
    ...(listed.length > 0 && { problems: listed }),
    ...{ since: waitingSince, by: dueAt(progress, now) },
    ...(deadline && { ifLate: deadline.ifLate }),
  };
}

function taskForFirst({ step, firstCompany, requestedFirst }: Progress, facts: TaskFacts): Task | null {
  if (step !== 'migrate-first-company' || firstCompany !== null || !requestedFirst?.notReady) return null;
  const task = (what: string): Task => ({ what, problems: [] });
  const { reference } = requestedFirst;
  const impossible = impossibleFirst(facts);
  if (impossible !== null)
    return task(
      `ask support to choose another company to move first, because ${impossible.reference} ${impossible.why}`,
    );
  const orElse = 'Or ask support to choose another company';
  return task(
    facts.unconfirmedFirst === null
      ? `supply the credential of ${reference} or correct its row in the manifest, because this company moves first. The list of companies says what it needs. ${orElse}`
      : `turn off syncing for ${reference} in your own application, because this company moves first. Then confirm that its syncing is off, and supply its credential. ${orElse}`,
  );
}

function impossibleFirst({
  unknownFirst,
  leftOutFirst = null,
}: TaskFacts): { readonly reference: string; readonly why: string } | null {
  if (unknownFirst !== null) return { reference: unknownFirst, why: 'is not in the manifest' };
  return leftOutFirst === null ? null : { reference: leftOutFirst, why: 'was left out' };
}

/** Returns the headline if the chosen first company can never move; null otherwise. */
export function impossibleFirstText(facts: TaskFacts): string | null {
  const impossible = impossibleFirst(facts);
  if (impossible === null) return null;
  const { reference, why } = impossible;
  return `${reference} was chosen to move first, but ${why}. Please ask support to choose another company.`;
}

/** Says what follows step 5, by the result of `othersFollow`. */
const AFTER_FIRST_COMPANY = {
  true: 'Once support has approved the first company, the companies that have not moved yet follow.',
  false: 'Once support has approved the first company, you and support sign off the handover.',
  null: 'Once support has approved the first company, any companies that have not moved yet follow, and then you and support sign off the handover.',
};

const TASK_AFTER_TERMINATION: MigrationView['task'] = {
  what: 'Ask your contact what happens next. Until you have an answer, do not switch any syncing back on.',
  why: 'The migration was stopped, so no company moves. Syncing of the companies that were moved must stay off in your own application.',
  ...{ since: null, by: null },
};

function taskAfterEnd(state: Ending): MigrationView['task'] {
  return {
    what: 'Open the handover report, and do what it lists under "What you need to do".',
    why:
      state === 'completed'
        ? 'The report says which tokens to delete in your own application, which copies of credentials to delete, and what each company that was not moved needs.'
        : 'The report says for which companies you may switch syncing back on, which tokens to delete in your own application, and which copies of credentials to delete.',
    ...{ since: null, by: null },
  };
}

function whyText(progress: Progress, { isRotating }: CredentialFacts): string {
  const { route, step, state, counts, reopened } = progress;
  if (state === 'paused') return 'No move begins while the migration is paused.';
  if (reopened?.asksForChanges && reopened.reason !== null)
    return text(`${reopened.by} (${reopened.role}) has asked for a change: ${reopened.reason}`);
  switch (step) {
    case 'supply-details':
      return route === 'self-service'
        ? 'The companies move once another check of the details has found no errors.'
        : 'Support can accept the details only once every problem is solved.';
    case 'schedule':
      return 'Nothing moves before you and support have agreed on a start.';
    case 'update-application':
      return 'End customers can reconnect later only if your application has this callback URL.';
    case 'disable-syncing':
      return isRotating
        ? 'If your own application keeps syncing a company, its credential can stop working before the company is moved.'
        : 'Once a company has been moved, only we may use its credential.';
    case 'migrate-first-company':
    case 'complete-migration':
      if (countOpen(counts) > 0) return 'Some companies cannot move before you have done this.';
      return route === 'self-service'
        ? lastDecisionText(progress)
        : 'The migration ends when both sides have signed off. The stored credentials are then destroyed.';
  }
}

/** Returns the time by which the client has to act so that moves begin as planned; null if there is none. */
function dueAt(progress: Progress, now: string): string | null {
  const { step, proposal, firstCompany } = progress;
  if (proposal === null || firstCompany !== null || step === 'complete-migration') return null;
  return firstOpening(progress, now)?.closesAt ?? (proposal.startAt > now ? proposal.startAt : null);
}

const isOfClient = ({ role }: Approval): boolean => role === 'client';

/** Returns what follows the current step. */
export function nextText(progress: Progress): string {
  const { route, step, steps, counts } = progress;
  const later = hasClientTask(progress) ? null : laterText(progress);
  if (route === 'self-service')
    return step === 'supply-details'
      ? (progress.preflight?.problems.length ?? 0) > 0
        ? 'Once another check of the details has found no errors, the companies move.'
        : 'Once a check of the details has found no errors, the companies move.'
      : 'Once every company has moved or been left out, the migration ends and the stored credentials are destroyed.';
  switch (step) {
    case 'supply-details':
      return 'Once support has accepted the details, you and support agree on a start.';
    case 'schedule':
      return steps.some((each) => each.step === 'update-application' && each.approvals.some(isOfClient))
        ? 'Once you and support have agreed on a start, and the callback URL is confirmed, you turn off syncing in your own application and supply any missing credentials.'
        : 'Once you and support have agreed on a start, you add the callback URL to your application at the platform.';
    case 'update-application':
      return 'Once the callback URL is confirmed, you turn off syncing in your own application and supply any missing credentials.';
    case 'disable-syncing':
      return 'Once syncing is off and you have supplied the credentials, one company moves first.';
    case 'migrate-first-company':
      return AFTER_FIRST_COMPANY[`${othersFollow(progress)}`];
    case 'complete-migration':
      if (later !== null) return later;
      return countOpen(counts) > 0
        ? 'Once the outcome of every company is final, you and support sign off the handover.'
        : 'Once both sides have signed off, the migration ends. The handover report lists every company.';
  }
}
