import { stopReasonText } from '../../../domain/companies/failures';
import { withLedgerOutcomes } from '../../../domain/decisions/decide';
import { withAutomaticPause } from '../../../domain/decisions/pauses';
import type { MigrationState, Pause } from '../../../domain/migration/migration-state';
import { digestOfPauses, isPaused, pausesOf, pausesOfOthers, pauseText } from '../../../domain/migration/pauses';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { isReviewChanged } from '../../../domain/migration/decision-record';
import { pausedTexts, progressOf } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { pauseFact } from '../../../presentation/portal/pause-fact';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { actionsOf } from '../../../presentation/portal/actions';
import {
  answerTo,
  AT,
  counts,
  decideAll,
  decideOne,
  LATER,
  migrationPlan,
  stateAt,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

const AUTOMATIC: Pause = { reason: 'the key is refused', by: null, stopReason: 'key-refused', at: LATER };
const MOVING = stateAt('complete-migration', { counts: counts({ total: 9, moved: 5, waiting: 4 }) });
const pause = (role: 'client' | 'support'): DecisionDraft => ({ kind: 'pause', role, reason: `${role} stop` });
const resume = (role: 'client' | 'support', digest?: string): DecisionDraft => ({
  ...{ kind: 'resume', role },
  ...(digest === undefined ? {} : { digest }),
});
const stopped = (state: MigrationState): MigrationState => withAutomaticPause(state, AUTOMATIC);
const reasonsOf = (state: MigrationState) => pausesOf(state).map(({ reason }) => reason);
const progressAt = (state: MigrationState) => progressOf(migrationPlan(), state);

const PAUSED_BY_CLIENT = decideAll(MOVING, pause('client'));
const BOTH = ['the key is refused', 'client stop'];

test('a pause by a person and an automatic pause are both kept, in either order', () => {
  expect(reasonsOf(stopped(PAUSED_BY_CLIENT))).toEqual(BOTH);
  expect(reasonsOf(decideAll(stopped(MOVING), pause('client')))).toEqual(BOTH);
  expect(reasonsOf(stopped(stopped(PAUSED_BY_CLIENT)))).toEqual(BOTH);
});

test('all views show both pauses', () => {
  const progress = progressAt(stopped(PAUSED_BY_CLIENT));
  expect(progress).toMatchObject({ state: 'paused', pause: { stopReason: 'key-refused' } });
  expect(progress.pauses?.map(({ by }) => by)).toEqual([null, 'Cleo']);
  expect(pausedTexts(progress)).toEqual(['by Cleo (client) since 2026-03-02 10:00 UTC: client stop']);
  expect(progress.waitingFor.what).toMatch(/then resume; the client also paused the migration$/);
  const page = currentDetails(progress, { now: LATER });
  expect(page).toContain('support is looking at this problem. Also paused by Cleo.');
  expect(page).toContain('**Paused:** by Cleo (client) since');
});

test('support lifts all pauses, and the client only pauses by people', () => {
  const state = stopped(decideAll(PAUSED_BY_CLIENT, pause('support')));
  const bySupport = decideOne(state, resume('support'));
  expect(bySupport.outcome.text).toBe(
    'resumed (lifted the automatic pause, the pause by Cleo (client), and the pause by Sam (support))',
  );
  expect(isPaused(bySupport.state)).toBe(false);
  const byClient = decideOne(state, resume('client'));
  expect(byClient.outcome).toMatchObject({ applied: true, text: expect.stringContaining('stays paused') as string });
  expect(reasonsOf(byClient.state)).toEqual(['the key is refused']);
  expect(answerTo(byClient.state, resume('client'))).toBe('only support can resume a migration that paused itself');
});

test('in self-service, the client lifts all pauses', () => {
  const state = stopped({ ...PAUSED_BY_CLIENT, route: 'self-service' });
  expect(isPaused(decideAll(state, resume('client')))).toBe(false);
});

test('a resume is refused if the pauses in effect are not those that it names', () => {
  const seen = digestOfPauses(pausesOf(stopped(MOVING)));
  const { outcome } = decideOne(decideAll(stopped(MOVING), pause('client')), resume('support', seen));
  expect(outcome.text).toBe('the pauses have changed since you reviewed them; review them again before you resume');
  expect(isReviewChanged(outcome)).toBe(true);
  expect(decideOne(stopped(MOVING), resume('support', seen)).outcome.applied).toBe(true);
});

test('the digest is the same after the pauses were read as JSON', () => {
  const pauses = pausesOf(stopped(PAUSED_BY_CLIENT));
  expect(digestOfPauses(JSON.parse(JSON.stringify(pauses)) as Pause[])).toBe(digestOfPauses(pauses));
});

test('the pause that an earlier version carried over is kept, shown and lifted like other pauses', () => {
  const { pausesByPeople: _, ...earlier } = MOVING;
  const carried: MigrationState = { ...earlier, pause: { reason: 'lunch', by: 'Sam', stopReason: null, at: AT } };
  expect(reasonsOf(stopped(carried))).toEqual(['the key is refused', 'lunch']);
  expect(pausedTexts(progressAt(carried))).toEqual(['by Sam since 2026-03-02 09:00 UTC: lunch']);
  expect(isPaused(decideAll(carried, resume('client')))).toBe(false);
  expect(reasonsOf(decideAll(carried, pause('client')))).toEqual(['lunch', 'client stop']);
});

test('a pause that the ledger refuses is undone, and the automatic pause remains', () => {
  const { state, outcome } = decideOne(MOVING, pause('client'));
  const carried = JSON.parse(JSON.stringify(stopped(state))) as MigrationState;
  const undone = withLedgerOutcomes(carried, [{ ...outcome, applied: false, text: 'no' }], DEFAULT_DECISION_RULES);
  expect(reasonsOf(undone)).toEqual(['the key is refused']);
});

test('a pause counts as a pause of others if it is from the other side, or from an unknown side', () => {
  const pauses = pausesOf(stopped(decideAll(PAUSED_BY_CLIENT, pause('support'))));
  expect(pausesOfOthers(pauses, 'support', 'Sam').map(({ by }) => by)).toEqual(['Cleo']);
  expect(pausesOfOthers(pauses, 'client', 'Clara').map(({ by }) => by)).toEqual(['Sam']);
  const unknown: Pause = { reason: 'lunch', by: 'Mia', stopReason: null, at: AT };
  expect(pausesOfOthers([unknown], 'support', 'Sam')).toEqual([unknown]);
});

test('in the portal, the client can pause a migration that has paused itself, and lift only pauses by people', () => {
  const actionsAt = (state: MigrationState) =>
    actionsOf(
      progressAt(state),
      { canSeal: true, isRotating: true, unconfirmedFirst: null, applications: null, changedSinceSignOff: [] },
      LATER,
    ).filter(({ message }) => ['pause', 'resume'].includes(message));
  expect(actionsAt(stopped(MOVING)).map(({ message }) => message)).toEqual(['pause']);
  const [lift, ...others] = actionsAt(stopped(decideAll(PAUSED_BY_CLIENT, pause('support'))));
  expect(others).toEqual([]);
  expect(lift).toMatchObject({
    title: 'Lift the pause',
    overrides: 'This lifts the pause of Sam (support)',
    consequence: expect.stringContaining('The migration stays paused') as string,
  });
  expect(actionsAt(PAUSED_BY_CLIENT)[0]).not.toHaveProperty('overrides');
});

test('every view shows the current advice about an automatic pause, but its digest keeps the stored text', () => {
  const reason = stopReasonText('wrong-organization', 'acme-1 (Acme)');
  const automatic: Pause = { reason, by: null, stopReason: 'wrong-organization', at: LATER };
  const paused = withAutomaticPause(MOVING, automatic);
  const advice =
    /organization other than the one in the manifest \(acme-1 \(Acme\)\); the output of ferry exceptions lists the companies; if rows of the manifest have shifted by one, correct them, .*; then resume$/;
  expect(waitingForOf(paused).what).toMatch(advice);
  expect(pauseText(automatic)).toMatch(advice);
  expect(pauseFact({ ...progressAt(paused), route: 'self-service' }, automatic)).toMatch(advice);
  expect(progressAt(paused).pause?.reason).toBe(reason);
});

test('many companies do not hide what to do about an automatic pause', () => {
  const reason = stopReasonText('wrong-organization', 'acme-1 (Acme), '.repeat(200));
  expect(pauseText({ reason, by: null, stopReason: 'wrong-organization', at: LATER })).toMatch(/; then resume$/);
});
