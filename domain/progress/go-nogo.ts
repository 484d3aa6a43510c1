/** Go or no-go: the checks before moves begin in an unattended window. */
import { CLIENT_STATES } from '../companies/company-state';
import { isOfApplication } from '../companies/finding';
import { clientCounts, countOpen } from '../companies/counts';
import { endWithin, isAlwaysOpen, windowOccurrences, type WindowOccurrence } from '../planning/windows';
import { applicationName, isSameApplication, remedyForReplaced, replacedText } from '../preflight/applications';
import { isApplicationNeeded, preflight, type PreflightFacts, type ServiceFacts } from '../preflight/preflight';
import type { PreflightFinding } from '../preflight/findings';
import { isHandoverRejected } from '../decisions/withdrawals';
import { isMoveStep, STEP_RULES, stepNumber } from '../migration/steps';
import { momentText, outOf, numberText } from '../text/sentences';
import { actingText } from './acting-roles';
import { withLiveCounts, workOfOpen } from './forecast';
import { anotherApproverText } from './four-eyes';
import { companyAnswers } from './go-nogo-companies';
import { failureAnswers } from './go-nogo-failures';
import type { Answer, GoNoGo, GoNoGoFacts } from './go-nogo-facts';
import { notes, pauseConditions } from './go-nogo-notes';
import { ledgerBehindTask, NONE_BEFORE_RECONCILED } from './ledger-behind';
import { meanwhileTask, mustText, shouldCorrectApplication } from './meanwhile';
import { canBeginMoves, isOpenWithoutEnd, openWindowOf } from './open-window';
import { headline, pausedTexts, reopenedText, type Progress } from './progress';
import { signedBeforeText } from './sign-off-changes';
import { currentTask } from './waiting-for';
import { CANNOT_CONTINUE, CHECK_WORKERS, RESTART_WORKER } from './worker-advice';

export function goNoGo(facts: GoNoGoFacts): GoNoGo {
  const { progress, contact } = facts;
  const ofServers = [...accountAnswers(facts), workerAnswer(facts)];
  // Decisions, windows, companies and failures say nothing while the ledger can be wrong and refuses every claim.
  if (facts.isLedgerBehind) {
    const behind: Answer = { check: 'companies', go: false, why: ledgerBehindTask(facts.migrationId) };
    return { go: false, window: null, answers: [behind, ...ofServers], pauseNotes: [], notes: [BEHIND], contact };
  }
  const isDone = progress !== null && isEverythingMoved(progress);
  const window = isDone ? null : nextWindow(facts);
  const answers = [
    decisionAnswer(facts),
    ...(isDone
      ? [outcomeAnswer(progress, facts)]
      : [...windowAnswers(facts), ...companyAnswers(facts), ...failureAnswers(facts)]),
    ...ofServers,
  ];
  return {
    go: answers.every(({ go }) => go),
    window,
    answers,
    // While no company is open, windows do not matter, and the migration cannot pause itself.
    pauseNotes: isDone ? [] : pauseConditions(facts),
    notes: isDone ? [NOTHING_LEFT] : notes(facts, window),
    contact,
  };
}

const BEHIND = `${NONE_BEFORE_RECONCILED}, so windows and automatic pauses do not matter`;

/** Failed companies can still be retried, so the note is about the present only. */
const NOTHING_LEFT = 'no company is waiting or moving now, so windows and automatic pauses do not matter';

/** Returns whether, in step 6, every company has a final outcome, so that only people's decisions are left. */
function isEverythingMoved(progress: Progress): boolean {
  return progress.step === 'complete-migration' && isNoneOpen(progress);
}

function isNoneOpen({ counts }: Progress): boolean {
  return counts.total > 0 && countOpen(counts) === 0;
}

function outcomeAnswer({ counts }: Progress, { changedSinceSignOff }: GoNoGoFacts): Answer {
  const byState = clientCounts(counts);
  const others = (['must-reconnect', 'not-moved', 'left-out'] as const)
    .filter((state) => byState[state] > 0)
    .map((state) => `, ${numberText(byState[state])} ${CLIENT_STATES[state]}`);
  const why = `every company has a final outcome: ${outOf(counts.moved, counts.total, 'company')} moved${others.join('')}`;
  const changes = changedSinceSignOff.map((change) => `; ${signedBeforeText(change)}`);
  const warns = counts.failed > 0 || changes.length > 0;
  return { check: 'companies', go: true, ...(warns ? { warning: true } : {}), why: why + changes.join('') };
}

function nextWindow({ now, limits, progress }: GoNoGoFacts): WindowOccurrence | null {
  if (isAlwaysOpen(limits.windows)) return null;
  const startAt = progress?.proposal?.startAt;
  return windowOccurrences(limits.windows, startAt !== undefined && startAt > now ? startAt : now)[0] ?? null;
}

