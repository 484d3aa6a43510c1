/** Tests who must act on a migration, according to the dashboard, and how many migrations its title counts. */
import { statusGroup } from '../../../cli/dashboard/state';
import { progressOf } from '../../../domain/progress/progress';
import { AT, migrationPlan } from '../../support/migrations/migration-states';
import { linesOf, moving, row, RUNNING, stateOf } from './dashboard-states';

test('a paused migration is for support, but in self-service for the client', () => {
  const paused = { state: 'paused', waitingFor: 'client' } as const;
  expect(statusGroup(row('a.wave', paused))).toBe('support');
  expect(statusGroup(row('a.wave', { ...paused, step: 'self-service' }))).toBe('client');
});

test('a migration whose client has an unconfirmed key is for support, and the list says so', () => {
  const withKey = { ...moving, keysToConfirm: ['Cleo'] };
  expect(statusGroup(withKey)).toBe('support');
  expect(statusGroup(row('a.wave', { keysToConfirm: ['Cleo'] }))).toBe('support');
  const lines = linesOf(stateOf([withKey]));
  expect(lines[0]).toContain('1 open: support 1, running 0, client 0');
  // The number before the bar is the rate: the migration is still moving companies.
  expect(lines.find((line) => line.includes('▸'))).toMatch(/ 6\/6 support .* 703\/1203 +41 /);
  expect(lines.join(' ')).toContain(
    'moving.wave: the remaining companies are being moved. Meanwhile waiting for support: confirm the key of Cleo',
  );
});

test('the title counts migrations that are on hold separately, and fits the narrowest terminal', () => {
  const outage = { why: 'answered 503', since: AT, until: AT };
  const held = { ...moving, progress: progressOf(migrationPlan(), { ...RUNNING, outage }) };
  const rowsOf = (count: number, each: typeof moving) =>
    Array.from({ length: count }, (_, index) => ({ ...each, migrationId: `${each.migrationId}${index}` }));
  const rows = [...rowsOf(9, row('s', { waitingFor: 'support' })), ...rowsOf(9, { ...moving, migrationId: 'm' })];
  const state = stateOf([...rows, ...rowsOf(9, held), ...rowsOf(9, row('c'))]);
  const [title = ''] = linesOf(state, { columns: 76, rows: 24 });
  expect(title).toMatch(/^Ferry dashboard {2}36 open: support 9, running 9, on hold 9, client 9 +22:04:11$/);
});

test('the title does not say how many migrations are on hold before the progress of each was read', () => {
  const outage = { why: 'answered 503', since: AT, until: AT };
  const held = { ...moving, migrationId: 'h', progress: progressOf(migrationPlan(), { ...RUNNING, outage }) };
  const unread = { ...moving, migrationId: 'u', progress: null };
  const [title = ''] = linesOf(stateOf([held, moving, unread, row('c')]));
  expect(title).toMatch(/^Ferry dashboard {2}4 open: support 0, running or on hold 3, client 1 /);
});
