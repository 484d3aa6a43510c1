/** The self-service route: what the client decides, what there is not, and how it ends. */
import type { Counts } from '../../../domain/companies/company-state';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { headline } from '../../../domain/progress/headline';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { newMigration } from '../../../domain/migration/migration-state';
import { nextNotice, waitOf } from '../../../domain/progress/notices';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { progressOf, waitingForOf } from '../../../domain/progress/progress';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import type { Undecided } from '../../support/migration-states';
import { approve, AT, counts, deciding, preflight, proposeTime, reject } from '../../support/migration-states';

const plan = {
  migrationId: 'acme.xero',
  route: 'self-service',
  client: 'acme',
  platformKey: 'gbol',
  contact: 'the solutions team',
  firstCompany: null,
  limits: DEFAULT_LIMITS,
  decisions: DEFAULT_DECISION_RULES,
} as const;

const begun = withStepOpened(newMigration(plan), 'supply-details', AT);
const checked = (problems: readonly string[] = []): MigrationState => ({
  ...begun,
  preflight: preflight({ problems }),
});
const moving = (some: Partial<Counts>): MigrationState => ({
  ...withStepEnded(checked(), 'supply-details', AT),
  counts: counts({ total: 3, ...some }),
});

test('what was supplied is checked, and moved next: there is nothing between', () => {
  expect(isStepComplete(begun, 'supply-details')).toBe(false);
  expect(isStepComplete(checked(['no room']), 'supply-details')).toBe(false);
  expect(isStepComplete(checked(), 'supply-details')).toBe(true);
  expect(moving({}).step).toBe('complete-migration');
});

test.each<[string, Partial<Counts>, boolean]>([
  ['nothing is known yet', { total: 0 }, false],
  ['a company waits', { migrated: 2, waiting: 1 }, false],
  ['a company syncs', { migrated: 2, syncing: 1 }, false],
  ['of a company nothing is known', { migrated: 2, outcomeUnknown: 1 }, false],
  ['a company has failed', { migrated: 2, failed: 1 }, false],
  ['all are moved or settled', { migrated: 1, skipped: 1, excluded: 1 }, true],
])('it ends by itself when nothing is left to decide: %s', (_, some, ends) => {
  expect(isStepComplete(moving(some), 'complete-migration')).toBe(ends);
});

test('it does not end while a decision has not reached the ledger', () => {
  const { state } = deciding(moving({ migrated: 3 }), {
    kind: 'manifest-amended',
    role: 'client',
    added: 1,
    corrected: 0,
  });
  expect(isStepComplete(state, 'complete-migration')).toBe(false);
});

test.each<[string, Undecided]>([
  ['an approval', approve('supply-details', 'support')],
  ['a sign-off', approve('complete-migration', 'client')],
  ['a rejection', reject('supply-details', 'support')],
  ['a time', proposeTime('support')],
  ['a first company', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ['a confirmation', { kind: 'sync-disabled', role: 'client', companies: 'all' }],
])('%s is about nothing, and refused', (_, decision) => {
  expect(deciding(checked(), decision).outcome).toMatchObject({ applied: false });
  expect(deciding(moving({ migrated: 3 }), decision).outcome).toMatchObject({ applied: false });
});

test.each<[string, Undecided]>([
  ['tries again', { kind: 'retry', role: 'client', companies: 'all' }],
  ['looks for whoever connects again', { kind: 'relink', role: 'client', companies: ['acme-1'] }],
  ['gives up', { kind: 'skip', role: 'client', companies: ['acme-1'], reason: 'sold' }],
  ['gives a new credential', { kind: 'replace-credential', role: 'client', companies: ['acme-1'] }],
  ['sets the limits', { kind: 'adjust', role: 'client', limits: { slicesAtOnce: 1 } }],
  ['cancels', { kind: 'cancel', role: 'client', reason: 'sold' }],
])('the client %s: it is alone', (_, decision) => {
  expect(deciding(moving({ migrated: 2, failed: 1 }), decision).outcome).toMatchObject({ applied: true });
});

test('what stopped by itself is resumed by the client', () => {
  const pause = { reason: 'the key is refused', by: null, stop: 'key-refused', at: AT } as const;
  const stopped = { ...moving({ waiting: 3 }), pause };
  expect(waitingForOf(stopped)).toEqual({ roles: ['client'], what: 'paused: the key is refused' });
  expect(deciding(stopped, { kind: 'resume', role: 'client' }).state.pause).toBeNull();
});

test('what was found wrong is checked again by trying again, before anything is moved', () => {
  const { state, outcome } = deciding(checked(['no room']), { kind: 'retry', role: 'client', companies: 'all' });
  expect(outcome).toMatchObject({ applied: true, text: 'what was supplied is checked again' });
  expect(state.preflight).toBeNull();
});

test.each<[string, MigrationState, readonly string[], string]>([
  ['while it is checked', begun, [], 'the supplied details are being checked'],
  ['with something wrong', checked(['no room']), ['client'], 'details to correct: no room'],
  ['with nothing wrong', checked(), [], 'the companies are moved now'],
  ['while companies are moved', moving({ waiting: 3 }), [], 'the remaining companies are being moved'],
  [
    'without credentials',
    moving({ waiting: 3, withoutCredential: 3 }),
    ['client'],
    'supply the credentials of 3 companies',
  ],
  [
    'with one of unknown outcome',
    moving({ migrated: 2, outcomeUnknown: 1 }),
    ['client'],
    'settle 1 company whose outcome is unknown',
  ],
  ['with one that failed', moving({ migrated: 2, failed: 1 }), ['client'], 'say what becomes of 1 company not moved'],
  ['when nothing is left', moving({ migrated: 3 }), [], 'every company is moved or settled: the migration ends'],
])('%s it says who is waited for: the client, or nobody', (_, state, roles, what) => {
  expect(waitingForOf(state)).toEqual({ roles, what });
});

test('the client is reminded in hours, from the start on: its data is dark', () => {
  const wrong = checked(['no room']);
  const wait = waitOf(wrong, null, AT);
  const { firstAfterMs } = DEFAULT_LIMITS.remindWhileDark;
  expect(wait && nextNotice(wrong, wait).dueAt).toBe(new Date(Date.parse(AT) + firstAfterMs).toISOString());
});

test('right after a decision nobody is waited for: what it does is not known yet', () => {
  const failed = moving({ migrated: 2, failed: 1 });
  const { state } = deciding(failed, { kind: 'retry', role: 'client', companies: 'all' });
  expect(waitingForOf(state).roles).toEqual([]);
});

test('what people read speaks of no steps, no first company and no sign-off', () => {
  for (const state of [
    begun,
    checked(['no room']),
    moving({ waiting: 2, migrated: 1 }),
    moving({ migrated: 2, failed: 1 }),
  ]) {
    const progress = progressOf(plan, state);
    expect(`${headline(progress)}\n${currentDetails(progress)}`).not.toMatch(
      /step|first company|sign off|switched off yet/i,
    );
  }
  expect(headline(progressOf(plan, begun))).toBe('self-service, checking what was supplied');
});
