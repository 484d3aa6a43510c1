/** Decisions about steps, and about the migration as a whole. */
import { countOpen } from '../../domain/companies/counts';
import { stepNumber, type Step } from '../../domain/migration/steps';
import { farStartText } from '../../domain/progress/first-opening';
import { continuationOf, continuationText } from '../../domain/progress/continuation';
import { forecastOf } from '../../domain/progress/forecast';
import { excludedClients, needsOthersToPropose } from '../../domain/progress/four-eyes';
import { liftedPauses } from '../../domain/decisions/pauses';
import { digestOfPauses, pauserText } from '../../domain/migration/pauses';
import { replacedText } from '../../domain/preflight/applications';
import {
  FAILURES_ACCEPTED,
  hasFailuresToAccept,
  pausesIn,
  reopenedText,
  type Progress,
} from '../../domain/progress/progress';
import { signedBeforeText } from '../../domain/progress/sign-off-changes';
import { counted, momentText, oneLine, outOf, sentence, spanText } from '../../domain/text/sentences';
import { openingText, platformOf, reconnectionsText } from '../wording/client-page';
import { hasClientTask } from '../wording/client-task';
import { ASK_FOR_ANOTHER } from '../wording/other-approver';
import { windowsText } from '../wording/windows';
import type { ActionFacts, Candidate } from './candidate';
import { pauseFact } from './pause-fact';

/** The parts of a candidate that differ between the steps. */
type StepCandidate = Pick<Candidate, 'applies' | 'title' | 'facts' | 'warnings' | 'consequence' | 'isIrreversible'>;

export function approvals(progress: Progress, facts: ActionFacts, now: string): readonly Candidate[] {
  const { step, steps, state, digests, preflight, counts, proposal: proposed } = progress;
  const isInFuture = proposed !== null && proposed.startAt > now;
  const callbackUrl = preflight?.callbackUrl ?? null;
  const hasSupportApproved = (asked: Step): boolean =>
    steps.some((each) => each.step === asked && each.approvals.some(({ role }) => role === 'support'));
  const approve = (asked: Step, about: StepCandidate): Candidate => ({
    message: 'approve',
    step: asked,
    digest: digests[asked],
    draft: { kind: 'step', step: asked, verdict: 'approve' },
    ...about,
    ...excludedFrom(progress, asked),
    isExpected: step === asked && state !== 'paused' && hasClientTask(progress),
    reason: 'optional',
  });
  return [
    approve('schedule', {
      applies: step === 'schedule',
      title: 'Approve the start',
      facts: [...startFacts(progress, now), startedText(progress)],
      ...warningsOf(reopenedWarnings(progress, 'schedule')),
      consequence: `${hasSupportApproved('schedule') ? 'Support has already approved the start, so the companies' : 'Once support has approved the start too, the companies'} begin to move ${isInFuture ? 'at the start time above' : 'as soon as everything is ready'}. They wait if no window is open then, or if step 3 or 4 has not ended. You can withdraw the start until the first company begins to move. A company that has moved stays moved.`,
    }),
    approve('update-application', {
      applies: callbackUrl !== null,
      title: 'Confirm the callback URL',
      facts: [`Callback URL: ${callbackUrl ?? ''}`],
      ...warningsOf(reopenedWarnings(progress, 'update-application')),
      consequence: `You confirm that your application at ${platformOf(progress)} has this callback URL, in addition to its other callback URLs.`,
    }),
    approve('complete-migration', {
      applies: countOpen(counts) === 0,
      title: 'Sign off the handover',
      facts: resultFacts(progress),
      ...warningsOf([...reopenedWarnings(progress, 'complete-migration'), ...handoverWarnings(facts)]),
      consequence: `You accept what was moved, and what was not. ${hasSupportApproved('complete-migration') ? 'Support has signed off already, so the migration then ends and the stored credentials are destroyed.' : 'Once support has signed off too, the migration ends and the stored credentials are destroyed. Until then, you can still reject the handover.'}`,
      isIrreversible: hasSupportApproved('complete-migration'),
    }),
  ];
}

function excludedFrom(progress: Progress, step: Step): Pick<Candidate, 'excludedPeople'> {
  const excluded = excludedClients(progress, step);
  return excluded.length === 0 ? {} : { excludedPeople: [...excluded] };
}

function startFacts(progress: Progress, now: string): string[] {
  const { proposal: proposed, windows, throughput } = progress;
  if (proposed === null) return [];
  const { startAt, by, role } = proposed;
  const when = startAt > now ? momentText(startAt) : 'as soon as everything is ready';
  const opening = openingText(progress, now);
  const farAway = farStartText(progress, now);
  const forecast = forecastOf(progress, throughput, now);
  const ends = forecast?.ends;
  const continues = forecast ? continuationText(continuationOf(progress, forecast, now), momentText) : '';
  return [
    `Start: ${when}, proposed by ${oneLine(by, 200)} (${role})`,
    `Moves can begin ${windows.length === 0 ? 'at any time after the start' : `only ${windowsText(windows)}`}`,
    ...(farAway === null ? [] : [`Warning: ${farAway}`]),
    ...(opening === null ? [] : [`${opening.why}: ${opening.text}`]),
    ...(ends ? [`Expected end: ${spanText(momentText(ends.earliest), momentText(ends.latest))}${continues}`] : []),
  ];
}

