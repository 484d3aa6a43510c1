/** The ledger uses the workflow's own rules to check the decisions that a workflow claims to have applied. */
import fc from 'fast-check';
import { NO_COUNTS } from '../../../domain/companies/counts';
import type { Decision } from '../../../domain/migration/decision';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import {
  DEPEND_ON_COUNTS,
  factsOfState,
  preconditionRefusal,
  type DecisionFacts,
} from '../../../domain/decisions/preconditions';
import { NO_DECISIONS, releaseOf, withDecision, type RecordedDecisions } from '../../../domain/decisions/release';
import { ledgerRefusal, type LedgerView } from '../../../domain/decisions/verification';
import { newMigration, type MigrationState } from '../../../domain/migration/migration-state';
import { ROLES, type Role, type Step } from '../../../domain/migration/steps';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import {
  approve,
  AT,
  counts,
  proposeTime,
  reject,
  stateAt,
  type DecisionDraft,
} from '../../support/migrations/migration-states';
import {
  anyDecision,
  confirmsSyncDisabled,
  withAllConfirmed,
  workflowActs,
} from '../../support/migrations/random-decisions';
import {
  LATE,
  VERIFIED,
  STEPS_1_TO_3,
  MOVED,
  recordedAfter,
  view,
  refusalOf,
  waiting,
  failing,
  moving,
  rejectFirst,
  choose,
  retry,
  decision,
} from './ledger-views';

test.each<[string, readonly DecisionDraft[], Partial<LedgerView>, DecisionDraft, RegExp]>([
  [
    'step 2 before step 1',
    [proposeTime('client')],
    waiting,
    approve('schedule', 'client'),
    /step 2 \(schedule the migration\) is not open yet/,
  ],
  ['a schedule without a proposal', MOVED.slice(0, 1), waiting, approve('schedule', 'client'), /no start time/],
  [
    'the first company before step 3',
    STEPS_1_TO_3.slice(0, 4),
    {},
    approve('migrate-first-company', 'support'),
    /not open yet/,
  ],
  ['the sign-off before step 5', STEPS_1_TO_3, {}, approve('complete-migration', 'client'), /not open yet/],
  [
    'a first company that is not moved',
    STEPS_1_TO_3,
    moving,
    approve('migrate-first-company', 'support'),
    /the first company, acme-1, is still being moved/,
  ],
  [
    'a sign-off with open companies',
    MOVED,
    { counts: counts({ syncing: 2 }) },
    approve('complete-migration', 'client'),
    /2 companies have no/,
  ],
  [
    'anything after a cancellation',
    [{ kind: 'cancel', role: 'client', reason: 'no' }],
    waiting,
    proposeTime('client'),
    /is cancelled/,
  ],
  ['anything after the end', MOVED, { ending: 'completed' }, { kind: 'pause', role: 'client' }, /is completed/],
  ['a rejection of a later step', [], waiting, reject('schedule', 'client'), /not open yet/],
  [
    'a rejection of a step after the first credential was sent',
    STEPS_1_TO_3,
    moving,
    reject('schedule', 'client'),
    /already begun/,
  ],
  ['a start time in the past', [], waiting, proposeTime('client', '2026-03-02T09:00:00.000Z'), /in the past/],
  ['a rejection of a first company that is moving', STEPS_1_TO_3, moving, rejectFirst, /no result yet/],
  [
    'a rejection that does not say what to try next',
    STEPS_1_TO_3,
    failing,
    reject('migrate-first-company', 'support'),
    /what to try next/,
  ],
  [
    'another first company while one is moving',
    STEPS_1_TO_3,
    moving,
    choose,
    /cannot be chosen while .+ is being moved/,
  ],
  ['another first company after step 5', MOVED, {}, choose, /has already ended/],
  ['a retry before step 5', STEPS_1_TO_3.slice(0, 4), failing, retry, /only in step 6/],
  ['a retry without exceptions', MOVED, {}, retry, /no company has failed or has an unknown outcome/],
  ['a relink in step 5', STEPS_1_TO_3, failing, { ...retry, kind: 'relink' }, /only in step 6/],
  [
    'a new credential without exceptions',
    MOVED,
    {},
    { kind: 'replace-credential', role: 'support', companies: ['a'] },
    /no company has failed or has an unknown outcome/,
  ],
  [
    'a resume by the client after the migration paused itself',
    MOVED,
    { pausedItself: true },
    { kind: 'resume', role: 'client' },
    /only support can resume/,
  ],
  ['an expired decision', [], waiting, { kind: 'pause', role: 'client', validUntil: AT }, /this decision expired at/],
])('the ledger refuses %s', (_, before, facts, draft, why) => {
  expect(refusalOf(draft, view(recordedAfter(before), facts))).toMatch(why);
});

