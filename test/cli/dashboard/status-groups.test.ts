/** Tests who must act on a migration, according to the dashboard: support or the client. */
import { statusGroup } from '../../../cli/dashboard/state';
import { row } from './dashboard-states';

test('a paused migration is for support, but in self-service for the client', () => {
  const paused = { state: 'paused', waitingFor: 'client' } as const;
  expect(statusGroup(row('a.wave', paused))).toBe('support');
  expect(statusGroup(row('a.wave', { ...paused, step: 'self-service' }))).toBe('client');
});
