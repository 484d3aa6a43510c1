import type { Companies } from '../../../domain/migration/decision';
import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
import type { Role, Step } from '../../../domain/migration/steps';
import type { DecisionDraft } from '../../support/migrations/migration-states';
import {
  approve,
  AT,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  LATER,
  proposeTime,
  reject,
  stateAt,
  withoutRecord,
} from '../../support/migrations/migration-states';

describe('before the first credential is handed over', () => {
  test.each<[Step, Step]>([
    ['supply-details', 'update-application'],
    ['schedule', 'update-application'],
    ['schedule', 'disable-syncing'],
    ['schedule', 'migrate-first-company'],
    ['update-application', 'disable-syncing'],
    ['disable-syncing', 'migrate-first-company'],
  ])('a rejection of %s in step %s reopens it and withdraws its approvals', (step, from) => {
    const { state, outcome } = decideOne(stateAt(from), reject(step, 'client'));
    expect(outcome).toMatchObject({ applied: true, text: `${step} is open again` });
    expect(state.step).toBe(step);
    expect(state.approvals.filter((approval) => approval.step === step)).toEqual([]);
  });

  test('a reopened step can be approved and ended again', () => {
    const again = decideAll(stateAt('disable-syncing'), reject('schedule', 'client'));
    const agreed = decideAll(
      again,
      proposeTime('client'),
      approve('schedule', 'client'),
      approve('schedule', 'support'),
    );
    expect(isStepComplete(agreed, 'schedule')).toBe(true);
    expect(withStepEnded(agreed, 'schedule', AT).step).toBe('update-application');
  });

  test('a rejection of the details starts another check', () => {
    expect(decideAll(stateAt('supply-details'), reject('supply-details', 'support')).preflight).toBeNull();
  });

  test.each([
    ['2026-01-01T00:00:00Z', false],
    [new Date(Date.parse(LATER) - 16 * 60_000).toISOString(), false],
    [new Date(Date.parse(LATER) - 60_000).toISOString(), true],
  ])('a proposed start at %s is applied: %s', (startAt, applied) => {
    const { outcome } = decideOne(stateAt('schedule'), proposeTime('client', startAt));
    expect(outcome).toMatchObject({ applied });
  });

  test('a rejection of the schedule withdraws the proposal', () => {
    expect(decideAll(stateAt('update-application'), reject('schedule', 'client')).proposal).toBeNull();
  });

  test('a reopened step keeps early approvals of later steps, which state facts', () => {
    const before = decideAll(
      stateAt('schedule'),
      approve('update-application', 'client'),
      proposeTime('support'),
      approve('schedule', 'support'),
    );
    const state = decideAll(before, reject('supply-details', 'client'));
    expect(state.step).toBe('supply-details');
    expect(missingApprovals(state, 'update-application')).toEqual(['support']);
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('a step that is not open yet cannot be rejected', () => {
    const { outcome } = decideOne(stateAt('schedule'), reject('update-application', 'client'));
    expect(outcome).toMatchObject({ applied: false, text: 'update-application is not open yet' });
  });

  test('a role that neither acts in nor approves a step cannot reject it', () => {
    const { outcome } = decideOne(stateAt('disable-syncing'), reject('disable-syncing', 'support'));
    expect(outcome).toMatchObject({ applied: false, text: 'support cannot reject disable-syncing' });
  });
});

describe('after the first credential is handed over', () => {
  const CROSSED: readonly [string, Partial<MigrationState>][] = [
    ['a company is importing', { counts: counts({ total: 10, waiting: 9, importing: 1 }) }],
    ['a company is syncing', { counts: counts({ total: 10, waiting: 9, syncing: 1 }) }],
    ['a company has been moved', { counts: counts({ total: 10, waiting: 9, moved: 1 }) }],
    ['a company was skipped after an attempt', { counts: counts({ total: 10, waiting: 9, skipped: 1 }) }],
    ['a company has failed', { counts: counts({ total: 10, waiting: 9, failed: 1 }) }],
    ["a company's outcome is unknown", { counts: counts({ total: 10, waiting: 9, outcomeUnknown: 1 }) }],
    // The counts in the state can be older than the ledger.
    ['the first company is moving', { firstCompany: firstCompany({ stage: 'importing' }) }],
  ];
  const ATTEMPTS = (['supply-details', 'schedule', 'update-application', 'disable-syncing'] as const).map(
    (step) => [`a rejection of ${step}`, reject(step, 'client')] as const,
  );

  test.each(
    CROSSED.flatMap(([when, changes]) =>
      [...ATTEMPTS, ['a new start time', proposeTime('client')] as const].map(
        ([name, decision]) => [name, when, changes, decision] as const,
      ),
    ),
  )('%s is refused when %s', (_name, _when, changes, decision) => {
    const before = stateAt('migrate-first-company', changes);
    const { state, outcome } = decideOne(before, decision);
    expect(outcome.applied).toBe(false);
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });
});

describe('a new proposal', () => {
  test('withdraws the approvals of the previous proposal', () => {
    const approved = decideAll(stateAt('schedule'), proposeTime('support'), approve('schedule', 'client'));
    const state = decideAll(approved, proposeTime('support', '2026-03-08T20:00:00.000Z'));
    expect(state.proposal?.startAt).toBe('2026-03-08T20:00:00.000Z');
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('reopens the schedule after it has ended', () => {
    const state = decideAll(stateAt('migrate-first-company'), proposeTime('client'));
    expect(state).toMatchObject({ step: 'schedule', proposal: { by: 'Cleo' } });
    expect(decideOne(state, approve('schedule', 'support')).outcome.applied).toBe(true);
  });

  test('is accepted before the schedule is open', () => {
    const state = decideAll(stateAt('supply-details'), proposeTime('client'));
    expect(state).toMatchObject({ step: 'supply-details', proposal: { by: 'Cleo' } });
  });
});

describe('a rejection of the first company', () => {
  const moved = stateAt('migrate-first-company', {
    firstCompany: firstCompany({ reference: 'acme-4' }),
    counts: counts({ total: 10, waiting: 9, moved: 1 }),
  });
  const rejected = (afterwards: NonNullable<Parameters<typeof reject>[2]>['afterwards']) =>
    decideAll(moved, reject('migrate-first-company', 'support', afterwards ? { afterwards } : {}));

  test('can try the same company again', () => {
    expect(rejected({ next: 'same-company' })).toMatchObject({
      firstCompany: null,
      requestedFirst: { reference: 'acme-4' },
      closed: null,
    });
  });
  test('tries only the company again that it names', () => {
    expect(rejected({ next: 'same-company', reference: 'acme-4' })).toMatchObject({ firstCompany: null });
    const named = reject('migrate-first-company', 'support', {
      afterwards: { next: 'same-company', reference: 'acme-7' },
    });
    const { outcome, state } = decideOne(moved, named);
    expect(outcome).toMatchObject({ applied: false, text: 'the first company is acme-4, not acme-7' });
    expect(state.firstCompany).toEqual(moved.firstCompany);
  });
  test('can choose another company', () => {
    const state = rejected({ next: 'another-company', reference: 'acme-7' });
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-7' }, closed: null });
  });
  test('can end the migration', () => {
    expect(rejected({ next: 'abandon' })).toMatchObject({ closed: 'abandoned' });
  });

  test.each<[string, Partial<MigrationState>, string]>([
    ['if it does not specify what to do next', {}, 'a rejection must specify what to do next'],
    ['while the company has no result', { firstCompany: firstCompany({ stage: 'importing' }) }, 'has no result yet'],
    ['if there is no first company', { firstCompany: null }, 'has no result yet'],
  ])('is refused %s', (_, changes, why) => {
    const before = { ...moved, ...changes };
    const { state, outcome } = decideOne(before, reject('migrate-first-company', 'support'));
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });

  test('is refused after its step has ended', () => {
    const before = stateAt('complete-migration', { firstCompany: firstCompany() });
    const abandoning = reject('migrate-first-company', 'support', { afterwards: { next: 'abandon' } });
    expect(decideOne(before, abandoning).outcome).toMatchObject({ applied: false });
  });
});

describe('a choice of the first company', () => {
  const choose = (reference: string, role: Role = 'support'): DecisionDraft => ({
    kind: 'first-company',
    role,
    reference,
  });

  test.each(['supply-details', 'disable-syncing', 'migrate-first-company'] as const)(
    'is applied in step %s',
    (step) => {
      const { state, outcome } = decideOne(stateAt(step), choose('acme-7'));
      expect(outcome).toMatchObject({ applied: true, text: 'acme-7 goes first' });
      expect(state).toMatchObject({
        step,
        firstCompany: null,
        requestedFirst: { reference: 'acme-7', notReady: false },
      });
    },
  );

  test.each(['verified', 'failed'] as const)('replaces a first company whose stage is %s', (stage) => {
    const before = stateAt('migrate-first-company', { firstCompany: firstCompany({ reference: 'acme-4', stage }) });
    const { state, outcome } = decideOne(before, choose('acme-7'));
    expect(outcome.text).toBe(
      `acme-7 goes first instead of acme-4, which was ${stage === 'failed' ? 'not moved' : 'moved'}`,
    );
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-7' } });
  });

  test.each<[string, MigrationState, Role, string]>([
    ['if the client sends it', stateAt('schedule'), 'client', 'only support can choose'],
    [
      'while a first company is moving',
      stateAt('migrate-first-company', { firstCompany: firstCompany({ stage: 'importing' }) }),
      'support',
      'acme-1 is already being moved',
    ],
    ['after the step has ended', stateAt('complete-migration'), 'support', 'has already ended'],
  ])('is refused %s', (_, before, role, why) => {
    const { state, outcome } = decideOne(before, choose('acme-7', role));
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });

  test('makes the migration wait for both sides if the company is not ready', () => {
    const held = stateAt('migrate-first-company', { requestedFirst: { reference: 'acme-7', notReady: true } });
    expect(waitingForOf(held)).toEqual({
      roles: ['client', 'support'],
      what: 'acme-7 goes first but is not ready: supply what it needs, or choose another company',
    });
  });
});

describe('a replacement of a credential', () => {
  const replace = (...companies: readonly string[]): DecisionDraft => ({
    kind: 'replace-credential',
    role: 'support',
    companies,
  });
  const failed = { counts: counts({ total: 10, waiting: 8, moved: 1, failed: 1 }) };
  const allMoved = { counts: counts({ total: 10, moved: 10 }) };

  test('is applied even if the counts do not show the failure yet', () => {
    const lagging = { counts: counts({ total: 10, syncing: 4, moved: 6 }) };
    expect(decideOne(stateAt('complete-migration', lagging), replace('acme-4')).outcome.applied).toBe(true);
  });

  test('moves the first company again', () => {
    const before = stateAt('migrate-first-company', {
      ...failed,
      firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }),
    });
    const { state, outcome } = decideOne(before, replace('acme-4'));
    expect(outcome).toMatchObject({ applied: true, text: '1 company will be tried again with a new credential' });
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-4' } });
    expect(decideOne(before, replace('acme-5')).state.firstCompany).toEqual(before.firstCompany);
  });

  test('is not needed to retry the first company', () => {
    const failedFirst = firstCompany({ reference: 'acme-4', stage: 'failed' });
    const before = stateAt('migrate-first-company', { ...failed, firstCompany: failedFirst });
    const retry = (companies: Companies): DecisionDraft => ({ kind: 'retry', role: 'support', companies });
    for (const companies of ['all', ['acme-4']] as const) {
      const { state } = decideOne(before, retry(companies));
      expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-4' } });
    }
    expect(decideOne(before, retry(['acme-5'])).outcome.applied).toBe(false);
  });

  test.each(['client', 'support'] as const)('of the %s moves other companies again in step 6', (role) => {
    const before = stateAt('complete-migration', { ...failed, firstCompany: firstCompany() });
    const { state, outcome } = decideOne(before, { ...replace('acme-4', 'acme-5'), role });
    expect(outcome.applied).toBe(true);
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });

  test.each<[string, MigrationState, Role, string]>([
    ['before any company has failed', stateAt('disable-syncing'), 'support', 'no exceptions'],
    ['when all companies are moved', stateAt('complete-migration', allMoved), 'support', 'no exceptions'],
    [
      'after the migration has ended',
      stateAt('complete-migration', { ...failed, closed: 'completed' }),
      'support',
      'is completed',
    ],
  ])('is refused %s', (_, before, role, why) => {
    const { outcome } = decideOne(before, { ...replace('acme-4'), role });
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
  });
});

test('a rejection of the handover withdraws its approvals and keeps the step open', () => {
  const done = stateAt('complete-migration', { counts: counts({ total: 10, moved: 10 }) });
  const state = decideAll(done, approve('complete-migration', 'support'), reject('complete-migration', 'client'));
  expect(state.step).toBe('complete-migration');
  expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
});

test('a handover cannot be rejected while companies are open, and the refusal says how to stop moves', () => {
  const moving = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 4, moved: 6 }) });
  const { state, outcome } = decideOne(moving, reject('complete-migration', 'support'));
  expect(outcome).toMatchObject({
    applied: false,
    text: 'there is no handover to reject yet: 4 companies have no final outcome yet; to stop further moves, pause the migration',
  });
  expect(withoutRecord(state)).toEqual(withoutRecord(moving));
});

test('a late rejection of the first company says how to stop moves', () => {
  const moved = stateAt('complete-migration', { firstCompany: firstCompany({ stage: 'verified' }) });
  const { outcome } = decideOne(moved, reject('migrate-first-company', 'support'));
  expect(outcome.text).toBe('migrate-first-company has already ended; to stop further moves, pause the migration');
});