test.each<[string, readonly DecisionDraft[], Partial<LedgerView>, DecisionDraft]>([
  ['an early approval of step 3', [], waiting, approve('update-application', 'client')],
  ['the approval of the first company', STEPS_1_TO_3, {}, approve('migrate-first-company', 'support')],
  ['a sign-off', MOVED, {}, approve('complete-migration', 'client')],
  [
    'a second approval of details that have changed',
    [...MOVED.slice(0, 1), { kind: 'exclude', role: 'client', companies: ['a'], reason: 'sold' }],
    waiting,
    approve('supply-details', 'support'),
  ],
  ['a retry of the first company in step 5', STEPS_1_TO_3, failing, { ...retry, companies: ['acme-1'] }],
  [
    'a resume by support after the migration paused itself',
    MOVED,
    { pausedItself: true },
    { kind: 'resume', role: 'support' },
  ],
  ['a repeated approval of a step that has ended', MOVED, {}, approve('migrate-first-company', 'support')],
  ['a repeated approval of a step in progress', STEPS_1_TO_3.slice(0, 3), waiting, approve('schedule', 'client')],
  ['another start time, which a workflow needs after a reset', MOVED, {}, proposeTime('client', LATE)],
  ['a decision that has not expired', [], waiting, { kind: 'pause', role: 'client', validUntil: LATE }],
])('the ledger accepts %s', (_, before, facts, draft) => {
  expect(refusalOf(draft, view(recordedAfter(before), facts))).toBeNull();
});

test('after a reset, the start time can be changed until step 2 has ended again, even if companies have moved', () => {
  const proposal = { startAt: LATE, role: 'client', by: 'Cleo', at: AT } as const;
  const moved = { proposal, counts: counts({ total: 10, waiting: 9, moved: 1 }) };
  const refusalAt = (step: Step) =>
    preconditionRefusal(decision(proposeTime('client')), factsOfState(stateAt(step, moved)), LATE);
  expect(refusalAt('schedule')).toBeNull();
  expect(refusalAt('update-application')).toMatch(/start time cannot be changed/);
});

test('another start time releases nothing until the schedule is approved again', () => {
  const proposed = recordedAfter([...MOVED, proposeTime('client')]);
  expect(releaseOf('managed', proposed)).toBe('nothing');
  const scheduled = (['client', 'support'] as const).map((role) => decision(approve('schedule', role)));
  const approved = scheduled.reduce((before, each) => withDecision(before, each, AT), proposed);
  expect(releaseOf('managed', approved)).toBe('first-company');
});

test('in the self-service route, the client retries companies and resumes the migration', () => {
  const ledger = view(NO_DECISIONS, { route: 'self-service', ...waiting, pausedItself: true });
  expect(refusalOf({ ...retry, role: 'client' }, ledger)).toBeNull();
  expect(refusalOf({ kind: 'resume', role: 'client' }, ledger)).toBeNull();
  expect(
    refusalOf({ kind: 'skip', role: 'client', companies: ['a'], reason: 'sold' }, { ...ledger, ...failing }),
  ).toBeNull();
});

const APPROVER = { role: 'client', by: 'Cleo', publicKey: 'ab'.repeat(32) } as const;

/** For each kind of decision: an example, and the roles that can make the decision in self-service. */
const IN_SELF_SERVICE: Readonly<Record<Decision['kind'], readonly [content: object, roles: readonly Role[]]>> = {
  step: [{ step: 'supply-details', verdict: 'approve' }, []],
  time: [{ startAt: LATE }, []],
  'first-company': [{ reference: 'a' }, []],
  'sync-disabled': [{ companies: 'all' }, []],
  'manifest-supplied': [{ manifestDigest: 'ab', companies: 1 }, []],
  exclude: [{ companies: ['a'], reason: 'sold' }, ['client']],
  skip: [{ companies: ['a'], reason: 'sold' }, ['client']],
  retry: [{ companies: 'all' }, ['client']],
  relink: [{ companies: 'all' }, ['client']],
  'replace-credential': [{ companies: ['a'] }, ['client']],
  adjust: [{ limits: { slicesAtOnce: 1 } }, ['client']],
  'credentials-supplied': [{ companies: 1 }, ['client', 'support']],
  'application-supplied': [{ clientId: 'app', environment: 'production' }, ['client', 'support']],
  'manifest-amended': [{ added: 1, corrected: 0 }, ['client', 'support']],
  'add-approver': [{ approver: APPROVER }, ['support']],
  'remove-approver': [{ approver: APPROVER }, ['support']],
  pause: [{}, ['client', 'support']],
  resume: [{}, ['client', 'support']],
  cancel: [{ reason: 'sold' }, ['client', 'support']],
};

