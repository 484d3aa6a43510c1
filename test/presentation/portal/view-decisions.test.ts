/** Tests what the portal's view says about earlier decisions: rejections, and the confirmations of step 4. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { approve, counts, decideAll, reject, stateAt } from '../../support/migrations/migration-states';

import { viewOf } from './views';

test.each([
  ['complete-migration', { counts: counts({ total: 3, moved: 2, failed: 1 }) }, 'Handover rejected', 'signed off'],
  ['update-application', {}, 'Step 3 rejected', 'approved the step'],
] as const)(
  'a rejection of step %s by the client stays in the notices and in the dialog after support has approved',
  (step, changes, what, approved) => {
    const rejected = decideAll(stateAt(step, changes), { ...reject(step, 'client'), reason: 'solve M-3 first' });
    const view = viewOf(decideAll(rejected, approve(step, 'support')));
    const text = `${what} by Cleo (client) at 2026-03-02 10:00 UTC: solve M-3 first; support ${approved} afterwards`;
    expect(view.notices).toContain(text);
    expect(view.actions.find(({ message, step: of }) => message === 'approve' && of === step)?.warnings).toEqual([
      text,
    ]);
  },
);

test('the headline asks the client to check the problem for which it rejected the handover', () => {
  const atTheEnd = stateAt('complete-migration', { counts: counts({ total: 3, moved: 3 }) });
  const { headline } = viewOf(
    decideAll(atTheEnd, reject('complete-migration', 'client'), approve('complete-migration', 'support')),
  );
  expect(headline).toBe(
    'All 3 companies have moved. The handover was rejected, and support has signed off since. Please check that the problem has been resolved, and then sign off the handover.',
  );
});

test('step 4 names the people who confirmed that syncing is off', () => {
  const confirmers = { people: 3, names: ['Cleo', 'Mona', 'Nora'] };
  const stepOf = (state: MigrationState) => viewOf(state, { confirmers }).steps.find(({ number }) => number === 4);
  expect(stepOf(stateAt('migrate-first-company'))).toMatchObject({ confirmedBy: ['Cleo', 'Mona'], otherConfirmers: 1 });
  expect(stepOf(stateAt('disable-syncing'))).not.toHaveProperty('confirmedBy');
});

test('after the end, the view says when reconnections were last checked, if companies must reconnect', () => {
  const atTheEnd = (failed: number) => {
    const result = counts({ total: 3, moved: 3 - failed, failed, mustReconnect: failed });
    const reconnections = { asked: 1, answered: 1, checkedAt: '2026-03-02T09:30:00.000Z' };
    return stateAt('complete-migration', { counts: result, closed: 'completed', reconnections });
  };
  expect(viewOf(atTheEnd(1)).notices).toContain(
    'Reconnections are not checked after the end of the migration, and were last checked at 2026-03-02 09:30 UTC. 1 company still counts as "must reconnect", even if it has reconnected since.',
  );
  expect(viewOf(atTheEnd(0)).notices).toEqual([]);
  expect(viewOf({ ...atTheEnd(1), closed: null }).notices).toEqual([]);
});
