/**
 * Tests an application that replaces the application that support has accepted, and a manifest that is supplied after
 * the start.
 */
import { NO_DECISIONS, withDecision } from '../../../domain/decisions/release';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { shownStopText, stopReasonText } from '../../../domain/companies/failures';
import { digestOf } from '../../../domain/decisions/guards';
import { progressOf } from '../../../domain/progress/progress';
import { waitingForOf } from '../../../domain/progress/waiting-for';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { taskOf } from '../../../presentation/wording/client-page';
import { statusLine } from '../../../presentation/wording/status-line';
import {
  answerTo,
  approve,
  AT,
  counts,
  decideAll,
  decideOne,
  firstCompany,
  LATER,
  migrationPlan,
  preflight,
  reject,
  stateAt,
} from '../../support/migrations/migration-states';

describe('another application', () => {
  const supply = { kind: 'application-supplied', role: 'client', clientId: 'b', environment: 'production' } as const;
  const accepted = { steps: { 'supply-details': { openedAt: AT, endedAt: AT } } };
  const answer = (state: MigrationState): string => answerTo(state, supply);

  test.each(['schedule', 'update-application', 'disable-syncing'] as const)(
    'is refused at %s, because support has accepted the other application',
    (step) => {
      expect(answer(stateAt(step, accepted))).toContain('support or the client must first reject step 1');
    },
  );

  test('can be supplied between a rejection and a new approval of the details, as the refusal says', () => {
    const scheduled = stateAt('schedule', accepted);
    expect(answer(scheduled)).toBe(
      'the details have been accepted; to change them, support or the client must first reject step 1, and support must approve it again after the change',
    );
    expect(answer(decideAll(scheduled, reject('supply-details', 'support')))).toBe('applied');
  });

  test('can be supplied once companies are being moved, because nothing else corrects a wrong application', () => {
    const moving = { ...accepted, counts: counts({ total: 2, moved: 1, waiting: 1 }), firstCompany: firstCompany() };
    expect(answer(stateAt('complete-migration', moving))).toBe('applied');
  });

  test('can be supplied before the first company if the platform has rejected the accepted application', () => {
    const reason = 'application-refused';
    const pause = { reason: stopReasonText(reason), by: null, stopReason: reason, at: AT } as const;
    const rejected = stateAt('migrate-first-company', { ...accepted, pause, replacesRejected: true });
    expect(answer(rejected)).toBe('applied');
    // A history of an earlier version contains the refusal, which a replay must repeat.
    const { replacesRejected: _, ...earlier } = rejected;
    expect(answer(earlier)).toContain('must first reject step 1');
    // After a resume, the application is no longer known to be wrong.
    expect(answer({ ...rejected, pause: null })).toContain('must first reject step 1');
    const otherPause = { ...pause, stopReason: 'account-limit' } as const;
    expect(answer({ ...rejected, pause: otherPause })).toContain('must first reject step 1');
  });

  test('that was supplied again after the platform rejected it leaves only the resume to do', () => {
    const reason = 'application-refused';
    const pause = { reason: stopReasonText(reason), by: null, stopReason: reason, at: AT } as const;
    const rejected = stateAt('migrate-first-company', { ...accepted, pause, replacesRejected: true });
    const advice = shownStopText(reason);
    expect(waitingForOf(rejected).what).toContain(advice);
    const supplied = decideAll(rejected, supply);
    const corrected = { ...supplied, changesChecked: supplied.changes };
    const RESUME = 'the application was supplied again after the platform rejected it; resume the migration';
    expect(waitingForOf(corrected)).toEqual({ roles: ['support'], what: RESUME });
    expect(waitingForOf(supplied).what).toContain(advice);
    const unregistered = { ...corrected, preflight: preflight({ problemCodes: ['application-not-registered'] }) };
    expect(waitingForOf(unregistered).what).toContain(advice);
    // An application that was supplied before the platform rejected it corrects nothing.
    const later = { ...corrected, pause: { ...pause, at: LATER } };
    expect(waitingForOf(later).what).toContain(advice);
    expect(waitingForOf(decideAll(corrected, { kind: 'pause', role: 'client' })).what).toBe(
      `${RESUME}; the client also paused the migration`,
    );
    const progressAt = (state: MigrationState) => progressOf(migrationPlan(), state);
    expect(statusLine(progressAt(rejected), 'Xero', LATER)).toContain(
      'Please correct the client id, client secret or environment of your application, and supply it again.',
    );
    expect(statusLine(progressAt(corrected), 'Xero', LATER)).toContain('Nothing for you to do.');
    expect(currentDetails(progressAt(rejected), { now: LATER })).toContain('ferry seal secret.txt');
    expect(currentDetails(progressAt(corrected), { now: LATER })).not.toContain('ferry seal');
  });

  test('withdraws the early approvals of step 3, which were given for the previous application', () => {
    const early = decideAll(stateAt('supply-details'), approve('update-application', 'client'));
    expect(early.approvals).toHaveLength(1);
    expect(decideAll(early, supply).approvals).toEqual([]);
    const recorded = withDecision(
      { ...NO_DECISIONS, approvals: [{ step: 'update-application', role: 'client', by: 'Cleo', at: AT }] },
      { ...supply, by: 'Cleo', decisionId: 'd' },
      AT,
    );
    expect(recorded.approvals).toEqual([]);
  });
});

