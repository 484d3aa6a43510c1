/** Tests what the client reads about the four-eyes rule, before it proposes a start and before it approves a step. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { withActingRoles } from '../../../domain/progress/acting-roles';
import { progressOf } from '../../../domain/progress/progress';
import { viewFor } from '../../../portal/client/personal-texts';
import { MigrationViewSchema } from '../../../portal/contract/migration-view';
import { migrationView } from '../../../presentation/portal/view';
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import {
  approve,
  counts,
  decideAll,
  LATER,
  migrationPlan,
  proposeTime,
  stateAt,
} from '../../support/migrations/migration-states';
import { FACTS } from './views';

/** Returns the progress of a migration whose decisions these people of the client, and Sam and Ann, must sign. */
function progressFor(state: MigrationState, clients: readonly string[], fourEyes = true) {
  const people = [...clients.map((by) => ['client', by] as const), ...SUPPORT];
  const approvers = people.map(([role, by]) => ({ role, by, publicKey: by }));
  return withActingRoles(
    progressOf(migrationPlan({ decisions: { ...DEFAULT_DECISION_RULES, fourEyes, approvers } }), state),
  );
}
const SUPPORT = [
  ['support', 'Sam'],
  ['support', 'Ann'],
] as const;

const viewAt = (...args: Parameters<typeof progressFor>) => migrationView(progressFor(...args), FACTS, LATER);
const pageAt = (...args: Parameters<typeof progressFor>) => currentDetails(progressFor(...args), { now: LATER });
type View = ReturnType<typeof viewAt>;
const actionOf = ({ actions }: View, message: string) => actions.find((each) => each.message === message);
const expectedFor = (view: View, person: string) =>
  viewFor({ person }, view).actions.flatMap(({ isExpected, title }) => (isExpected ? [title] : []));

const PROPOSED = decideAll(stateAt('schedule'), proposeTime('client'));
const MUST =
  'Under the four-eyes rule, someone other than Cleo must approve the start at 2026-03-07 20:00 UTC for you.';
const ASK = "sk support to invite another person or to confirm another person's key, or to propose another time";

test('the approval of a start is asked of another person than the one who proposed it', () => {
  const view = viewAt(PROPOSED, ['Cleo', 'Dan']);
  expect(view.headline).toBe(`Please approve the start at 2026-03-07 20:00 UTC. ${MUST}`);
  expect(view.task?.what).toBe(`Approve the start at 2026-03-07 20:00 UTC. ${MUST}`);
  expect(expectedFor(view, 'Cleo')).toEqual([]);
  expect(expectedFor(view, 'Dan')).toEqual(['Approve the start']);
  expect(MigrationViewSchema.parse(view)).toEqual(view);
  expect(pageAt(PROPOSED, ['Cleo', 'Dan'])).toContain(`# Please approve the start at 2026-03-07 20:00 UTC. ${MUST}\n`);
});

test('if nobody else can approve for the client, it is told what to ask of support instead', () => {
  const view = viewAt(PROPOSED, ['Cleo']);
  expect(view.headline).toBe(`${MUST} Please a${ASK}.`);
  expect(view.task?.what).toBe(`A${ASK}. ${MUST}`);
  expect(expectedFor(view, 'Cleo')).toEqual([]);
  const page = pageAt(PROPOSED, ['Cleo']);
  expect(page).toContain(`# ${MUST} Please a${ASK}.\n`);
  expect(page).toContain(`**What to do:** a${ASK}. ${MUST.slice(0, -1)}\n`);
  expect(page).toContain('**What support has to do:** approve the start at 2026-03-07 20:00 UTC\n');
  const approved = decideAll(PROPOSED, approve('schedule', 'support'));
  expect(pageAt(approved, ['Cleo'])).not.toContain('What support has to do');
});

test('a sign-off and a callback URL also need a person who has not approved for support', () => {
  const signedBySupport = decideAll(stateAt('complete-migration', { counts: counts({ total: 3, moved: 3 }) }), {
    ...approve('complete-migration', 'support'),
    by: 'Sam',
  });
  expect(viewAt(signedBySupport, ['Sam', 'Cleo']).headline).toBe(
    'All 3 companies have moved. Please sign off the handover. Under the four-eyes rule, someone other than Sam must sign off the handover for you.',
  );
  const alone = viewAt(stateAt('update-application'), ['Sam']);
  expect(alone.task?.what).toBe(
    "Ask support to invite another person or to confirm another person's key. Under the four-eyes rule, someone other than Sam must confirm the callback URL for you.",
  );
  expect(actionOf(alone, 'approve')?.excludedPeople).toEqual(['Sam']);
});

test('the proposal says that another person must approve it, and warns if there is none', () => {
  const rule =
    'Under the four-eyes rule, you cannot approve a start that you have proposed: another person of yours and support approve it.';
  const both = actionOf(viewAt(stateAt('schedule'), ['Cleo', 'Dan']), 'proposeTime');
  expect(both?.consequence).toBe(rule);
  expect(both).not.toHaveProperty('warnings');
  const alone = actionOf(viewAt(stateAt('update-application'), ['Cleo']), 'proposeTime');
  expect(alone?.consequence).toBe(
    `Step 2 opens again. ${rule} You and support repeat the later steps where necessary.`,
  );
  expect(alone?.warnings).toEqual([
    "nobody else can approve a start for you yet, so ask support to invite another person or to confirm another person's key, or to propose a start",
  ]);
});

test('without the rule, or if support has proposed the start, nobody of the client is excluded', () => {
  const bySupport = decideAll(stateAt('schedule'), proposeTime('support'));
  for (const view of [viewAt(PROPOSED, ['Cleo'], false), viewAt(bySupport, ['Cleo'])]) {
    expect(view.headline).toBe('Please approve the start at 2026-03-07 20:00 UTC.');
    expect(expectedFor(view, 'Cleo')).toEqual(['Approve the start']);
  }
  expect(actionOf(viewAt(stateAt('schedule'), ['Cleo'], false), 'proposeTime')?.consequence).toBe(
    'You and support then approve this start.',
  );
});
