import fc from 'fast-check';
import { FAILURE_KINDS, failureText, type FailureKind } from '../../../domain/companies/failures';
import {
  notMovedText,
  CLIENT_STATES,
  clientStateOf,
  clientStateText,
  COMPANY_STATES,
  ledgerStatesOf,
  type ClientState,
  type CompanyState,
} from '../../../domain/companies/company-state';
import { clientCounts, type Counts } from '../../../domain/companies/counts';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import { STEPS, isRole, isStep, stepNumber } from '../../../domain/migration/steps';
import { approve, AT, counts, decideAll, LATER, stateAt } from '../../support/migrations/migration-states';

const ONE_EACH = counts({
  total: 10,
  waiting: 3,
  unconfirmed: 1,
  withoutCredential: 1,
  importing: 1,
  syncing: 1,
  moved: 1,
  failed: 1,
  skipped: 1,
  excluded: 1,
  outcomeUnknown: 1,
});

describe('client states', () => {
  test.each<[CompanyState, FailureKind | null, ClientState]>([
    ['waiting', null, 'not-moved-yet'],
    ['importing', null, 'moving'],
    ['syncing', null, 'moving'],
    ['moved', null, 'moved'],
    ['failed', null, 'not-moved'],
    ['failed', 'incomplete', 'not-moved'],
    ['failed', 'reauthorization-required', 'must-reconnect'],
    ['skipped', 'refused', 'left-out'],
    ['excluded', null, 'left-out'],
    ['outcome-unknown', null, 'not-moved-yet'],
  ])('show a company that is %s (failure: %s) as %s', (state, failure, expected) => {
    expect(clientStateOf(state, failure)).toBe(expected);
    expect(clientStateText(state, failure)).toBe(expected.replaceAll('-', ' '));
  });

  test('cover each ledger state and failure exactly once', () => {
    for (const state of COMPANY_STATES) {
      for (const failure of state === 'failed' ? FAILURE_KINDS : [null]) {
        const words = Object.keys(CLIENT_STATES) as ClientState[];
        const found = words.filter((word) => {
          const { states, mustReconnect } = ledgerStatesOf(word);
          const hasFailure = mustReconnect ?? failure === 'reauthorization-required';
          return states.includes(state) && hasFailure === (failure === 'reauthorization-required');
        });
        expect(found).toEqual([clientStateOf(state, failure)]);
      }
    }
  });

  test('show each company that was not moved yet as not moved once the migration has ended', () => {
    expect(clientStateText('waiting', null, 'ended')).toBe('not moved');
    expect(clientStateText('outcome-unknown', null, 'ended')).toBe('not moved');
    expect(clientStateText('syncing', null, 'ended')).toBe('still being checked');
    expect(ledgerStatesOf('not-moved', true)).toEqual({
      states: ['waiting', 'failed', 'outcome-unknown'],
      mustReconnect: false,
    });
    expect(ledgerStatesOf('not-moved-yet', true).states).toEqual([]);
    const counted = clientCounts({ ...ONE_EACH, failed: 3, mustReconnect: 2, total: 12 }, true);
    expect(counted).toMatchObject({ 'not-moved-yet': 0, 'not-moved': 5 });
  });

  test('show each company that was moving as interrupted until a terminated migration is closed', () => {
    expect(clientStateText('importing', null, 'terminated')).toBe('interrupted');
    expect(clientStateText('syncing', null, 'terminated')).toBe('interrupted');
    expect(clientStateText('waiting', null, 'terminated')).toBe('not moved');
  });

  test('have counts that add up to all companies', () => {
    const counted = clientCounts({ ...ONE_EACH, failed: 3, mustReconnect: 2, total: 12 });
    expect(counted).toMatchObject({ 'must-reconnect': 2, 'not-moved': 1, 'left-out': 2, moving: 2 });
    expect(Object.values(counted).reduce((sum, each) => sum + each)).toBe(12);
  });
});

describe('step transitions', () => {
  test('lead through all steps in order, and complete the migration after the last step', () => {
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

  test('keep the original time of a step that is opened again', () => {
    expect(withStepOpened(stateAt('schedule'), 'schedule', LATER).steps.schedule).toEqual({
      openedAt: AT,
      endedAt: null,
    });
  });

  test('complete disable-syncing when there are companies and all are confirmed', () => {
    const isComplete = (changes: Partial<Counts>) =>
      isStepComplete(stateAt('disable-syncing', { counts: counts(changes) }), 'disable-syncing');
    expect(isComplete({ total: 10, waiting: 10, unconfirmed: 1 })).toBe(false);
    expect(isComplete({ total: 10, waiting: 10, unconfirmed: 0 })).toBe(true);
    expect(isComplete({})).toBe(false);
  });

  test('complete a step with two approvers only after both approvals', () => {
    const one = decideAll(stateAt('update-application'), approve('update-application', 'client'));
    expect(isStepComplete(one, 'update-application')).toBe(false);
    expect(isStepComplete(decideAll(one, approve('update-application', 'support')), 'update-application')).toBe(true);
  });
});

test('isStep and isRole accept only the names of steps and roles', () => {
  fc.assert(
    fc.property(fc.anything(), (word) => {
      expect(isStep(word)).toBe(STEPS.includes(word as never));
      expect(isRole(word)).toBe(word === 'client' || word === 'support');
    }),
  );
});

test('the reason why a company was not moved names its state once', () => {
  const lost = failureText('reauthorization-required');
  expect(notMovedText('must-reconnect', lost)).toBe(lost);
  expect(notMovedText('not-moved', 'not all records have arrived')).toBe('not moved: not all records have arrived');
  expect(notMovedText('left-out', null)).toBe('left out');
});
