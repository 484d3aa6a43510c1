/** Tests the self-service route: the client's decisions, the decisions that do not apply, and how a migration ends. */
import type { Counts } from '../../../domain/companies/counts';
import { shownStopText } from '../../../domain/companies/failures';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { headline, progressOf } from '../../../domain/progress/progress';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { newMigration, type MigrationState } from '../../../domain/migration/migration-state';
import { resumptionText } from '../../../domain/progress/retried';
import { statusLine } from '../../../presentation/wording/status-line';
import { nextNotice, waitOf } from '../../../domain/progress/notices';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { isStepComplete, withStepEnded, withStepOpened } from '../../../domain/decisions/step-transitions';
import {
  answerTo,
  approve,
  AT,
  counts,
  decideOne,
  preflight,
  proposeTime,
  reject,
  type DecisionDraft,
} from '../../support/migrations/migration-states';

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

const started = withStepOpened(newMigration(plan), 'supply-details', AT);
const checked = (problems: readonly string[] = []): MigrationState => ({
  ...started,
  preflight: preflight({ problems }),
});
const moving = (changes: Partial<Counts>): MigrationState => ({
  ...withStepEnded(checked(), 'supply-details', AT),
  counts: counts({ total: 3, ...changes }),
});

test('the first step ends as soon as the supplied details have no problems', () => {
  expect(isStepComplete(started, 'supply-details')).toBe(false);
  expect(isStepComplete(checked(['no room']), 'supply-details')).toBe(false);
  expect(isStepComplete(checked(), 'supply-details')).toBe(true);
  expect(moving({}).step).toBe('complete-migration');
});

test.each<[string, Partial<Counts>, boolean]>([
  ['no company is known yet', { total: 0 }, false],
  ['a company is waiting', { moved: 2, waiting: 1 }, false],
  ['a company is syncing', { moved: 2, syncing: 1 }, false],
  ['the outcome of a company is unknown', { moved: 2, outcomeUnknown: 1 }, false],
  ['a company has failed', { moved: 2, failed: 1 }, false],
  ['all are moved or left out', { moved: 1, skipped: 1, excluded: 1 }, true],
])('if %s (%j), the last step is complete: %s', (_, changes, ends) => {
  expect(isStepComplete(moving(changes), 'complete-migration')).toBe(ends);
});

test('the last step is not complete before every decision has been recorded', () => {
  const { state } = decideOne(moving({ moved: 3 }), {
    kind: 'manifest-amended',
    role: 'client',
    added: 1,
    corrected: 0,
  });
  expect(isStepComplete(state, 'complete-migration')).toBe(false);
});

test.each<[string, DecisionDraft]>([
  ['an approval', approve('supply-details', 'support')],
  ['a sign-off', approve('complete-migration', 'client')],
  ['a rejection', reject('supply-details', 'support')],
  ['a proposed start time', proposeTime('support')],
  ['a choice of the first company', { kind: 'first-company', role: 'support', reference: 'acme-7' }],
  ['a confirmation', { kind: 'sync-disabled', role: 'client', companies: 'all' }],
])('%s is refused', (_, decision) => {
  expect(decideOne(checked(), decision).outcome).toMatchObject({ applied: false });
  expect(decideOne(moving({ moved: 3 }), decision).outcome).toMatchObject({ applied: false });
});

test.each<[string, DecisionDraft]>([
  ['can retry companies', { kind: 'retry', role: 'client', companies: 'all' }],
  [
    'can have a company checked after its end customer has reconnected',
    { kind: 'relink', role: 'client', companies: ['acme-1'] },
  ],
  ['can skip a company', { kind: 'skip', role: 'client', companies: ['acme-1'], reason: 'sold' }],
  ['can replace a credential', { kind: 'replace-credential', role: 'client', companies: ['acme-1'] }],
  ['can change the limits', { kind: 'adjust', role: 'client', limits: { slicesAtOnce: 1 } }],
  ['can cancel the migration', { kind: 'cancel', role: 'client', reason: 'sold' }],
])('without support, the client %s', (_, decision) => {
  expect(decideOne(moving({ moved: 2, failed: 1 }), decision).outcome).toMatchObject({ applied: true });
});

test('a company can be skipped only after a check has found no errors', () => {
  const skip: DecisionDraft = { kind: 'skip', role: 'client', companies: ['acme-1'], reason: 'sold' };
  const text = 'companies can be skipped or relinked only after a check of the details has found no errors';
  for (const state of [started, checked(['no room'])]) expect(answerTo(state, skip)).toBe(text);
});

