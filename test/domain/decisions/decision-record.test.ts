import type { MigrationState } from '../../../domain/migration/migration-state';
import {
  approve,
  counts,
  decided,
  deciding,
  LATER,
  proposeTime,
  reject,
  stateAt,
  substance,
  type Undecided,
} from '../../support/migration-states';

const pause = (role: 'client' | 'support', reason?: string): Undecided => ({
  kind: 'pause',
  role,
  ...(reason === undefined ? {} : { reason }),
});
const resume = (role: 'client' | 'support'): Undecided => ({ kind: 'resume', role });

describe('the record of decisions', () => {
  test('the same decision sent twice counts once', () => {
    const once = decided(stateAt('schedule'), { ...proposeTime('client'), decisionId: 'one' });
    const twice = decided(once, { ...approve('schedule', 'client'), decisionId: 'one' });
    expect(twice).toBe(once);
  });

  test('a refusal is recorded with its reason, and waits for the audit trail like every decision', () => {
    const before = stateAt('supply-details');
    const { state, outcome } = deciding(before, { ...approve('schedule', 'client'), decisionId: 'early' });
    expect(outcome).toMatchObject({ decisionId: 'early', applied: false, at: LATER });
    expect(state.outcomes).toEqual([outcome]);
    expect(state.unrecorded).toEqual([
      { decision: expect.objectContaining({ decisionId: 'early' }) as unknown, outcome },
    ]);
    expect(substance(state)).toEqual(substance(before));
  });

  test('only the latest outcomes are kept, so that the state stays small; none is lost before it is in the trail', () => {
    const many = Array.from({ length: 250 }, (_, index) => ({
      ...approve('schedule', 'client'),
      decisionId: `d${index}`,
    }));
    const state = decided(stateAt('supply-details'), ...many);
    expect(state.outcomes).toHaveLength(200);
    expect(state.outcomes.at(-1)?.decisionId).toBe('d249');
    expect(state.unrecorded).toHaveLength(250);
  });
});

describe('pause and resume', () => {
  test('either side pauses, with a reason, and either side goes on', () => {
    const paused = decided(stateAt('complete-migration'), pause('client', 'our database is being moved'));
    expect(paused.pause).toMatchObject({ reason: 'our database is being moved', by: 'Cleo', stop: null });
    expect(decided(paused, resume('client')).pause).toBeNull();
    expect(decided(paused, resume('support')).pause).toBeNull();
  });

  test('a second pause keeps the first, and there is nothing to resume where nothing is paused', () => {
    const paused = decided(stateAt('schedule'), pause('client', 'first'));
    const { state, outcome } = deciding(paused, pause('support', 'second'));
    expect(outcome).toMatchObject({ applied: false, text: 'the migration is paused already' });
    expect(state.pause?.reason).toBe('first');
    expect(deciding(stateAt('schedule'), resume('support')).outcome.applied).toBe(false);
  });

  test('what stopped by itself goes on when support says so, not when the client does', () => {
    const stopped = stateAt('complete-migration', {
      pause: { reason: 'the key is refused', by: null, stop: 'key-refused', at: LATER },
    });
    const { state, outcome } = deciding(stopped, resume('client'));
    expect(outcome.applied).toBe(false);
    expect(state.pause).toEqual(stopped.pause);
    expect(decided(stopped, resume('support')).pause).toBeNull();
  });

  test('decisions count while the migration is paused', () => {
    const paused = decided(stateAt('supply-details'), pause('support'));
    expect(deciding(paused, approve('supply-details', 'support')).outcome.applied).toBe(true);
  });
});

describe('that syncing is disabled', () => {
  const confirming = (role: 'client' | 'support'): Undecided => ({
    kind: 'sync-disabled',
    role,
    companies: ['a', 'b'],
  });

  test('is for the client alone to say', () => {
    const before = stateAt('disable-syncing');
    expect(deciding(before, confirming('client')).outcome).toMatchObject({
      applied: true,
      text: '2 companies confirmed as disabled',
    });
    expect(deciding(before, confirming('support')).outcome.applied).toBe(false);
  });

  test('may be said before the step is open', () => {
    expect(deciding(stateAt('supply-details'), confirming('client')).outcome.applied).toBe(true);
  });
});

test.each<[string, MigrationState['closed']]>([
  ['completed', 'completed'],
  ['abandoned', 'abandoned'],
])('nothing is decided in a migration that is %s', (word, closed) => {
  const before = stateAt('complete-migration', { closed, counts: counts({ total: 10, migrated: 10 }) });
  const attempts: readonly Undecided[] = [
    approve('complete-migration', 'support'),
    reject('complete-migration', 'client'),
    proposeTime('client'),
    { kind: 'sync-disabled', role: 'client', companies: 'all' },
    { kind: 'credentials-supplied', role: 'client', companies: 3 },
    pause('support'),
    resume('support'),
  ];
  for (const attempt of attempts) {
    const { state, outcome } = deciding(before, attempt);
    expect(outcome).toMatchObject({ applied: false, text: `the migration is ${word}` });
    expect(substance(state)).toEqual(substance(before));
  }
});
