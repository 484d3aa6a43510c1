import fc from 'fast-check';
import type { Counts } from '../../../domain/companies/company-state';
import {
  anyCrossed,
  COMPANY_STATES,
  clientStateText,
  movableCompanies,
  NO_COUNTS,
  openCompanies,
  finishedCompanies,
} from '../../../domain/companies/company-state';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { STEPS, isRole, isStep, stepNumber } from '../../../domain/migration/steps';
import { approve, AT, counts, decided, LATER, stateAt } from '../../support/migration-states';

describe('counts of companies', () => {
  const ONE_EACH = counts({
    total: 10,
    waiting: 3,
    unconfirmed: 1,
    withoutCredential: 1,
    importing: 1,
    syncing: 1,
    migrated: 1,
    failed: 1,
    skipped: 1,
    excluded: 1,
    outcomeUnknown: 1,
  });

  test('open are those about which nothing final is known', () => expect(openCompanies(ONE_EACH)).toBe(6));
  test('movable are those that need nothing from anybody', () => expect(movableCompanies(ONE_EACH)).toBe(3));
  test('settled are the others', () => expect(finishedCompanies(ONE_EACH)).toBe(4));

  test.each<[keyof Counts, boolean]>([
    ['waiting', false],
    ['skipped', false],
    ['excluded', false],
    ['unconfirmed', false],
    ['importing', true],
    ['syncing', true],
    ['migrated', true],
    ['failed', true],
    ['outcomeUnknown', true],
  ])('a company that is %s may have crossed: %s', (state, crossed) => {
    expect(anyCrossed({ ...NO_COUNTS, [state]: 1 })).toBe(crossed);
  });
});

test('a client reads one of four words for every state', () => {
  const words = COMPANY_STATES.map((state) => [state, clientStateText(state, null)]);
  expect(Object.fromEntries(words)).toEqual({
    waiting: 'not moved',
    importing: 'moving',
    syncing: 'moving',
    migrated: 'moved',
    failed: 'not moved',
    skipped: 'not moved',
    excluded: 'not moved',
    'outcome-unknown': 'not moved',
  });
  expect(clientStateText('failed', 'reauthorization-required')).toBe('must reconnect');
  expect(clientStateText('failed', 'incomplete')).toBe('not moved');
});

describe('the course of the steps', () => {
  test('six steps, each followed by the next, the last one completing the migration', () => {
    let state = stateAt('supply-details');
    const seen = STEPS.map((step) => {
      expect(state).toMatchObject({ step, closed: null });
      state = withStepEnded(withStepOpened(state, step, AT), step, LATER);
      expect(state.steps[step]).toEqual({ openedAt: AT, endedAt: LATER });
      return stepNumber(step);
    });
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
    expect(state.closed).toBe('completed');
  });

  test('a step that is open keeps the time at which it was opened', () => {
    expect(withStepOpened(stateAt('schedule'), 'schedule', LATER).steps.schedule).toEqual({
      openedAt: AT,
      endedAt: null,
    });
  });

  test('disabling ends when no company is unconfirmed, and not before the companies are known', () => {
    const settled = (some: Partial<Counts>) =>
      isStepComplete(stateAt('disable-syncing', { counts: counts(some) }), 'disable-syncing');
    expect(settled({ total: 10, waiting: 10, unconfirmed: 1 })).toBe(false);
    expect(settled({ total: 10, waiting: 10, unconfirmed: 0 })).toBe(true);
    expect(settled({})).toBe(false);
  });

  test('a step of two approvals is not settled by one', () => {
    const one = decided(stateAt('update-application'), approve('update-application', 'client'));
    expect(isStepComplete(one, 'update-application')).toBe(false);
    expect(isStepComplete(decided(one, approve('update-application', 'support')), 'update-application')).toBe(true);
  });
});

test('nothing but the names of steps and roles is taken for one', () => {
  fc.assert(
    fc.property(fc.anything(), (word) => {
      expect(isStep(word)).toBe(STEPS.includes(word as never));
      expect(isRole(word)).toBe(word === 'client' || word === 'support');
    }),
  );
});