test.each(Object.entries(IN_SELF_SERVICE))(
  'in the self-service route, the ledger accepts %s only from the roles that can decide it',
  (kind, [content, roles]) => {
    const ledger = view(NO_DECISIONS, { route: 'self-service', ...failing, pausedByPeople: true });
    const accepted = ROLES.filter(
      (role) => refusalOf({ kind, role, ...content } as unknown as DecisionDraft, ledger) === null,
    );
    expect(accepted).toEqual(roles);
  },
);

test('the ledger accepts another application before the first company only if the platform rejects the accepted one', () => {
  const draft = { kind: 'application-supplied', role: 'client', clientId: 'app', environment: 'production' } as const;
  const ledger = view(recordedAfter(STEPS_1_TO_3), { ...waiting, pausedItself: true });
  expect(refusalOf(draft, ledger)).toContain('must first reject step 1');
  expect(refusalOf(draft, { ...ledger, applicationRejected: true })).toBeNull();
});

/** The example of each decision in {@link IN_SELF_SERVICE} whose preconditions do not depend on the counts. */
const UNCOUNTED = Object.entries(IN_SELF_SERVICE).filter(([kind]) => DEPEND_ON_COUNTS.every((each) => each !== kind));

test.each(UNCOUNTED)('the ledger needs no counts to verify %s', (kind, [content]) => {
  for (const route of ['managed', 'self-service'] as const)
    for (const before of [[], STEPS_1_TO_3, MOVED])
      for (const role of ROLES)
        for (const state of [waiting, failing, moving, { ...failing, firstCompany: null }]) {
          const ledger = view(recordedAfter(before), { route, ...state, pausedByPeople: true });
          const refusal = refusalOf({ kind, role, ...content } as unknown as DecisionDraft, ledger);
          const uncounted = { ...ledger, counts: NO_COUNTS };
          expect(refusalOf({ kind, role, ...content } as unknown as DecisionDraft, uncounted)).toBe(refusal);
        }
});

test('a ledger that is behind applies no rule that depends on the states of companies', () => {
  const behind = { counts: null, firstCompany: VERIFIED };
  const drafts: readonly [readonly DecisionDraft[], DecisionDraft][] = [
    [STEPS_1_TO_3, proposeTime('client')],
    [STEPS_1_TO_3, rejectFirst],
    [STEPS_1_TO_3, retry],
    [MOVED, retry],
    [MOVED, approve('complete-migration', 'client')],
  ];
  for (const [before, draft] of drafts) expect(refusalOf(draft, view(recordedAfter(before), behind))).toBeNull();
  expect(refusalOf(retry, view(recordedAfter([]), behind))).toMatch(/only in step 6/);
});

/** Returns the ledger's view for a workflow that has recorded every decision. */
function ledgerOf(state: MigrationState, recorded: RecordedDecisions): LedgerView {
  const { counts: known, firstCompany: first, pausedItself, applicationRejected, pausedByPeople } = factsOfState(state);
  const hasBatchBegun = state.steps['migrate-first-company']?.endedAt != null;
  return view(recorded, {
    ...{ counts: known, firstCompany: first, pausedItself, applicationRejected, pausedByPeople, hasBatchBegun },
  });
}

/**
 * Returns true if the decision proposes another start time, or repeats a recorded approval. The ledger accepts such a
 * decision even if the workflow refuses it, because a workflow needs the decision after a reset.
 */
function repeats(decision: Decision, { approvals, proposal }: RecordedDecisions): boolean {
  if (decision.kind === 'time') return proposal !== null;
  if (decision.kind !== 'step' || decision.verdict !== 'approve') return false;
  return approvals.some(({ step, role }) => step === decision.step && role === decision.role);
}

test('the ledger accepts decisions that the workflow applies, and refuses decisions that its preconditions refuse', () => {
  fc.assert(
    fc.property(fc.array(anyDecision, { maxLength: 60 }), (decisions) => {
      let state = workflowActs(newMigration({ firstCompany: null, limits: DEFAULT_LIMITS }));
      let recorded = NO_DECISIONS;
      for (const [index, drawn] of decisions.entries()) {
        const each: Decision = { ...drawn, decisionId: `d-${index}` };
        const facts: DecisionFacts = factsOfState(state);
        const ledger = ledgerOf(state, recorded);
        state = decide(state, each, AT);
        const outcome = outcomeOf(state, each.decisionId);
        if (!outcome) throw new Error('the decision has no outcome');
        const refusal = ledgerRefusal({ decision: each, outcome }, ledger);
        if (outcome.applied) {
          expect(refusal).toBeNull();
          recorded = withDecision(recorded, each, AT);
        } else if (preconditionRefusal(each, facts, AT) !== null && state.closed === null && !repeats(each, recorded))
          expect(refusal).not.toBeNull();
        state = workflowActs(confirmsSyncDisabled(each) ? withAllConfirmed(workflowActs(state)) : state);
      }
    }),
    { numRuns: 500 },
  );
});
