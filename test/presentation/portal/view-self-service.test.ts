/** Tests the portal's view of a self-service migration. */
import { stopReasonText } from '../../../domain/companies/failures';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { terminatedProgress } from '../../../domain/progress/terminated';
import { momentText } from '../../../domain/text/sentences';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { AT, counts, LATER, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';

import { FACTS, viewOf } from './views';

const SELF_SERVICE: readonly (readonly [string, Partial<MigrationState>])[] = [
  ['companies are moving', { counts: counts({ total: 4, waiting: 2, importing: 1, moved: 1 }) }],
  ['companies lack credentials', { counts: counts({ total: 4, waiting: 2, withoutCredential: 2, moved: 2 }) }],
  ['companies are held back', { counts: counts({ total: 4, waiting: 2, heldBack: 2, moved: 2 }) }],
  ['companies were not moved', { counts: counts({ total: 4, failed: 2, mustReconnect: 1, moved: 2 }) }],
  ['an outcome is unknown', { counts: counts({ total: 4, outcomeUnknown: 1, moved: 3 }) }],
  ['it has paused itself', { pause: { reason: 'a test', by: null, stopReason: 'too-many-failures', at: AT } }],
  ['it has ended', { closed: 'completed', counts: counts({ total: 4, failed: 1, moved: 3 }) }],
];

test.each(SELF_SERVICE)('does not mention anything that self-service does not have: %s', (_, changes) => {
  for (const step of ['supply-details', 'complete-migration'] as const) {
    const state = stateAt(step, { route: 'self-service', preflight: preflight(), ...changes });
    const { steps, actions, ...view } = viewOf(state);
    expect(steps).toEqual([]);
    const page = currentDetails(progressOf(migrationPlan({ route: state.route }), state), { now: LATER });
    const texts = JSON.stringify([view, actions.map(({ message: __, step: ___, digest: ____, ...shown }) => shown)]);
    for (const text of [texts, page]) {
      expect(text).not.toMatch(
        /sign(ed)?[ -]off|both sides|support (has|will|must|can|is)|first company|step \d|steps/i,
      );
    }
  }
});

test('in self-service, a migration that a person has paused waits only for the client', () => {
  const pause = { reason: 'lunch', by: 'Cleo', stopReason: null, at: AT };
  const state = stateAt('complete-migration', { route: 'self-service', pause });
  expect(viewOf(state).task?.what).toBe('Resume the migration once the pause is no longer needed.');
  const page = currentDetails(progressOf(migrationPlan({ route: state.route }), state), { now: LATER }).split('\n');
  expect(page).toContain('**Waiting for:** client');
  expect(page).toContain('**What to do:** resume the migration once the pause is no longer needed');
});

test('in self-service, the view asks only to resume if the ledger that caused the pause has been reconciled', () => {
  const pause = { reason: stopReasonText('ledger-behind'), by: null, stopReason: 'ledger-behind', at: AT } as const;
  const view = viewOf(stateAt('complete-migration', { route: 'self-service', pause }));
  const resume = 'he ledger was out of date, but has been reconciled; resume the migration';
  expect(view.task?.what).toBe(`T${resume}.`);
  expect(view.actions.find(({ message }) => message === 'resume')?.facts).toEqual([
    `Paused automatically since ${momentText(AT)}: t${resume}`,
  ]);
  expect(JSON.stringify(view)).not.toMatch(/reconcile the ledger/i);
});

test.each(['managed', 'self-service'] as const)(
  'the client of a migration that was terminated in Temporal asks its contact before it switches syncing back on: %s',
  (route) => {
    const running = progressOf(migrationPlan({ route }), stateAt('complete-migration', { route }));
    const { task, outOfDate } = migrationView(
      terminatedProgress(running, { status: 'terminated', at: AT }),
      FACTS,
      LATER,
    );
    expect(task).toMatchObject({
      what: 'Ask your contact what happens next. Until you have an answer, do not switch any syncing back on.',
      why: 'The migration was stopped, so no company moves. Syncing of the companies that were moved must stay off in your own application.',
    });
    expect(outOfDate).toBe(
      'If syncing is off for a company that was not moved, its data stays out of date. Ask your contact before you switch any syncing back on.',
    );
  },
);

test('in self-service, the view says that the decision about the last company ends the migration', () => {
  const changes = { counts: counts({ total: 4, failed: 2, moved: 2 }) };
  const view = viewOf(stateAt('complete-migration', { route: 'self-service', ...changes }));
  const ends = /the migration ends automatically, and the stored credentials are destroyed\.$/;
  expect(view.task?.why).toMatch(ends);
  expect(view.actions.find(({ message }) => message === 'skip')?.consequence).toMatch(ends);
  const pause = { reason: 'lunch', by: 'Cleo', stopReason: null, at: AT };
  const last = { route: 'self-service', counts: counts({ total: 1, waiting: 1 }) } as const;
  const leavingOut = (more: Partial<MigrationState>) =>
    viewOf(stateAt('supply-details', { ...last, ...more })).actions.find(({ message }) => message === 'exclude');
  expect(leavingOut({})?.consequence).toMatch(ends);
  expect(leavingOut({ pause })?.consequence).toMatch(/the migration ends automatically, even while it is paused, and/);
  // An error about the account stays, so the migration does not end yet.
  expect(leavingOut({ preflight: preflight({ problems: ['no room'] }) })?.consequence).toMatch(
    /left out, the migration ends automatically as soon as the check of the details finds no error, and/,
  );
});

test.each([
  { found: ['no room'], next: 'Once another check of the details has found no errors, the companies move.' },
  { found: null, next: 'Once a check of the details has found no errors, the companies move.' },
])('in self-service, the view says what must be true before the companies move: $next', ({ found, next }) => {
  const checked = found && preflight({ problems: found });
  const view = viewOf(stateAt('supply-details', { route: 'self-service', preflight: checked }));
  expect(view.next).toBe(next);
  if (found) expect(view.task?.why).toBe('The companies move once another check of the details has found no errors.');
});

test('the consequence of a retry is true if some or all companies must reconnect, and if only some are chosen', () => {
  const consequenceOf = (mustReconnect: number, name = 'retry') =>
    viewOf(
      stateAt('complete-migration', {
        ...{ route: 'self-service', counts: counts({ total: 4, failed: 2, mustReconnect, moved: 2 }) },
      }),
    ).actions.find(({ message }) => message === name)?.consequence;
  const accepted = 'A company whose credential was accepted before is only synced and checked again.';
  expect(consequenceOf(0)).toBe(`The companies are tried again. ${accepted}`);
  for (const mustReconnect of [1, 2])
    expect(consequenceOf(mustReconnect)).toBe(`The companies are tried again if a retry can help them. ${accepted}`);
  for (const name of ['retry', 'relink']) expect(consequenceOf(1, name)).not.toMatch(/\b(all|each) compan/i);
});

test('in self-service, the view says which limits also apply to companies that are moving', () => {
  const moving = { route: 'self-service', counts: counts({ total: 4, syncing: 4 }) } as const;
  const adjust = viewOf(stateAt('complete-migration', moving)).actions.find(({ message }) => message === 'adjust');
  // The sync timeout is one of the other limits (`verify-slice.ts`).
  expect(adjust?.consequence).toMatch(/Other limits apply at once, also to companies that are moving\.$/);
});
