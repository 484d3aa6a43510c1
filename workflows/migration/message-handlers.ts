/**
 * The handlers of all messages that a migration can receive.
 *
 * Handlers change the state and never throw, because a signal handler that throws would fail the workflow task
 * repeatedly. Only the handler of a sign-off also calls an activity: it refreshes the counts first. If a decision
 * cannot be read, the update's validator throws, which rejects the update. A signal is refused instead, and the refusal
 * is recorded with its reason. `audit-trail.ts` carries each decision from the state to the ledger, and the current
 * step acts on it. An update returns the outcome once the decision is in the ledger, so that its sender can see the
 * effect.
 */
import {
  ApplicationFailure,
  CancellationScope,
  defineSignal,
  defineUpdate,
  log,
  setHandler,
  uuid4,
} from '@temporalio/workflow';
import { countOpen } from '../../domain/companies/counts';
import type { Outcome, Unreadable } from '../../domain/migration/decision';
import { decide, outcomeOf, refuseUnreadable } from '../../domain/decisions/decide';
import { progressOf } from '../../domain/progress/progress';
import {
  claimedSender,
  DECISION_MESSAGES,
  parseDecision,
  type DecisionMessage,
} from '../../domain/migration/parse-decision';
import { parseOutage } from '../../domain/migration/outage';
import { parseSigned } from '../../domain/migration/signatures';
import { parseWindowOccurrence } from '../../domain/planning/windows';
import {
  batchProgressSignal,
  checkReconnectedSignal,
  ledgerMarkQuery,
  wakeSignal,
  outcomeQuery,
  progressQuery,
  outageSignal,
  windowOpenedSignal,
} from '../messages';
import type { AuditTrail } from './audit-trail';
import { now, type MigrationContext } from './context';
import { refreshCounts } from './ledger-state';
import { askForCheck, checkBeforeSignOff, needsCheckBeforeSignOff } from './relinking';

/**
 * Sets the handlers of all signals, updates and queries. Call it before the first await.
 *
 * A decision is a signal and an update of the same name. The update's validator rejects only messages that cannot be
 * read. All other decisions are recorded, including those that are refused.
 */
export function setMessageHandlers(
  migration: MigrationContext,
  auditTrail: AuditTrail,
  requestCount: () => void,
): void {
  const { plan, state, change } = migration;
  const receive = decisionsInOrder(migration);
  for (const message of DECISION_MESSAGES) {
    const description = DESCRIPTIONS[message];
    const receiveSignal = (input: unknown): void | Promise<void> => {
      const received = receive(message, input);
      return received instanceof Promise ? received.then(() => undefined) : undefined;
    };
    setHandler(defineSignal<[unknown]>(message), receiveSignal, { description });
    const receiveAndRecord = async (input: unknown): Promise<Outcome> => {
      const outcome = await receive(message, input);
      // A decision is recorded even if the workflow is cancelled in the meantime.
      await CancellationScope.nonCancellable(() => auditTrail.untilRecorded(outcome.decisionId));
      // Returns the ledger's outcome, because it can differ from the workflow's outcome.
      return outcomeOf(state(), outcome.decisionId) ?? outcome;
    };
    setHandler(defineUpdate<Outcome, [unknown]>(message), receiveAndRecord, {
      description,
      validator: (input) => {
        const parsed = parseDecision(message, input, uuid4);
        if ('malformed' in parsed) throw ApplicationFailure.nonRetryable(parsed.malformed, 'Malformed');
      },
    });
  }
  setHandler(progressQuery, () => progressOf(plan, state()), {
    description: 'The progress of the migration, and who has to do what next',
  });
  setHandler(outcomeQuery, ({ decisionId }) => outcomeOf(state(), decisionId) ?? null, {
    description: 'The outcome of a decision. Argument: {"decisionId": "..."}',
  });
  setHandler(ledgerMarkQuery, () => state().ledgerMark ?? 0, {
    description: 'The highest mark of the ledger that the migration has seen',
  });
  setHandler(
    windowOpenedSignal,
    (sent: unknown) => {
      const occurrence = parseWindowOccurrence(sent);
      if (occurrence !== null) change((before) => ({ ...before, window: occurrence, openedWindow: occurrence }));
    },
    { description: 'Sent when a window opens, by the workflow that the Schedule of this migration starts' },
  );
  setHandler(wakeSignal, () => change((before) => ({ ...before, wakes: before.wakes + 1 })), {
    description:
      'Sent by ferry after the Schedule of this migration has been paused or resumed, so that the migration checks the Schedule immediately',
  });
  setHandler(checkReconnectedSignal, () => askForCheck(migration), {
    description:
      'Sent by ferry or the portal before they show a sign-off, so that the migration checks now whether end customers have reconnected',
  });
  setHandler(batchProgressSignal, requestCount, {
    description:
      'Sent by batch runs while companies move, and by the workflow that has repaired the ledger, so that the migration counts the companies again',
  });
  setHandler(
    outageSignal,
    (sent: unknown) => {
      // Batch runs exist only in step 6.
      if (state().step !== 'complete-migration') return;
      const outage = parseOutage(sent);
      if (outage !== null || sent === null) change((before) => ({ ...before, outage }));
    },
    {
      description:
        'Sent by batch runs when the service or the platform does not respond, and with null when it responds again',
    },
  );
}

/**
 * Returns a function that applies or refuses decisions in the order in which they arrived.
 *
 * While a batch run moves companies, the counts can be a minute old. They are refreshed before a sign-off is applied,
 * so that it is not refused because of outdated counts. Companies that must reconnect are checked as well, because a
 * sign-off should not treat a company as not moved if it has just reconnected. Decisions that arrive in the meantime
 * wait for the sign-off. All other decisions are applied immediately.
 */
