/** Tests what the portal tells the client before the client approves a step. */
import { stopReasonText } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import type { ApplicationsOfMoved } from '../../../domain/preflight/applications';
import { progressOf } from '../../../domain/progress/progress';
import { actionsOf } from '../../../presentation/portal/actions';
import type { ActionView } from '../../../presentation/portal/candidate';
import {
  approve,
  AT,
  counts,
  decideAll,
  firstCompany,
  LATER,
  migrationPlan,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';

const FACTS = { canSeal: true, isRotating: true, unconfirmedFirst: null, changedSinceSignOff: [] };
const actionsAt = (state: MigrationState, applications: ApplicationsOfMoved | null = null): readonly ActionView[] =>
  actionsOf(progressOf(migrationPlan(), state), { ...FACTS, applications }, LATER);
const last = (changes: Parameters<typeof counts>[0], more: Partial<MigrationState> = {}): MigrationState =>
  stateAt('complete-migration', { counts: counts(changes), firstCompany: firstCompany(), ...more });
/**
 * Returns the facts that the approval of the start shows, after support has proposed a start and these changes were
 * made.
 */
const factsOfStart = (changes: Partial<MigrationState>) =>
  actionsAt({ ...decideAll(stateAt('schedule'), proposeTime('support')), ...changes }).find(
    ({ message, step }) => message === 'approve' && step === 'schedule',
  )?.facts;

test('a sign-off says what was moved and what was not', () => {
  const [signOff] = actionsAt(last({ total: 1_200, moved: 1_190, failed: 7, mustReconnect: 6, excluded: 3 }));
  expect(signOff).toMatchObject({
    title: 'Sign off the handover',
    isIrreversible: false,
    consequence: expect.stringContaining('Until then, you can still reject the handover.') as string,
    facts: [
      '1,190 of 1,200 companies moved',
      '6 companies must reconnect. Reconnections have not been checked yet',
      '1 company was not moved',
      '3 companies were left out',
    ],
  });
});

test('a sign-off cannot be undone once support has signed off', () => {
  const [signOff] = actionsAt(decideAll(last({ total: 3, moved: 3 }), approve('complete-migration', 'support')));
  expect(signOff).toMatchObject({
    isIrreversible: true,
    consequence: expect.stringContaining('Support has signed off already, so the migration then ends') as string,
  });
});

test('a sign-off and its rejection name the companies whose application was replaced', () => {
  const application = (clientId: string) => ({ clientId, environment: 'production' });
  const moved = (clientId: string, ...references: readonly string[]) => ({
    ...{ application: application(clientId), companies: references.length, references },
  });
  const warningsOf = (applications: ApplicationsOfMoved | null) =>
    actionsAt(last({ total: 3, moved: 3 }), applications)
      .filter(({ step }) => step === 'complete-migration')
      .map(({ warnings }) => warnings);
  const old = moved('other-app', 'M-1', 'M-2');
  const replaced = { moved: [old], replaced: [old], registered: application('new-app') };
  const warning =
    '2 companies (M-1, M-2) were connected with other-app (production), but new-app (production) is registered now, so the service can no longer refresh their tokens; keep your application other-app (production), and ask support to register it again, or let their end customers reconnect with their links instead';
  expect(warningsOf(replaced)).toEqual([[warning], [warning]]);
  const others = { ...replaced, moved: [old, moved('new-app', 'M-3', 'M-4')] };
  expect(warningsOf(others)[0]?.[0]).toMatch(
    /; let their end customers reconnect with their links, and keep new-app \(production\) registered/,
  );
  expect(warningsOf({ ...replaced, replaced: [] })).toEqual([undefined, undefined]);
  expect(warningsOf(null)).toEqual([undefined, undefined]);
});

test('a decision that completes an agreement says whether support has made it already', () => {
  const consequenceAt = (state: MigrationState, step: string) =>
    actionsAt(state).find((each) => each.message === 'approve' && each.step === step)?.consequence;
  const signOff = last({ total: 1, moved: 1 });
  expect(consequenceAt(signOff, 'complete-migration')).toContain('Once support has signed off too, the migration ends');
  expect(consequenceAt(decideAll(signOff, approve('complete-migration', 'support')), 'complete-migration')).toContain(
    'Support has signed off already, so the migration then ends',
  );
  const start = decideAll(stateAt('schedule'), proposeTime('support'));
  expect(consequenceAt(start, 'schedule')).toContain('Once support has approved the start too');
  expect(consequenceAt(decideAll(start, approve('schedule', 'support')), 'schedule')).toContain(
    'Support has already approved the start',
  );
});

test('a sign-off says when companies were last checked for reconnections', () => {
  const reconnections = { asked: 0, answered: 0, checkedAt: AT };
  const [signOff] = actionsAt(last({ total: 2, moved: 1, failed: 1, mustReconnect: 1 }, { reconnections }));
  expect(signOff?.facts).toContain('1 company must reconnect. Reconnections were last checked at 2026-03-02 09:00 UTC');
});

test('the approval of the start says what it starts', () => {
  const approvalOf = (waiting: number, heldBack = 0) => factsOfStart({ counts: counts({ waiting, heldBack }) });
  expect(approvalOf(62, 2)).toEqual([
    expect.stringMatching(/^Start: .*, proposed by /),
    expect.stringMatching(/^Moves can begin /),
    'Starts the move of 60 companies. One company moves first, and the others follow once support has approved its move',
  ]);
  expect(approvalOf(1)).toContain('Starts the move of 1 company');
});

test('the approval of the start names one expected end if both ends are in the same minute', () => {
  const end = '2026-03-07T20:08:00.000Z';
  const endsAt = (latest: string) => {
    const work = estimate({
      volume: {
        ...{ companies: 1, records: 0, companiesWithoutVolume: 0, largestCompany: 0, largestFamily: 0 },
        staleSince: null,
      },
      limits: DEFAULT_LIMITS,
      speedEstimate: ASSUMED_SPEED,
      from: AT,
    });
    return factsOfStart({
      counts: counts({ total: 1, waiting: 1 }),
      estimate: { ...work, ends: { earliest: end, latest } },
    });
  };
  expect(endsAt(end)).toContain('Expected end: about 2026-03-07 20:08 UTC');
  expect(endsAt('2026-03-07T20:12:00.000Z')).toContain(
    'Expected end: between 2026-03-07 20:08 UTC and 2026-03-07 20:12 UTC',
  );
});

test('a decision about a pause says what to correct if the client can correct it', () => {
  const reason = 'application-refused';
  const pause = { reason: stopReasonText(reason), by: null, stopReason: reason, at: AT } as const;
  const actions = actionsAt(last({ total: 9, moved: 4, waiting: 5 }, { pause }));
  expect(actions.find(({ message }) => message === 'pause')?.facts[0]).toContain(
    "correct the application's secret (or, if no company has moved with it, its client id or environment), or supply credentials that it obtained",
  );
});

test('while the platform rejects the application, the first decision in step 5 is to supply it again', () => {
  const reason = 'application-refused';
  const pause = { reason: stopReasonText(reason), by: null, stopReason: reason, at: AT } as const;
  const steps = { 'supply-details': { openedAt: AT, endedAt: AT } };
  const rejected = stateAt('migrate-first-company', { steps, pause, replacesRejected: true });
  expect(actionsAt(rejected)[0]).toMatchObject({ message: 'applicationSupplied', isExpected: true });
  const supply = { kind: 'application-supplied', role: 'client', clientId: 'a', environment: 'production' } as const;
  const again = actionsAt(decideAll(rejected, supply)).find(({ message }) => message === 'applicationSupplied');
  expect(again).toMatchObject({ isExpected: false });
});

test('a decision about a pause limits the text about the companies, but keeps what the client can do', () => {
  const reason = 'wrong-organization';
  const companies = `acme-1: ${'belongs to another organization\n'.repeat(100)}`;
  const pause = { reason: stopReasonText(reason, companies), by: null, stopReason: reason, at: AT } as const;
  const actions = actionsAt(last({ total: 9, moved: 4, waiting: 5 }, { pause }));
  const [fact = ''] = actions.find(({ message }) => message === 'pause')?.facts ?? [];
  expect(fact).toContain(' (acme-1: belongs to another organization belongs');
  expect(fact).toMatch(/\.\.\.\); if rows of the manifest .*; otherwise, replace only the wrong credentials$/);
  expect(fact.length).toBeLessThan(1_100);
  expect(fact).not.toContain('\n');
});

