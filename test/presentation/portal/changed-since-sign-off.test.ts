/** Tests what the portal tells the client about outcomes that have changed since a sign-off. */
import type { Role } from '../../../domain/migration/steps';
import type { ChangedSinceSignOff } from '../../../domain/progress/sign-off-changes';
import { approve, AT, counts, decideAll } from '../../support/migrations/migration-states';
import { last } from './offered-actions';
import { viewOf } from './views';

const HANDOVER = last({ total: 3, moved: 2, failed: 1 });

const changeSince = (role: Role): ChangedSinceSignOff => ({
  ...{ role, by: role === 'client' ? 'Cleo' : 'Sam', at: AT },
  changed: [{ state: 'not-moved', companies: 1, references: ['E-3'] }],
});

const SINCE = 'Since your sign-off at 2026-03-02 09:00 UTC, these outcomes are new: not moved: E-3.';

test('a client who has signed off reads what has changed since, and can reject the handover', () => {
  const state = decideAll(HANDOVER, approve('complete-migration', 'client'));
  const { notices, actions } = viewOf(state, { changedSinceSignOff: [changeSince('client')] });
  expect(notices).toContain(
    `${SINCE} If you no longer accept the result, reject the handover; your sign-off then no longer counts.`,
  );
  expect(actions.map(({ title }) => title)).toContain('Reject the handover');
  expect(viewOf(state).notices.join()).not.toContain('sign-off');
});

test('before the client signs off, a warning says that support has signed off before the change', () => {
  const state = decideAll(HANDOVER, approve('complete-migration', 'support'));
  const { notices, actions } = viewOf(state, { changedSinceSignOff: [changeSince('support')] });
  expect(actions.find(({ title }) => title === 'Sign off the handover')?.warnings).toEqual([
    'Support signed off at 2026-03-02 09:00 UTC, before these outcomes: not moved: E-3.',
  ]);
  expect(notices.join()).not.toContain('E-3');
});

test('after the end, the client reads what has changed, but not that it can reject the handover', () => {
  const state = { ...HANDOVER, counts: counts({ total: 3, moved: 2, failed: 1 }), closed: 'completed' } as const;
  const changedSinceSignOff = [changeSince('client'), changeSince('support')];
  expect(viewOf(state, { changedSinceSignOff }).notices).toContain(SINCE);
});
