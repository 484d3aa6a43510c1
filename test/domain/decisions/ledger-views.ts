/** The ledger's view of a migration and the ledger's refusals of decisions, for tests of the verification. */
import type { Decision } from '../../../domain/migration/decision';
import { NO_DECISIONS, withDecision, type RecordedDecisions } from '../../../domain/decisions/release';
import { ledgerRefusal, type LedgerView } from '../../../domain/decisions/verification';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import {
  approve,
  AT,
  counts,
  firstCompany,
  nameOf,
  proposeTime,
  reject,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

export const LATE = '2026-03-02T12:00:00.000Z';
export const VERIFIED = firstCompany();
let ids = 0;

export function decision(draft: DecisionDraft): Decision {
  return { by: nameOf(draft.role), ...draft, decisionId: `d-${(ids += 1)}` };
}

export const STEPS_1_TO_3: readonly DecisionDraft[] = [
  approve('supply-details', 'support'),
  proposeTime('client'),
  approve('schedule', 'client'),
  approve('schedule', 'support'),
  approve('update-application', 'client'),
  approve('update-application', 'support'),
];
export const MOVED: readonly DecisionDraft[] = [...STEPS_1_TO_3, approve('migrate-first-company', 'support')];

export const recordedAfter = (drafts: readonly DecisionDraft[]): RecordedDecisions =>
  drafts.reduce((before, draft) => withDecision(before, decision(draft), AT), NO_DECISIONS);

export const view = (recorded: RecordedDecisions, changes: Partial<LedgerView> = {}): LedgerView => ({
  ...{ migrationId: 'acme.quickbooks-online', route: 'managed', rules: DEFAULT_DECISION_RULES, suppliedBy: 'Mia' },
  ...{ lastSigned: {}, recorded, ending: null, pausedItself: false, pausedByPeople: false, hasBatchBegun: true },
  applicationRejected: false,
  ...{ counts: counts({ total: 10, moved: 10 }), firstCompany: VERIFIED },
  ...changes,
});

export const refusalOf = (draft: DecisionDraft, ledger: LedgerView, at = LATE) => {
  const sent = decision(draft);
  return ledgerRefusal(
    { decision: sent, outcome: { decisionId: sent.decisionId, applied: true, text: 'done', at } },
    ledger,
  );
};

export const waiting = { counts: counts({ total: 10, waiting: 10 }), firstCompany: null };
export const failing = {
  counts: counts({ total: 10, waiting: 9, failed: 1 }),
  firstCompany: firstCompany({ stage: 'failed' }),
};
export const moving = {
  counts: counts({ total: 10, waiting: 9, syncing: 1 }),
  firstCompany: firstCompany({ stage: 'importing' }),
};
export const another = { next: 'another-company', reference: 'acme-9' } as const;
export const rejectFirst = reject('migrate-first-company', 'support', { afterwards: another });
export const choose = { kind: 'first-company', role: 'support', reference: 'acme-9' } as const;
export const retry = { kind: 'retry', role: 'support', companies: 'all' } as const;