/** Checks that the migration has reached step 5 or 6, is not paused, and needs no decision. */
function decisionAnswer({ progress, now }: GoNoGoFacts): Answer {
  const check = 'decisions';
  if (!progress) return { check, go: false, why: 'unknown: the progress of this migration cannot be read' };
  const { route, step, state, waitingFor } = progress;
  const where =
    route === 'self-service' ? headline(progress) : `step ${stepNumber(step)}, ${STEP_RULES[step].title.toLowerCase()}`;
  if (state === 'running' && isMoveStep(step)) {
    const meanwhile = meanwhileTask(progress);
    if (meanwhile === null) return { check, go: true, why: `no decision is needed (${where})` };
    const why = `no decision is needed for the companies that can be moved; meanwhile, ${mustText(meanwhile)} (${where})`;
    return { check, go: true, warning: true, why };
  }
  const what = currentTask(progress, now);
  // The task ends with a command, so nothing may follow it.
  if (progress.endedInTemporal)
    return { check, go: false, why: `${headline(progress)}; waiting for ${actingText(progress)}: ${what}` };
  if (state === 'waiting' && canBeginMoves(progress)) {
    const rejected = reopenedText(progress);
    const why = `${rejected === null ? '' : `${rejected}; `}deferred companies will be tried again; meanwhile, ${mustText(waitingFor)} (${where})`;
    return { check, go: true, warning: true, why };
  }
  if (isReadyForSignOff(progress))
    return {
      check,
      go: true,
      why: `waiting for ${actingText(progress)}: ${what} (${where})${anotherApproverText(progress)}`,
    };
  if (waitingFor.roles.length === 0) return { check, go: false, why: `${what} (${where})` };
  const paused = pausedTexts(progress).map((text) => `paused ${text}; `);
  const reopened = reopenedText(progress);
  return {
    check,
    go: false,
    why: `${paused.join('')}${reopened === null ? '' : `${reopened}; `}waiting for ${actingText(progress)}: ${what} (${where})${anotherApproverText(progress)}`,
  };
}

/** Returns whether only the sign-off is missing, and no rejection of the handover has to be resolved first. */
function isReadyForSignOff(progress: Progress): boolean {
  const { route, state } = progress;
  return route === 'managed' && state === 'waiting' && isEverythingMoved(progress) && !isHandoverRejected(progress);
}

/** Says that the windows are paused. This is only a warning while a window is open, because moves continue in it. */
function windowAnswers({
  windowsPaused,
  isBatchRunning,
  migrationId,
  progress,
  limits,
  now,
}: GoNoGoFacts): readonly Answer[] {
  if (windowsPaused === null) return [];
  if (progress && isOpenWithoutEnd(progress, limits.windows, isBatchRunning)) {
    const moves = `no further window opens (${windowsPaused}), but moves continue, because the open window covers the whole week`;
    return [
      { check: 'window', go: true, warning: true, why: `${moves}; to stop moves now: ferry pause ${migrationId}` },
    ];
  }
  const open = progress && openWindowOf(progress, limits.windows, isBatchRunning, now);
  const why = `no window opens (${windowsPaused}); resume the windows with: ferry schedule resume ${migrationId}`;
  if (open === null) return [{ check: 'window', go: false, why }];
  const until = `moves continue until the open window closes at ${momentText(open.closesAt)}`;
  return [{ check: 'window', go: true, warning: true, why: `${until}; after that, ${why}` }];
}

/** Repeats the preflight's checks of the account and the application. */
function accountAnswers(facts: GoNoGoFacts): readonly Answer[] {
  const { route, platform, service, toCreate, applications, dependents, progress } = facts;
  if ('unreachable' in service) return [{ check: 'service', go: false, why: service.unreachable }];
  // The account has to be valid until the last company has moved. Once none is open, its expiry no longer matters.
  const findings = preflight({
    route,
    platform,
    isStarted: true,
    toCreate,
    service,
    applications,
    dependents,
    ...endOfMoves(facts),
    isEstimateUnread: progress === null,
  }).filter(({ code }) => code !== 'account-expires' || progress === null || !isNoneOpen(progress));
  if ('refused' in service) return [{ check: 'service', go: false, why: service.refused }];
  const { account, application } = service;
  const ofApplication = ({ code }: PreflightFinding): boolean => isOfApplication(code);
  return [
    { check: 'service', go: true, why: 'the service is answering' },
    answerFrom(
      'account',
      findings.filter((finding) => !ofApplication(finding)),
      `plan ${account.plan}, ${account.expiresAt === null ? 'does not expire' : `expires at ${momentText(account.expiresAt)}`}`,
    ),
    applicationAnswer(
      facts,
      application,
      suppliedAnswer(
        facts,
        application,
        acceptedAnswer(
          facts,
          answerFrom('application', findings.filter(ofApplication), applicationText(facts, application)),
        ),
        findings.some(({ code }) => code === 'application-in-use'),
      ),
    ),
  ];
}

/**
 * Adds a warning if the registered application was not supplied for this migration. In the self-service route, support
 * registers the application, so no warning is needed.
 *
 * @param isInUse true if companies of another client depend on the registered application. The answer then already says
 *   that no application was supplied
 */