test('the client can resume a migration that paused itself', () => {
  const pause = { reason: 'the key is refused', by: null, stopReason: 'key-refused', at: AT } as const;
  const stopped = { ...moving({ waiting: 3 }), pause };
  expect(waitingForOf(stopped)).toEqual({ roles: ['client'], what: shownStopText('key-refused') });
  expect(decideOne(stopped, { kind: 'resume', role: 'client' }).state.pause).toBeNull();
});

const PAUSED_WINDOWS: MigrationState = {
  ...moving({ waiting: 3 }),
  ...{ schedule: 'paused', window: { opensAt: AT, closesAt: AT } },
};

test('while the windows are paused, the status line and the try of a company say so', () => {
  const progress = progressOf(plan, PAUSED_WINDOWS);
  expect(statusLine(progress, 'Xero', AT)).toContain(
    'The windows are paused, so no move begins until they are resumed.',
  );
  expect(resumptionText(progress)).toBe('once the windows are resumed');
});

test('before any company is moved, a retry starts another check of the details', () => {
  const { state, outcome } = decideOne(checked(['no room']), { kind: 'retry', role: 'client', companies: 'all' });
  expect(outcome).toMatchObject({ applied: true, text: 'the supplied details will be checked again' });
  expect(state.preflight).toBeNull();
});

test.each<[string, MigrationState, readonly string[], string]>([
  ['during the check', started, [], 'the supplied details are being checked'],
  ['with a problem', checked(['no room']), ['client'], 'details to correct: no room'],
  ['without problems', checked(), [], 'the companies will be moved now'],
  ['while companies are moved', moving({ waiting: 3 }), [], 'the remaining companies are being moved'],
  [
    'while the windows are paused',
    PAUSED_WINDOWS,
    ['client'],
    'resume the windows, or ask support to resume them: they are paused, so no move begins',
  ],
  [
    'without credentials',
    moving({ waiting: 3, withoutCredential: 3 }),
    ['client'],
    'supply credentials for 3 companies',
  ],
  [
    'with an unknown outcome',
    moving({ moved: 2, outcomeUnknown: 1 }),
    ['client'],
    'decide what to do about 1 company with an unknown outcome',
  ],
  [
    'with a failed company',
    moving({ moved: 2, failed: 1 }),
    ['client'],
    'decide what to do about 1 company that was not moved',
  ],
  [
    'when nothing is left',
    moving({ moved: 3 }),
    [],
    'every company has been moved or left out: the migration is ending',
  ],
])('%s, the state says who has to act and what to do', (_, state, roles, what) => {
  expect(waitingForOf(state)).toEqual({ roles, what });
});

test('from the start, the client gets reminders as frequently as if data were out of date', () => {
  const wrong = checked(['no room']);
  const wait = waitOf(wrong, null, AT);
  const { firstAfterMs } = DEFAULT_LIMITS.remindWhileStale;
  expect(wait && nextNotice(wrong, wait).dueAt).toBe(new Date(Date.parse(AT) + firstAfterMs).toISOString());
});

test('neither side has to act until a decision has reached the ledger', () => {
  const failed = moving({ moved: 2, failed: 1 });
  const { state } = decideOne(failed, { kind: 'retry', role: 'client', companies: 'all' });
  expect(waitingForOf(state).roles).toEqual([]);
});

test('the headline and the current details do not mention steps, a first company or a sign-off', () => {
  for (const state of [
    started,
    checked(['no room']),
    moving({ waiting: 2, moved: 1 }),
    moving({ moved: 2, failed: 1 }),
  ]) {
    const progress = progressOf(plan, state);
    expect(`${headline(progress)}\n${currentDetails(progress, { now: AT })}`).not.toMatch(
      /step|first company|sign off|switched off yet/i,
    );
  }
  expect(headline(progressOf(plan, started))).toBe('self-service, checking the supplied details');
});

test('the headline of a paused migration says whether its details are being checked or have to be corrected', () => {
  const headlineOf = (state: MigrationState) =>
    headline(progressOf(plan, decideOne(state, { kind: 'pause', role: 'client' }).state));
  expect(headlineOf(started)).toBe('self-service, checking the supplied details (paused)');
  expect(headlineOf(checked(['no room']))).toBe('self-service, waiting for corrected details (paused)');
});
