import { missingApprovals } from '../../../domain/decisions/approvals';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { isStepComplete, withStepEnded } from '../../../domain/decisions/step-transitions';
import { stepText, type Step } from '../../../domain/migration/steps';
import {
  answerTo,
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
    expect(outcome).toMatchObject({ applied: true, text: `${stepText(step)} is open again` });
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

  test('a rejection of the details starts another check, and says that step 1 has not ended', () => {
    const { state, outcome } = decideOne(stateAt('supply-details'), reject('supply-details', 'support'));
    expect(state.preflight).toBeNull();
    expect(outcome.text).toBe(
      'the client is asked to change the supplied details, which are also checked again; step 1 (supply details) stays open',
    );
    const byClient = decideOne(stateAt('supply-details'), reject('supply-details', 'client'));
    expect(byClient.outcome.text).toBe('the supplied details are checked again; step 1 (supply details) stays open');
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
    const answer = answerTo(stateAt('schedule'), reject('update-application', 'client'));
    expect(answer).toBe('step 3 (update the application) is not open yet');
  });

  test('a role that neither acts in nor approves a step cannot reject it', () => {
    const answer = answerTo(stateAt('disable-syncing'), reject('disable-syncing', 'support'));
    expect(answer).toBe('support cannot reject step 4 (disable data syncing)');
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
    // The counts in the state can be older than the ledger, so a first company is enough for a refusal.
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
    expect(answerTo(stateAt('migrate-first-company', changes), decision)).not.toBe('applied');
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

test('a rejection of the handover withdraws its approvals and keeps the step open', () => {
  const done = stateAt('complete-migration', { counts: counts({ total: 10, moved: 10 }) });
  const state = decideAll(done, approve('complete-migration', 'support'), reject('complete-migration', 'client'));
  expect(state.step).toBe('complete-migration');
  expect(missingApprovals(state, 'complete-migration')).toEqual(['support', 'client']);
});

test('a handover cannot be rejected while companies are open, and the refusal says how to stop moves', () => {
  const moving = stateAt('complete-migration', { counts: counts({ total: 10, waiting: 4, moved: 6 }) });
  expect(answerTo(moving, reject('complete-migration', 'support'))).toBe(
    'there is no handover to reject yet: 4 companies have no final outcome yet; to stop further moves, pause the migration',
  );
});