function startedText({ counts }: Progress): string {
  const companies = counts.waiting - counts.heldBack;
  const order =
    companies <= 1 ? '' : '. One company moves first, and the others follow once support has approved its move';
  return `Starts the move of ${counted(companies, 'company')}${order}`;
}

function resultFacts({ counts, reconnections }: Progress): string[] {
  const { moved, total, failed, mustReconnect, skipped, excluded } = counts;
  const checkedAt = reconnections?.checkedAt ?? null;
  const listed: readonly (readonly [number, string])[] = [
    [mustReconnect, `must reconnect. ${reconnectionsText(checkedAt === null ? null : momentText(checkedAt))}`],
    [failed - mustReconnect, failed - mustReconnect === 1 ? 'was not moved' : 'were not moved'],
    [skipped + excluded, skipped + excluded === 1 ? 'was left out' : 'were left out'],
  ];
  return [
    `${outOf(moved, total, 'company')} moved`,
    ...listed.flatMap(([count, what]) => (count === 0 ? [] : [`${counted(count, 'company')} ${what}`])),
  ];
}

/**
 * Names the companies whose outcome has changed since support signed off, and those whose tokens the service can no
 * longer refresh, because their application was replaced.
 */
function handoverWarnings({ applications, changedSinceSignOff }: ActionFacts): readonly string[] {
  const bySupport = changedSinceSignOff.filter(({ role }) => role === 'support');
  const replaced =
    applications === null ? [] : applications.replaced.map((each) => replacedText(each, applications, 'client'));
  return [...bySupport.map((change) => `${sentence(signedBeforeText(change))}.`), ...replaced];
}

/** Says who has reopened the step or rejected its result, which the client should know before approving it. */
function reopenedWarnings(progress: Progress, step: Step): readonly string[] {
  const text = progress.reopened?.step === step ? reopenedText(progress) : null;
  return text === null ? [] : [oneLine(text, 1_000)];
}

function warningsOf(warnings: readonly string[]): Pick<Candidate, 'warnings'> {
  return warnings.length === 0 ? {} : { warnings: [...warnings] };
}

export function proposal(progress: Progress, now: string): Candidate {
  const { step, state, proposal: proposed } = progress;
  const isReopening = stepNumber(step) > stepNumber('schedule');
  return {
    message: 'proposeTime',
    draft: { kind: 'time', startAt: now },
    applies: stepNumber(step) >= stepNumber('schedule'),
    title: proposed === null ? 'Propose a start' : 'Propose another start',
    facts: startFacts(progress, now),
    ...warningsOf(needsOthersToPropose(progress) ? [NO_OTHER_APPROVER] : []),
    consequence: isReopening
      ? `Step 2 opens again. ${progress.fourEyes ? `${OTHERS_APPROVE} You and support` : 'You and support then approve the new start, and'} repeat the later steps where necessary.`
      : `${progress.fourEyes ? OTHERS_APPROVE : 'You and support then approve this start.'}${proposed === null ? '' : ' Approvals of the earlier proposal no longer count.'}`,
    isExpected: step === 'schedule' && proposed === null && state !== 'paused',
    reason: 'optional',
  };
}

const OTHERS_APPROVE =
  'Under the four-eyes rule, you cannot approve a start that you have proposed: another person of yours and support approve it.';
const NO_OTHER_APPROVER = `nobody else can approve a start for you yet, so ${ASK_FOR_ANOTHER}, or to propose a start`;