function suppliedAnswer(
  { route, applications }: GoNoGoFacts,
  registered: ServiceFacts['application'],
  answer: Answer,
  isInUse: boolean,
): Answer {
  if (!answer.go || !registered || route === 'self-service' || applications.supplied !== null) return answer;
  // If it is in use, the answer already says that no application was supplied, but does not name the registered one.
  const why = isInUse
    ? `the registered application is ${applicationName(registered)}; ${answer.why}`
    : `${answer.why}; this application was not supplied for this migration, so check that it obtained the client's tokens`;
  return { ...answer, warning: true, why };
}

/** Answers no-go while the migration is paused because the platform rejects the application. */
function acceptedAnswer({ platform, progress }: GoNoGoFacts, answer: Answer): Answer {
  return answer.go && progress !== null && shouldCorrectApplication(progress)
    ? { check: answer.check, go: false, why: `${platform.name} rejects the registered application: ${answer.why}` }
    : answer;
}

function applicationAnswer({ moved }: GoNoGoFacts, registered: ServiceFacts['application'], answer: Answer): Answer {
  const replaced = registered ? moved.filter(({ application }) => !isSameApplication(application, registered)) : [];
  if (!registered || replaced.length === 0) return answer;
  const lost = replaced.map((each) => replacedText(each, { moved, registered }));
  const { check, go } = answer;
  const why = [...(go ? [] : [answer.why]), ...lost].join('; ');
  // If the registered application is to be kept, nothing has to be done before other companies are moved.
  const isKept = replaced.every(
    (each) => remedyForReplaced(each, { moved, registered }, 'support').registerAgain === null,
  );
  return go && isKept ? { check, go, warning: true, why } : { check, go: false, why };
}

/**
 * Returns the latest time at which the last company could be moved. If the forecast has no end or leaves out companies,
 * because they depend on people, on an outage, on paused windows or on a deferral, assumes that they can move now.
 */
function endOfMoves(facts: GoNoGoFacts): Pick<PreflightFacts, 'endsBy' | 'isEndAssumed'> {
  const { forecast, windowsPaused, progress, live, limits, now } = facts;
  const forecastEnd =
    forecast && (forecast.ends || windowsPaused === null) ? (forecast.ends?.latest ?? null) : undefined;
  if (forecastEnd === null || (forecastEnd !== undefined && forecast?.isComplete)) return { endsBy: forecastEnd };
  const work = progress && workOfOpen(withLiveCounts(progress, live));
  const assumed = work ? endWithin(limits.windows, now, work.highMs) : forecastEnd;
  const isLater = assumed && forecastEnd && Date.parse(forecastEnd) > Date.parse(assumed);
  return { endsBy: isLater ? forecastEnd : assumed, isEndAssumed: true };
}

function applicationText({ route, platform }: GoNoGoFacts, application: ServiceFacts['application']): string {
  if (!isApplicationNeeded(route, platform)) return `not needed: ${platform.name} tokens are never refreshed`;
  return application ? `${application.clientId} (${application.environment})` : 'not shown by the service';
}

/**
 * Answers with the findings and their advice. Only errors are a no-go. Warnings are reported if there are no errors.
 */
function answerFrom(check: Answer['check'], findings: readonly PreflightFinding[], good: string): Answer {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const reported = errors.length > 0 ? errors : findings;
  return {
    check,
    go: errors.length === 0,
    ...(errors.length === 0 && findings.length > 0 ? { warning: true } : {}),
    why: reported.length === 0 ? good : reported.map(({ message, advice }) => `${message}; ${advice}`).join('; '),
  };
}

function workerAnswer({ workers, unanswered, failing }: GoNoGoFacts): Answer {
  const check = 'worker';
  if (unanswered) {
    // The error of the workflow tasks repeats the reason, and can say more about it.
    const reason = failing.find((error) => error.startsWith(unanswered.reason)) ?? unanswered.reason;
    const others = failing.filter((error) => error !== reason);
    const last = others.length === 0 ? '' : ` (last ${others.length === 1 ? 'error' : 'errors'}: ${others.join('; ')})`;
    return { check, go: false, why: `${reason}${last}; ${unanswered.remedy}` };
  }
  if (workers.workflows === 0 || workers.activities === 0) {
    const tasks = workers.workflows === 0 ? 'workflow' : 'activity';
    return { check, go: false, why: `no worker polls for ${tasks} tasks; ${RESTART_WORKER}` };
  }
  // The tasks of the batch run can fail although the main workflow answers.
  const stuck = failing.filter((error) => error.startsWith(CANNOT_CONTINUE));
  const activities = failing.filter((error) => !stuck.includes(error));
  const why = [
    ...(stuck.length === 0 ? [] : [...stuck, CHECK_WORKERS]),
    ...(activities.length === 0 ? [] : [`activities keep failing: ${activities.join('; ')}`]),
  ];
  return why.length === 0
    ? { check, go: true, why: 'a worker is answering' }
    : { check, go: false, why: why.join('; ') };
}
