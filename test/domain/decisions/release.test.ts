/** Tests which companies the recorded decisions release, and when they allow a migration to be closed. */
import type { Decision, StepDecision } from '../../../domain/migration/decision';
import type { Role, Step } from '../../../domain/migration/steps';
import {
  NO_DECISIONS,
  possibleEnding,
  releaseOf,
  stepByDecisions,
  withDecision,
  withdrawnApprovals,
  withdrawnConfirmations,
  type RecordedDecisions,
} from '../../../domain/decisions/release';

const AT = '2026-03-02T12:00:00.000Z';
const nameOf = (role: Role): string => (role === 'client' ? 'Cleo' : 'Sam');
let ids = 0;
const sender = (role: Role) => ({ decisionId: `d-${(ids += 1)}`, role, by: nameOf(role) });

const step = (verdict: StepDecision['verdict'], name: Step, role: Role = 'support'): StepDecision => ({
  ...{ kind: 'step', step: name, verdict },
  ...sender(role),
});
const approve = (name: Step, role?: Role): Decision => step('approve', name, role);
const reject = (name: Step, role?: Role): Decision => step('reject', name, role);
const propose = (): Decision => ({ kind: 'time', startAt: AT, ...sender('client') });
const retry = (): Decision => ({ kind: 'retry', companies: 'all', ...sender('support') });

const recorded = (...decisions: readonly Decision[]): RecordedDecisions =>
  decisions.reduce((before, decision) => withDecision(before, decision, AT), NO_DECISIONS);
const released = (...decisions: readonly Decision[]) => releaseOf('managed', recorded(...decisions));

const STEPS_1_TO_3: readonly Decision[] = [
  approve('supply-details'),
  propose(),
  approve('schedule', 'client'),
  approve('schedule'),
  approve('update-application', 'client'),
  approve('update-application'),
];
const MOVED: readonly Decision[] = [...STEPS_1_TO_3, approve('migrate-first-company')];

describe('in the managed route', () => {
  test.each(STEPS_1_TO_3.map((_, index) => [index] as const))(
    'nothing is released while approval %i of steps 1 to 3 is missing',
    (missing) => {
      expect(released(...STEPS_1_TO_3.filter((decision, index) => index !== missing || decision.kind === 'time'))).toBe(
        STEPS_1_TO_3[missing]?.kind === 'time' ? 'first-company' : 'nothing',
      );
    },
  );

  test('the first company is released by the approvals of steps 1 to 3, and the other companies by the approval of the first company', () => {
    expect(released(...STEPS_1_TO_3)).toBe('first-company');
    expect(released(...MOVED)).toBe('all');
  });

  test.each<[string, Decision]>([
    ['rejecting step 1', reject('supply-details', 'client')],
    ['rejecting step 2', reject('schedule')],
    ['rejecting step 3', reject('update-application')],
    ['a new start time', propose()],
  ])('%s withdraws the release', (_, decision) => {
    expect(released(...STEPS_1_TO_3, decision)).toBe('nothing');
  });

  test('approvals that state facts are kept when an earlier step is reopened', () => {
    const again = [propose(), approve('schedule', 'client'), approve('schedule')];
    expect(released(...STEPS_1_TO_3, reject('schedule'), ...again)).toBe('first-company');
    expect(released(...STEPS_1_TO_3, reject('update-application'), ...again)).toBe('nothing');
  });

  test('rejecting the first company keeps it released, so that it can be tried again', () => {
    expect(released(...STEPS_1_TO_3, reject('migrate-first-company'))).toBe('first-company');
    expect(released(...MOVED, reject('complete-migration'))).toBe('all');
  });

  test('rejecting the first company, or choosing another, withdraws the release of the other companies', () => {
    const another: Decision = { kind: 'first-company', reference: 'R-9', ...sender('support') };
    expect(released(...MOVED, reject('migrate-first-company'))).toBe('first-company');
    expect(released(...MOVED, another)).toBe('first-company');
  });
});

