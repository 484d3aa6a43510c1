import { isPaused } from '../../../domain/migration/pauses';
import {
  answerTo,
  approve,
  counts,
  decideAll,
  decideOne,
  LATER,
  proposeTime,
  reject,
  stateAt,
  withoutRecord,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

const pause = (role: 'client' | 'support', reason?: string): DecisionDraft => ({
  kind: 'pause',
  role,
  ...(reason === undefined ? {} : { reason }),
});
const resume = (role: 'client' | 'support'): DecisionDraft => ({ kind: 'resume', role });

describe('recorded decisions', () => {
  test('are applied once if they are sent twice', () => {
    const once = decideAll(stateAt('schedule'), { ...proposeTime('client'), decisionId: 'one' });
    const twice = decideAll(once, { ...approve('schedule', 'client'), decisionId: 'one' });
    expect(twice).toBe(once);
  });

  test('include refusals, with the reason', () => {
    const before = stateAt('supply-details');
    const { state, outcome } = decideOne(before, { ...approve('schedule', 'client'), decisionId: 'early' });
    expect(outcome).toMatchObject({ decisionId: 'early', applied: false, at: LATER });
    expect(state.outcomes).toEqual([outcome]);
    expect(state.unrecorded).toEqual([
      { decision: expect.objectContaining({ decisionId: 'early' }) as unknown, outcome },
    ]);
    expect(withoutRecord(state)).toEqual(withoutRecord(before));
  });

  test('are all kept until they are in the audit trail, but only the latest outcomes stay in the state', () => {
    const many = Array.from({ length: 250 }, (_, index) => ({
      ...approve('schedule', 'client'),
      decisionId: `d${index}`,
    }));
    const state = decideAll(stateAt('supply-details'), ...many);
    expect(state.outcomes).toHaveLength(200);
    expect(state.outcomes.at(-1)?.decisionId).toBe('d249');
    expect(state.unrecorded).toHaveLength(250);
  });
});

describe('pause and resume', () => {
  test('are possible for either side, and a pause keeps its reason', () => {
    const paused = decideAll(stateAt('complete-migration'), pause('client', 'our database is being moved'));
    expect(paused.pausesByPeople).toEqual([
      { reason: 'our database is being moved', by: 'Cleo', role: 'client', stopReason: null, at: LATER },
    ]);
    expect(isPaused(decideAll(paused, resume('client')))).toBe(false);
    expect(isPaused(decideAll(paused, resume('support')))).toBe(false);
  });

  test('are refused if they would change nothing', () => {
    const paused = decideAll(stateAt('schedule'), pause('client', 'first'));
    expect(answerTo(paused, pause('client', 'second'))).toBe('the client has already paused the migration (Cleo)');
    expect(decideOne(stateAt('schedule'), resume('support')).outcome.applied).toBe(false);
  });

  test('are limited after a migration has paused itself: only support can resume it', () => {
    const stopped = stateAt('complete-migration', {
      pause: { reason: 'the key is refused', by: null, stopReason: 'key-refused', at: LATER },
    });
    expect(answerTo(stopped, resume('client'))).toBe('only support can resume a migration that paused itself');
    expect(decideAll(stopped, resume('support')).pause).toBeNull();
  });

  test('do not prevent other decisions', () => {
    const paused = decideAll(stateAt('supply-details'), pause('support'));
    expect(decideOne(paused, approve('supply-details', 'support')).outcome.applied).toBe(true);
  });
});

describe('a confirmation that syncing is off', () => {
  const confirming = (role: 'client' | 'support'): DecisionDraft => ({
    kind: 'sync-disabled',
    role,
    companies: ['a', 'b'],
  });

  test('is accepted only from the client', () => {
    const before = stateAt('disable-syncing');
    expect(decideOne(before, confirming('client')).outcome).toMatchObject({
      applied: true,
      text: 'confirmed that syncing is off for 2 companies',
    });
    expect(decideOne(before, confirming('support')).outcome.applied).toBe(false);
  });

  test('is accepted before the step is open', () => {
    expect(decideOne(stateAt('supply-details'), confirming('client')).outcome.applied).toBe(true);
  });
});

test.each(['completed', 'abandoned'] as const)('every decision is refused in a migration that is %s', (closed) => {
  const before = stateAt('complete-migration', { closed, counts: counts({ total: 10, moved: 10 }) });
  const attempts: readonly DecisionDraft[] = [
    approve('complete-migration', 'support'),
    reject('complete-migration', 'client'),
    proposeTime('client'),
    { kind: 'sync-disabled', role: 'client', companies: 'all' },
    { kind: 'credentials-supplied', role: 'client', companies: 3 },
    pause('support'),
    resume('support'),
  ];
  for (const attempt of attempts) expect(answerTo(before, attempt)).toBe(`the migration is ${closed}`);
});