test("a decision about a pause does not tell the client of a managed migration to lift support's pause", () => {
  const reason = 'too-many-failures';
  const pause = { reason: stopReasonText(reason, '5 of 9'), by: null, stopReason: reason, at: AT } as const;
  const actions = actionsAt(last({ total: 9, failed: 5, waiting: 4 }, { pause }));
  expect(actions.find(({ message }) => message === 'pause')?.facts[0]).toBe(
    'Already paused automatically since 2026-03-02 09:00 UTC: 5 companies could not be moved',
  );
});

test('a decision about a pause says why the migration paused itself, without instructions for operators', () => {
  const bySupport = { reason: 'a public holiday', by: 'Sam', role: 'support', stopReason: null, at: AT } as const;
  const itself = { reason: stopReasonText('key-refused'), by: null, stopReason: 'key-refused', at: AT } as const;
  const actions = actionsAt(last({ total: 9, moved: 4, waiting: 5 }, { pause: itself, pausesByPeople: [bySupport] }));
  expect(actions.find(({ message }) => message === 'resume')?.facts).toEqual([
    'Paused automatically since 2026-03-02 09:00 UTC: the Company Data Service refuses access',
    'Paused by Sam (support) since 2026-03-02 09:00 UTC: a public holiday',
  ]);
  expect(actions.find(({ message }) => message === 'pause')?.facts[0]).toBe(
    'Already paused automatically since 2026-03-02 09:00 UTC: the Company Data Service refuses access',
  );
});

test.each([
  [null, 'with no limit on companies per minute'],
  [1, 'at most 1 company a minute'],
])('the change of the limits shows the limit on companies per minute (%p)', (companiesPerMinute, pace) => {
  const state = last({ total: 3, waiting: 3 }, { route: 'self-service' });
  const actions = actionsOf(
    { ...progressOf(migrationPlan(), state), companiesPerMinute },
    { ...FACTS, applications: null },
    LATER,
  );
  expect(actions.find(({ message }) => message === 'adjust')?.facts).toEqual([`Now: at any time, ${pace}`]);
});