test('in the self-service route, all companies are released from the start', () => {
  expect(releaseOf('self-service', NO_DECISIONS)).toBe('all');
});

describe('a migration may be closed', () => {
  const signedOff = [...MOVED, approve('complete-migration'), approve('complete-migration', 'client')];

  test('as completed only after both sign-offs', () => {
    expect(possibleEnding('managed', recorded(...signedOff))).toBe('completed');
    expect(possibleEnding('managed', recorded(...MOVED, approve('complete-migration')))).toBeNull();
    expect(possibleEnding('managed', recorded(...signedOff, retry()))).toBeNull();
    expect(possibleEnding('self-service', NO_DECISIONS)).toBe('completed');
  });

  test('as cancelled or abandoned only by a decision', () => {
    expect(possibleEnding('managed', recorded({ kind: 'cancel', ...sender('support') }))).toBe('cancelled');
    const abandon: Decision = { ...step('reject', 'migrate-first-company'), afterwards: { next: 'abandon' } };
    expect(possibleEnding('managed', recorded(...STEPS_1_TO_3, abandon))).toBe('abandoned');
    expect(possibleEnding('managed', NO_DECISIONS)).toBeNull();
  });
});

describe('the step that follows from the decisions', () => {
  const stepAfter = (decisions: readonly Decision[], isSyncingDisabled = false) =>
    stepByDecisions('managed', recorded(...decisions), isSyncingDisabled);

  test('is the first step that has not been approved', () => {
    expect(stepAfter([])).toBe('supply-details');
    expect(stepAfter([approve('supply-details'), propose(), approve('schedule', 'client')])).toBe('schedule');
    // Step 3 can be approved early.
    const early = [approve('update-application', 'client'), approve('update-application')];
    expect(stepAfter([approve('supply-details'), ...early])).toBe('schedule');
    expect(stepAfter(STEPS_1_TO_3)).toBe('disable-syncing');
    expect(stepAfter(STEPS_1_TO_3, true)).toBe('migrate-first-company');
    expect(stepAfter(MOVED, true)).toBe('complete-migration');
    expect(stepAfter([...MOVED, reject('schedule')], true)).toBe('schedule');
  });

  test('is the only step in self-service', () => {
    expect(stepByDecisions('self-service', NO_DECISIONS, false)).toBe('complete-migration');
  });
});

test('finds the approvals that later decisions have withdrawn, and by which of them', () => {
  const trail = [
    approve('supply-details'),
    approve('complete-migration'),
    { ...retry(), isRefused: true },
    { kind: 'credentials-supplied', companies: 2, ...sender('client') } as const,
    retry(),
    approve('complete-migration'),
    reject('complete-migration', 'client'),
    approve('complete-migration'),
    approve('complete-migration', 'client'),
  ];
  const found = withdrawnApprovals(
    trail.map((decision) => ({ decision, outcome: { applied: !('isRefused' in decision), at: AT } })),
  );
  expect([...found]).toEqual([
    [1, 4],
    [5, 6],
  ]);
});

test('finds the confirmations that later decisions have withdrawn, and by which of them', () => {
  const confirm = { kind: 'sync-disabled', companies: ['C-1'], ...sender('client') } as const;
  const trail = [
    { ...confirm, isRefused: true },
    confirm,
    { ...reject('disable-syncing'), isRefused: true },
    reject('update-application'),
    confirm,
    reject('disable-syncing'),
    confirm,
    { kind: 'manifest-supplied', companies: 2, manifestDigest: 'd', ...sender('client') } as const,
    confirm,
  ];
  const found = withdrawnConfirmations(
    trail.map((decision) => ({ decision, outcome: { applied: !('isRefused' in decision), at: AT } })),
  );
  expect([...found]).toEqual([
    [1, 5],
    [4, 5],
    [6, 7],
  ]);
});