describe('a manifest', () => {
  const supply = { kind: 'manifest-supplied', role: 'client', manifestDigest: 'ab'.repeat(32), companies: 3 } as const;
  const inStep1 = (changes: Partial<MigrationState> = {}): MigrationState =>
    stateAt('supply-details', { preflight: preflight(), ...changes });
  const answer = (state: MigrationState): string => answerTo(state, supply);

  test('can be supplied and replaced in step 1, and is then checked', () => {
    const { state, outcome } = decideOne(inStep1(), supply);
    expect(outcome).toMatchObject({ applied: true, text: 'the manifest has 3 companies' });
    expect(state).toMatchObject({ preflight: null, changes: 1 });
    expect(state.suppliers).toHaveLength(1);
  });

  test('cannot be replaced once support has accepted the details, a company has moved, or a company was left out', () => {
    const ended = { steps: { 'supply-details': { openedAt: AT, endedAt: AT } } };
    expect(answer(stateAt('schedule', ended))).toContain('support or the client must first reject step 1');
    expect(answer(inStep1({ counts: counts({ total: 2, moved: 1, waiting: 1 }) }))).toContain('has already begun');
    expect(answer(inStep1({ counts: counts({ total: 2, excluded: 1, waiting: 1 }) }))).toContain('left out');
  });

  test('in the self-service route is supplied only at the start', () => {
    expect(answer(inStep1({ route: 'self-service' }))).toContain('supplied at the start');
  });

  test('changes the digest of the details that support accepts', () => {
    const before = { ...inStep1(), windows: [] };
    const after = { ...before, preflight: preflight({ manifestDigest: 'm-2' }) };
    expect(digestOf('supply-details', after)).not.toBe(digestOf('supply-details', before));
  });

  test('withdraws everything that was agreed about the earlier companies', () => {
    const approvals = (['supply-details', 'schedule'] as const).map(
      (step) => ({ step, role: 'support', by: 'Sam', at: AT }) as const,
    );
    const recorded = withDecision({ ...NO_DECISIONS, approvals }, { ...supply, by: 'Cleo', decisionId: 'd' }, AT);
    expect(recorded).toMatchObject({ approvals: [], suppliers: ['Cleo'], detailsChanged: true });
  });
});

test('a migration without a manifest waits for the client, and its details cannot be accepted', () => {
  const problems = ['no manifest has been supplied yet', 'no application is registered'];
  const problemCodes = ['no-companies', 'application-missing'] as const;
  const empty = (count: number): MigrationState =>
    stateAt('supply-details', {
      preflight: preflight({
        ...{ companies: 0, manifestDigest: null, suppliedBy: null },
        ...{ problems: problems.slice(0, count), problemCodes: problemCodes.slice(0, count) },
      }),
    });
  expect(waitingForOf(empty(1))).toEqual({ roles: ['client'], what: 'supply the manifest' });
  expect(waitingForOf(empty(2)).what).toBe('supply the manifest; details to correct: no application is registered');
  const progress = progressOf(migrationPlan(), empty(2));
  expect(taskOf(progress, AT)).toEqual({
    what: 'supply the manifest, which lists the companies to move, and correct these details',
    problems: ['no application is registered'],
  });
  expect(statusLine(progress, 'Xero', AT)).toBe('Please supply the manifest and your Xero application.');
  expect(currentDetails(progress, { now: AT })).toContain('choose the manifest there');
  expect(answerTo(empty(1), approve('supply-details', 'support'))).toContain('no manifest has been supplied yet');
});
