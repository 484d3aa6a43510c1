import type { MigrationState } from '../../../domain/migration/migration-state';
import type { Role } from '../../../domain/migration/steps';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import {
  answerTo,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  reject,
  stateAt,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

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
    expect(answerTo(moved, named)).toBe('the first company is acme-4, not acme-7');
  });
  test('can choose another company', () => {
    const state = rejected({ next: 'another-company', reference: 'acme-7' });
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-7' }, closed: null });
  });
  test('can end the migration', () => {
    expect(rejected({ next: 'abandon' })).toMatchObject({ closed: 'abandoned' });
  });

  test.each<[string, Partial<MigrationState>, string]>([
    ['if it does not say what to try next', {}, 'a rejection of the first company must say what to try next'],
    ['while the company has no result', { firstCompany: firstCompany({ stage: 'importing' }) }, 'has no result yet'],
    ['if there is no first company', { firstCompany: null }, 'has no result yet'],
  ])('is refused %s', (_, changes, why) => {
    expect(answerTo({ ...moved, ...changes }, reject('migrate-first-company', 'support'))).toContain(why);
  });

  test('is refused after its step has ended', () => {
    const before = stateAt('complete-migration', { firstCompany: firstCompany() });
    const abandoning = reject('migrate-first-company', 'support', { afterwards: { next: 'abandon' } });
    expect(decideOne(before, abandoning).outcome).toMatchObject({ applied: false });
  });
});

test('a late rejection of the first company says how to stop moves', () => {
  const moved = stateAt('complete-migration', { firstCompany: firstCompany({ stage: 'verified' }) });
  const { outcome } = decideOne(moved, reject('migrate-first-company', 'support'));
  expect(outcome.text).toBe(
    'step 5 (migrate the first company) has already ended; to stop further moves, pause the migration',
  );
});

test.each(['migrate-first-company', 'schedule', 'complete-migration'] as const)(
  'a late rejection of %s does not advise a pause to the role that has paused the migration',
  (step) => {
    const moved = stateAt('complete-migration', {
      firstCompany: firstCompany({ stage: 'verified' }),
      pausesByPeople: [
        { reason: 'wait', by: 'Sam', role: 'support', stopReason: null, at: '2026-03-09T10:00:00.000Z' },
      ],
    });
    const advice = 'to stop further moves, pause the migration';
    const { applied, text } = decideOne(moved, reject(step, 'support')).outcome;
    expect(applied).toBe(false);
    expect(text).not.toContain(advice);
    expect(decideOne(moved, reject(step, 'client')).outcome.text).toEqual(
      step === 'migrate-first-company' ? expect.any(String) : expect.stringContaining(advice),
    );
  },
);

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

  test('of the same company says that it goes first again', () => {
    const first = firstCompany({ reference: 'acme-4', stage: 'failed' });
    const { state, outcome } = decideOne(stateAt('migrate-first-company', { firstCompany: first }), choose('acme-4'));
    expect(outcome.text).toBe('acme-4 will be tried again');
    expect(state).toMatchObject({ firstCompany: null, requestedFirst: { reference: 'acme-4' } });
  });

  test.each<[string, MigrationState, Role, string]>([
    ['if the client sends it', stateAt('schedule'), 'client', 'only support can choose'],
    [
      'while a first company is moving',
      stateAt('migrate-first-company', { firstCompany: firstCompany({ stage: 'importing' }) }),
      'support',
      'another first company cannot be chosen while acme-1 is being moved and checked',
    ],
    ['after the step has ended', stateAt('complete-migration'), 'support', 'has already ended'],
  ])('is refused %s', (_, before, role, why) => {
    expect(answerTo(before, choose('acme-7', role))).toContain(why);
  });

  test('makes the migration wait for both sides if the company is not ready', () => {
    const held = stateAt('migrate-first-company', { requestedFirst: { reference: 'acme-7', notReady: true } });
    expect(waitingForOf(held)).toEqual({
      roles: ['client', 'support'],
      what: 'acme-7 was chosen to go first but is not ready: the client must confirm that its syncing is off, supply its credential or correct its row, or support must choose another company; if acme-7 was left out or is not in the manifest, support must choose another company',
    });
  });
});