export function rejections(progress: Progress, facts: ActionFacts, now: string): readonly Candidate[] {
  const { step, steps, proposal: proposed, counts, digests, preflight } = progress;
  const isAt = (asked: Step): boolean => step === asked;
  const hasReached = (asked: Step): boolean => stepNumber(step) >= stepNumber(asked);
  const approvalsOf = (asked: Step) => steps.find((each) => each.step === asked)?.approvals ?? [];
  const reject = (asked: Step, about: StepCandidate): Candidate => ({
    message: 'reject',
    step: asked,
    digest: digests[asked],
    draft: { kind: 'step', step: asked, verdict: 'reject' },
    ...about,
    reason: 'required',
  });
  return [
    reject('complete-migration', {
      applies: isAt('complete-migration') && countOpen(counts) === 0,
      title: 'Reject the handover',
      facts: resultFacts(progress),
      ...warningsOf(handoverWarnings(facts)),
      consequence:
        'Sign-offs that you or support have already given no longer count. Support reads your reason and decides what to do next.',
    }),
    reject('schedule', {
      applies: proposed !== null,
      title: isAt('schedule') ? 'Reject the proposed start' : 'Withdraw the agreed start',
      facts: startFacts(progress, now),
      consequence:
        'The migration then has no start. Step 2 is open until you and support have agreed on another start.',
    }),
    reject('supply-details', {
      applies: preflight !== null,
      title: isAt('supply-details') ? 'Have the details checked again' : 'Change the supplied details',
      facts: [],
      consequence: isAt('supply-details')
        ? 'The details are checked again, which takes from a few seconds to a few minutes.'
        : 'Step 1 opens again, so that you can change the details. They are checked again, and the later steps are repeated where necessary.',
    }),
    reject('update-application', {
      applies: hasReached('update-application') && approvalsOf('update-application').length > 0,
      title: 'Withdraw the confirmation of the callback URL',
      facts: [`Callback URL: ${preflight?.callbackUrl ?? 'not known'}`],
      consequence:
        'Confirmations that were already given no longer count. Step 3 is open until you and support have both confirmed the callback URL.',
    }),
    reject('disable-syncing', {
      applies: hasReached('disable-syncing') && counts.unconfirmed < counts.waiting - counts.heldBack,
      title: 'Withdraw the confirmation that syncing is off',
      facts: [`${counted(counts.waiting - counts.heldBack - counts.unconfirmed, 'company')} confirmed`],
      consequence: `All confirmations that syncing is off are withdrawn. No company moves before you have confirmed again that its syncing is off.${facts.isRotating ? ' Credentials that were obtained before the new confirmation no longer count.' : ''}`,
    }),
  ];
}

export function controls(progress: Progress): readonly Candidate[] {
  const { counts, route } = progress;
  const who = route === 'managed' ? 'You or support' : 'You';
  return [
    resumption(progress),
    {
      message: 'pause',
      draft: { kind: 'pause' },
      applies: !pausesIn(progress).some(({ role }) => role === 'client'),
      title: 'Pause the migration',
      facts: pausesIn(progress).map((pause) => `Already paused ${pauseFact(progress, pause)}`),
      consequence: `No company begins to move while the migration is paused. This pause does not stop moves that have begun. ${who} can lift this pause.`,
      reason: 'required',
    },
    {
      message: 'adjust',
      draft: { kind: 'adjust', limits: {} },
      // In the managed route, only support changes the limits.
      applies: route === 'self-service' && countOpen(counts) > 0,
      title: 'Change when and how fast companies move',
      facts: limitFacts(progress),
      // The page changes only the first two; `ferry --portal` also changes the other limits, such as the sync timeout.
      consequence:
        'New windows and a new number of companies per minute apply to companies that have not begun to move. Other limits apply at once, also to companies that are moving.',
      reason: 'optional',
    },
    {
      message: 'cancel',
      draft: { kind: 'cancel' },
      applies: true,
      title: 'Cancel the migration',
      facts:
        counts.moved + counts.importing + counts.syncing + counts.outcomeUnknown === 0
          ? []
          : [`${outOf(counts.moved, counts.total, 'company')} moved so far. A company that has moved stays moved`],
      consequence:
        'The migration ends and cannot be resumed. No more moves begin. Companies whose credentials have already been handed over are still checked to the end; the others are not moved. All supplied credentials are destroyed.',
      isIrreversible: true,
      reason: 'required',
    },
  ];
}

function limitFacts({ windows, companiesPerMinute }: Progress): string[] {
  const hours = windows.length === 0 ? 'at any time' : windowsText(windows);
  const pace =
    companiesPerMinute == null
      ? 'with no limit on companies per minute'
      : `at most ${counted(companiesPerMinute, 'company')} a minute`;
  return [`Now: ${hours}, ${pace}`];
}

function resumption(progress: Progress): Candidate {
  const { route, state, pause, windows } = progress;
  const pauses = pausesIn(progress);
  const isLifted = liftedPauses({ route }, 'client', pauses).length === pauses.length;
  // Anyone at the client can lift the client's pause. Lifting support's pause overrides a decision of the other side.
  const ofSupport = pauses.filter(({ stopReason, role }) => stopReason === null && role === 'support').map(pauserText);
  const overrides = ofSupport.length === 0 ? null : `This lifts the pause of ${ofSupport.join(' and ')}`;
  return {
    message: 'resume',
    digest: digestOfPauses(pauses),
    draft: { kind: 'resume' },
    applies: pauses.length > 0,
    title: isLifted ? 'Resume the migration' : 'Lift the pause',
    facts: pauses.map((each) => `Paused ${pauseFact(progress, each)}`),
    ...(overrides === null ? {} : { overrides }),
    consequence: [
      ...(overrides === null ? [] : [`${overrides}.`]),
      isLifted
        ? `The migration continues where it stopped. If moves had begun, the next companies move once they have everything they need${windows.length === 0 ? '' : ' and a window is open'}.`
        : 'The migration stays paused, because it has also paused itself. Only support can resume it, once the problem is solved.',
      ...(isLifted && hasFailuresToAccept(progress) ? [`${sentence(FAILURES_ACCEPTED)}.`] : []),
    ].join(' '),
    isExpected: state === 'paused' && (pause?.stopReason === null || hasClientTask(progress)),
    reason: 'optional',
  };
}
