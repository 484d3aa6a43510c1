import type { Companies } from '../../../domain/migration/decision';
import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { waitingForOf } from '../../../domain/progress/progress';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
import type { Role, Step } from '../../../domain/migration/steps';
import type { Undecided } from '../../support/migration-states';
import {
  approve,
  AT,
  counts,
  decided,
  deciding,
  firstCompany,
  LATER,
  proposeTime,
  reject,
  stateAt,
  substance,
} from '../../support/migration-states';

describe('before anything has crossed', () => {
  test.each<[Step, Step]>([
    ['supply-details', 'update-application'],
    ['schedule', 'update-application'],
    ['schedule', 'disable-syncing'],
    ['schedule', 'migrate-first-company'],
    ['update-application', 'disable-syncing'],
    ['disable-syncing', 'migrate-first-company'],
  ])('a rejection of %s opens it again from %s, without its approvals', (step, from) => {
    const { state, outcome } = deciding(stateAt(from), reject(step, 'client'));
    expect(outcome).toMatchObject({ applied: true, text: `${step} is open again` });
    expect(state.step).toBe(step);
    expect(state.approvals.filter((approval) => approval.step === step)).toEqual([]);
  });

  test('a step that was opened again can be approved and ended again', () => {
    const again = decided(stateAt('disable-syncing'), reject('schedule', 'client'));
    const agreed = decided(again, proposeTime('client'), approve('schedule', 'client'), approve('schedule', 'support'));
    expect(isStepComplete(agreed, 'schedule')).toBe(true);
    expect(withStepEnded(agreed, 'schedule', AT).step).toBe('update-application');
  });

  test('a rejection of the details asks for another check of them', () => {
    expect(decided(stateAt('supply-details'), reject('supply-details', 'support')).preflight).toBeNull();
  });

  test.each([
    ['2026-01-01T00:00:00Z', false],
    [new Date(Date.parse(LATER) - 16 * 60_000).toISOString(), false],
    [new Date(Date.parse(LATER) - 60_000).toISOString(), true],
  ])('a start at %s, long past or just now: applied %s', (startAt, applied) => {
    const { outcome } = deciding(stateAt('schedule'), proposeTime('client', startAt));
    expect(outcome).toMatchObject({ applied });
  });

  test('a rejection of the time withdraws the proposal', () => {
    expect(decided(stateAt('update-application'), reject('schedule', 'client')).proposal).toBeNull();
  });

  test('facts stated about later steps stay, approvals of later steps go', () => {
    const before = decided(
      stateAt('schedule'),
      approve('update-application', 'client'),
      proposeTime('support'),
      approve('schedule', 'support'),
    );
    const state = decided(before, reject('supply-details', 'client'));
    expect(state.step).toBe('supply-details');
    expect(missingApprovals(state, 'update-application')).toEqual(['support']);
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('a step that is not open yet cannot be rejected', () => {
    const { outcome } = deciding(stateAt('schedule'), reject('update-application', 'client'));
    expect(outcome).toMatchObject({ applied: false, text: 'update-application is not open yet' });
  });

  test('who has no say in a step cannot reject it', () => {
    const { outcome } = deciding(stateAt('disable-syncing'), reject('disable-syncing', 'support'));
    expect(outcome).toMatchObject({ applied: false, text: 'support has no say in disable-syncing' });
  });
});

describe('a change of mind after something has crossed changes nothing', () => {
  const CROSSED: readonly [string, Partial<MigrationState>][] = [
    ['a company is importing', { counts: counts({ total: 10, waiting: 9, importing: 1 }) }],
    ['a company is syncing', { counts: counts({ total: 10, waiting: 9, syncing: 1 }) }],
    ['a company is migrated', { counts: counts({ total: 10, waiting: 9, migrated: 1 }) }],
    ['a company has failed', { counts: counts({ total: 10, waiting: 9, failed: 1 }) }],
    ["a company's outcome is unknown", { counts: counts({ total: 10, waiting: 9, outcomeUnknown: 1 }) }],
    // Counts follow the ledger a little later; the first company may be crossing at this moment.
    ['the first company is on its way', { firstCompany: firstCompany({ stage: 'importing' }) }],
  ];
  const ATTEMPTS = (['supply-details', 'schedule', 'update-application', 'disable-syncing'] as const).map(
    (step) => [`a rejection of ${step}`, reject(step, 'client')] as const,
  );

  test.each(
    CROSSED.flatMap(([when, changes]) =>
      [...ATTEMPTS, ['another time', proposeTime('client')] as const].map(
        ([what, decision]) => [what, when, changes, decision] as const,
      ),
    ),
  )('%s is refused when %s', (_what, _when, changes, decision) => {
    const before = stateAt('migrate-first-company', changes);
    const { state, outcome } = deciding(before, decision);
    expect(outcome.applied).toBe(false);
    expect(substance(state)).toEqual(substance(before));
  });
});

describe('a newer proposal', () => {
  test('withdraws the approvals of the older one', () => {
    const approved = decided(stateAt('schedule'), proposeTime('support'), approve('schedule', 'client'));
    const state = decided(approved, proposeTime('support', '2026-03-08T20:00:00.000Z'));
    expect(state.proposal?.startAt).toBe('2026-03-08T20:00:00.000Z');
    expect(missingApprovals(state, 'schedule')).toEqual(['client', 'support']);
  });

  test('opens the schedule again when it had ended', () => {
    const state = decided(stateAt('migrate-first-company'), proposeTime('client'));
    expect(state).toMatchObject({ step: 'schedule', proposal: { by: 'Cleo' } });
    expect(deciding(state, approve('schedule', 'support')).outcome.applied).toBe(true);
  });

  test('may come before the schedule is open, and waits for it', () => {
    const state = decided(stateAt('supply-details'), proposeTime('client'));
    expect(state).toMatchObject({ step: 'supply-details', proposal: { by: 'Cleo' } });
  });
});

describe('the first company, rejected', () => {
  const moved = stateAt('migrate-first-company', {
    firstCompany: firstCompany({ reference: 'acme-4' }),
    counts: counts({ total: 10, waiting: 9, migrated: 1 }),
  });
  const rejected = (afterwards: NonNullable<Parameters<typeof reject>[2]>['afterwards']) =>
    decided(moved, reject('migrate-first-company', 'support', afterwards ? { afterwards } : {}));

  test('is tried again when so asked', () => {
    expect(rejected({ next: 'same-company' })).toMatchObject({
      firstCompany: null,
      wantedFirst: { reference: 'acme-4' },
      closed: null,
    });
  });
  test('is followed by another one when so asked', () => {
    const state = rejected({ next: 'another-company', reference: 'acme-7' });
    expect(state).toMatchObject({ firstCompany: null, wantedFirst: { reference: 'acme-7' }, closed: null });
  });
  test('ends the migration when so asked', () => {
    expect(rejected({ next: 'abandon' })).toMatchObject({ closed: 'abandoned' });
  });

  test.each<[string, Partial<MigrationState>, string]>([
    ['nothing said about what is next', {}, 'a rejection says what is next'],
    ['no result yet', { firstCompany: firstCompany({ stage: 'importing' }) }, 'there is no result'],
    ['no first company', { firstCompany: null }, 'there is no result'],
  ])('%s: refused', (_, changes, why) => {
    const before = { ...moved, ...changes };
    const { state, outcome } = deciding(before, reject('migrate-first-company', 'support'));
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
    expect(substance(state)).toEqual(substance(before));
  });

  test('is a fact once its step has ended', () => {
    const before = stateAt('complete-migration', { firstCompany: firstCompany() });
    const abandoning = reject('migrate-first-company', 'support', { afterwards: { next: 'abandon' } });
    expect(deciding(before, abandoning).outcome).toMatchObject({ applied: false });
  });
});

describe('the first company, chosen', () => {
  const choose = (reference: string, role: Role = 'support'): Undecided => ({ kind: 'first-company', role, reference });

  test.each(['supply-details', 'disable-syncing', 'migrate-first-company'] as const)('at %s', (step) => {
    const { state, outcome } = deciding(stateAt(step), choose('acme-7'));
    expect(outcome).toMatchObject({ applied: true, text: 'acme-7 goes first' });
    expect(state).toMatchObject({ step, firstCompany: null, wantedFirst: { reference: 'acme-7', heldUp: false } });
  });

  test.each(['proven', 'failed'] as const)('instead of one that was %s', (stage) => {
    const before = stateAt('migrate-first-company', { firstCompany: firstCompany({ reference: 'acme-4', stage }) });
    const { state, outcome } = deciding(before, choose('acme-7'));
    expect(outcome.text).toBe(`acme-7 goes first after acme-4, which was ${stage}`);
    expect(state).toMatchObject({ firstCompany: null, wantedFirst: { reference: 'acme-7' } });
  });

  test.each<[string, MigrationState, Role, string]>([
    ['by the client', stateAt('schedule'), 'client', 'chosen by support'],
    [
      'while one is being moved',
      stateAt('migrate-first-company', { firstCompany: firstCompany({ stage: 'importing' }) }),
      'support',
      'acme-1 is being moved already',
    ],
    ['once the step has ended', stateAt('complete-migration'), 'support', 'has ended already'],
  ])('%s: refused', (_, before, role, why) => {
    const { state, outcome } = deciding(before, choose('acme-7', role));
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
    expect(substance(state)).toEqual(substance(before));
  });

  test('one that cannot be moved as it is: both sides are waited for', () => {
    const held = stateAt('migrate-first-company', { wantedFirst: { reference: 'acme-7', heldUp: true } });
    expect(waitingForOf(held)).toEqual({
      roles: ['client', 'support'],
      what: 'supply what acme-7 lacks, which is to go first, or choose another company',
    });
  });
});

describe('a credential, replaced', () => {
  const replace = (...companies: readonly string[]): Undecided => ({
    kind: 'replace-credential',
    role: 'support',
    companies,
  });
  const failed = { counts: counts({ total: 10, waiting: 8, migrated: 1, failed: 1 }) };
  const allMoved = { counts: counts({ total: 10, migrated: 10 }) };

  test('of a company that has failed since they were counted, while others are on their way', () => {
    const counted = { counts: counts({ total: 10, syncing: 4, migrated: 6 }) };
    expect(deciding(stateAt('complete-migration', counted), replace('acme-4')).outcome.applied).toBe(true);
  });

  test('of the first company: it is moved again with it', () => {
    const before = stateAt('migrate-first-company', {
      ...failed,
      firstCompany: firstCompany({ reference: 'acme-4', stage: 'failed' }),
    });
    const { state, outcome } = deciding(before, replace('acme-4'));
    expect(outcome).toMatchObject({ applied: true, text: '1 company moved again with a new credential' });
    expect(state).toMatchObject({ firstCompany: null, wantedFirst: { reference: 'acme-4' } });
    expect(deciding(before, replace('acme-5')).state.firstCompany).toEqual(before.firstCompany);
  });

  test('or tried again as it is', () => {
    const failedFirst = firstCompany({ reference: 'acme-4', stage: 'failed' });
    const before = stateAt('migrate-first-company', { ...failed, firstCompany: failedFirst });
    const retry = (companies: Companies): Undecided => ({ kind: 'retry', role: 'support', companies });
    for (const companies of ['all', ['acme-4']] as const) {
      const { state } = deciding(before, retry(companies));
      expect(state).toMatchObject({ firstCompany: null, wantedFirst: { reference: 'acme-4' } });
    }
    expect(deciding(before, retry(['acme-5'])).outcome.applied).toBe(false);
  });

  test('of others, while the rest is moved', () => {
    const before = stateAt('complete-migration', { ...failed, firstCompany: firstCompany() });
    const { state, outcome } = deciding(before, replace('acme-4', 'acme-5'));
    expect(outcome.applied).toBe(true);
    expect(substance(state)).toEqual(substance(before));
  });

  test.each<[string, MigrationState, Role, string]>([
    ['by the client', stateAt('complete-migration', failed), 'client', 'decided by support'],
    ['before anything could fail', stateAt('disable-syncing'), 'support', 'no company is left'],
    ['with nothing that failed', stateAt('complete-migration', allMoved), 'support', 'no company is left'],
    ['once all is over', stateAt('complete-migration', { ...failed, closed: 'completed' }), 'support', 'is completed'],
  ])('%s: refused', (_, before, role, why) => {
    const { outcome } = deciding(before, { ...replace('acme-4'), role });
    expect(outcome).toMatchObject({ applied: false, text: expect.stringContaining(why) as string });
  });
});

test('a handover that is not accepted loses its approvals and stays open', () => {
  const done = stateAt('complete-migration', { counts: counts({ total: 10, migrated: 10 }) });
  const state = decided(done, approve('complete-migration', 'support'), reject('complete-migration', 'client'));
  expect(state.step).toBe('complete-migration');
  expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
});