function decisionsInOrder(
  migration: MigrationContext,
): (message: DecisionMessage, input: unknown) => Outcome | Promise<Outcome> {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();
  const refresh = (): Promise<void> =>
    // If the refresh fails, the sign-off is checked against the last known counts.
    CancellationScope.nonCancellable(() => refreshCounts(migration)).catch(() => undefined);
  return (message, input) => {
    const signsOff = isSignOff(message, input);
    const needsRefresh = signsOff && countOpen(migration.state().counts) > 0;
    const needsCheck = signsOff && needsCheckBeforeSignOff(migration);
    if (waiting === 0 && !needsRefresh && !needsCheck) return receiveDecision(migration, message, input);
    waiting += 1;
    const received = last
      .then(() => (needsCheck ? checkBeforeSignOff(migration) : undefined))
      .then(() => (needsRefresh ? refresh() : undefined))
      .then(() => receiveDecision(migration, message, input))
      .finally(() => (waiting -= 1));
    last = received;
    return received;
  };
}

/** Returns whether an input that can be parsed approves the last step. */
function isSignOff(message: DecisionMessage, input: unknown): boolean {
  const parsed = parseDecision(message, input, () => '');
  if ('malformed' in parsed || parsed.decision.kind !== 'step') return false;
  return parsed.decision.verdict === 'approve' && parsed.decision.step === 'complete-migration';
}

/**
 * Applies or refuses a decision, and adds it to the state's `unrecorded` decisions, to be recorded. A repeated decision
 * changes nothing if it can be read.
 */
export function receiveDecision(migration: MigrationContext, message: DecisionMessage, input: unknown): Outcome {
  const { plan, state, change } = migration;
  const at = now();
  const parsed = parseDecision(message, input, uuid4);
  if ('malformed' in parsed) return refuse(migration, message, input, parsed.malformed, at);
  const { decisionId } = parsed.decision;
  const origin = { migrationId: plan.migrationId, signed: parseSigned(message, input) };
  // Records the patches of this version before the decision, because the decision can depend on them.
  change((before) => before);
  change((before) => decide(before, parsed.decision, at, plan.decisions, origin));
  return outcomeOf(state(), decisionId) ?? { decisionId, applied: false, text: 'not recorded', at };
}

function refuse(
  { state, change }: MigrationContext,
  message: DecisionMessage,
  input: unknown,
  reason: string,
  at: string,
): Outcome {
  log.warn('a message could not be read', { message, why: reason });
  const { decisionId: claimedId, ...sender } = claimedSender(input);
  const unreadable: Unreadable = { kind: 'unreadable', decisionId: uuid4(), message, ...sender };
  const refused = refuseUnreadable(state(), unreadable, claimedId, reason, at);
  change(() => refused.state);
  return refused.outcome;
}

/** The description of each decision in Temporal's own tools, for people who send decisions with them. */
const DESCRIPTIONS: Readonly<Record<DecisionMessage, string>> = {
  approve: 'Approve a step: {"step", "role": "client" or "support", "by": your name, "reason"?}',
  reject:
    'Reject a step: same fields as approve; for migrate-first-company also "next": "same-company", "another-company" (with "company": reference) or "abandon" (ends the migration)',
  proposeTime: 'Propose when to start: {"startAt": ISO 8601 with a time zone, "windows"?, "role", "by"}',
  chooseFirstCompany: 'Choose which company goes first: {"company": reference, "role": "support", "by"}',
  confirmSyncDisabled:
    'Confirm that the client\'s own application no longer uses the tokens of these companies: {"companies": "all" or references, "role": "client", "by"}',
  credentialsSupplied: 'Sent by ferry or the portal after credentials were encrypted and stored',
  pause: 'Pause the migration, so that no more moves begin: {"role", "by", "reason"?}',
  resume: 'Continue after a pause: {"role", "by"}',
  cancel: 'End the migration; companies that have moved stay moved: {"role", "by", "reason"}',
  applicationSupplied:
    'Sent by ferry or the portal to name the application, which is then registered at the service: {"clientId", "environment"}',
  manifestSupplied:
    'Sent by ferry or the portal after the rows of the manifest were stored: {"manifestDigest", "companies"}',
  manifestAmended: 'Sent by ferry after rows were added to the ledger or corrected',
  exclude:
    'Leave out companies that are waiting to be moved: {"companies": references, "reason", "role" (in self-service "client"), "by"}',
  skip: 'Give up on companies that must reconnect, were not moved, wait for another try, or have an unknown outcome: {"companies": references, "reason", "role": "support" (in self-service "client"), "by"}',
  retry:
    'Retry companies that must reconnect, were not moved, are deferred, or have an unknown outcome: {"companies": "all" or references, "role": "support" (in self-service "client"), "by"}',
  relink:
    'Check companies once their end customers have reconnected: {"companies": "all" or references, "role": "support" (in self-service "client"), "by"}',
  replaceCredential:
    'Sent by ferry or the portal after new credentials that replace earlier ones were encrypted and stored',
  addApprover:
    'Accept the signed decisions of a person. Before that, compare the fingerprint of the key with that person: {"approver": {"role", "by", "publicKey"}, "role": "support", "by"}',
  removeApprover: 'Stop accepting decisions that are signed with a key: same fields as addApprover',
  adjust:
    'Change the limits: {"limits": {"companiesPerSliceAtOnce": 4}, "role": "support" (in self-service "client"), "by"}',
};
