/** Every message that may reach a migration, set before the first await: none of the handlers throws. */
import { ApplicationFailure, defineSignal, defineUpdate, setHandler, uuid4 } from '@temporalio/workflow';
import { isCounts } from '../../domain/companies/company-state';
import type { Outcome } from '../../domain/migration/decision';
import { outcomeOf } from '../../domain/decisions/decide';
import type { MigrationState } from '../../domain/migration/migration-state';
import type { MigrationPlan } from '../../domain/migration/plan';
import { progressOf } from '../../domain/progress/progress';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { DECISION_MESSAGES, parseDecision } from '../../domain/migration/parse-decision';
import { isOutage } from '../../domain/migration/outage';
import { isWindowOccurrence } from '../../domain/planning/windows';
import {
  batchProgressSignal,
  lookAgainSignal,
  outcomeQuery,
  progressQuery,
  standstillSignal,
  windowOpenedSignal,
} from '../messages';

/** Whoever answers queries, and receives what was decided. */
export interface Receiver {
  readonly plan: MigrationPlan;
  readonly state: () => MigrationState;
  /** Every change goes through here, so that what people see follows it. */
  readonly change: (to: (state: MigrationState) => MigrationState) => void;
  /** Takes a decision, whether it came as a message or not. */
  readonly receive: (message: DecisionMessage, input: unknown) => Outcome;
}

export function setHandlers({ plan, state, change, receive }: Receiver): void {
  for (const message of DECISION_MESSAGES) {
    const description = DESCRIPTIONS[message];
    setHandler(defineSignal<[unknown]>(message), (input) => void receive(message, input), { description });
    setHandler(defineUpdate<Outcome, [unknown]>(message), (input) => receive(message, input), {
      description,
      validator: (input) => {
        const reading = parseDecision(message, input, uuid4);
        if ('malformed' in reading) throw ApplicationFailure.nonRetryable(reading.malformed, 'Malformed');
      },
    });
  }
  setHandler(progressQuery, () => progressOf(plan, state()), {
    description: 'How far the migration is, and who has to do what next',
  });
  setHandler(outcomeQuery, ({ decisionId }) => outcomeOf(state(), decisionId) ?? null, {
    description: 'What became of a decision',
  });
  setHandler(
    windowOpenedSignal,
    (opening: unknown) => {
      if (isWindowOccurrence(opening)) change((before) => ({ ...before, opening, opened: opening }));
    },
    { description: 'Sent when a window opens, by what the Schedule of this migration starts' },
  );
  setHandler(lookAgainSignal, () => change((before) => ({ ...before, looks: before.looks + 1 })), {
    description: 'Sent by ferry after the Schedule of this migration was paused or resumed: look at once',
  });
  setHandler(
    batchProgressSignal,
    (counts: unknown) => {
      if (isCounts(counts)) change((before) => ({ ...before, counts }));
    },
    { description: 'Sent by batch runs: how far they are' },
  );
  setHandler(
    standstillSignal,
    (standstill: unknown) => {
      if (standstill === null || isOutage(standstill)) change((before) => ({ ...before, standstill }));
    },
    { description: 'Sent by batch runs: nothing gets through to the service, or (null) it does again' },
  );
}

/** What people read who send a message in Temporal's own tools. */
const DESCRIPTIONS: Readonly<Record<DecisionMessage, string>> = {
  approve: 'Approve a step: {"step", "role": "client" or "support", "by": your name, "reason"?}',
  reject:
    'Reject a step: as approve; for migrate-first-company also "next": same-company, another-company ("company": reference) or abandon',
  proposeTime: 'Propose when to start: {"startAt": ISO 8601, "role", "by"}',
  chooseFirstCompany: 'Choose which company goes first: {"company": reference, "role": "support", "by"}',
  confirmSyncDisabled:
    'The client no longer uses these tokens: {"companies": "all" or references, "role": "client", "by"}',
  credentialsSupplied: 'Sent by ferry after credentials were sealed and stored',
  pause: 'Start no further company: {"role", "by", "reason"}',
  resume: 'Go on after a pause: {"role", "by"}',
  cancel: 'End the migration; what has been moved stays moved: {"role", "by", "reason"}',
  applicationSupplied: 'Sent by ferry after the application was given to the service: {"clientId", "environment"}',
  manifestAmended: 'Sent by ferry after rows were added or corrected in the ledger',
  exclude: 'Leave companies out that are not moved yet: {"companies": references, "reason", "role", "by"}',
  skip: 'Give up companies that were not moved: {"companies": references, "reason", "role": "support", "by"}',
  retry: 'Try companies again that were not moved: {"companies": "all" or references, "role": "support", "by"}',
  relink:
    'Check again once the end customer has connected again: {"companies": "all" or references, "role": "support", "by"}',
  replaceCredential: 'Sent by ferry after new credentials of companies that were not moved were sealed and stored',
  adjust: 'Change the limits under way: {"limits": {"companiesPerSliceAtOnce": 4}, "role": "support", "by"}',
};
