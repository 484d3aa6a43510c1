/** The decisions that the portal offers to the client: all useful ones, and none that would be refused. */
import fc from 'fast-check';
import { decide, outcomeOf } from '../../../domain/decisions/decide';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { DEFAULT_DECISION_RULES } from '../../../domain/migration/plan';
import { progressOf } from '../../../domain/progress/progress';
import { actionsOf } from '../../../presentation/portal/actions';
import type { ActionView } from '../../../presentation/portal/candidate';
import { counts, LATER, migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { anyDecision, workflowActs } from '../../support/migrations/random-decisions';
import { first, last, selfService, paused, STATES } from './offered-actions';

const FACTS = {
  canSeal: true,
  isRotating: true,
  unconfirmedFirst: null as string | null,
  applications: null,
  changedSinceSignOff: [],
};
const actionsAt = (state: MigrationState, facts = FACTS): readonly ActionView[] =>
  actionsOf(progressOf(migrationPlan({ route: state.route }), state), facts, LATER);
const nameOf = ({ message, step, isExpected }: ActionView): string =>
  `${isExpected ? '*' : ''}${message}${step === undefined ? '' : ` ${step}`}`;
const namesAt = (...given: Parameters<typeof actionsAt>): readonly string[] => actionsAt(...given).map(nameOf);

test('companies whose added or corrected rows are still being checked are not said to need a correction', () => {
  const factsIf = (changes: number) =>
    actionsAt(last({ total: 9, waiting: 3, heldBack: 3, moved: 6 }, { changes, changesChecked: 0 })).find(
      ({ message }) => message === 'exclude',
    )?.facts;
  expect(factsIf(0)).toEqual(['3 companies can be left out', '3 companies cannot be moved without a correction']);
  expect(factsIf(1)).toEqual(['3 companies can be left out']);
});

test('leaving companies out in step 1 says that the manifest can then no longer be replaced', () => {
  const afterExclusion = { counts: counts({ total: 2, waiting: 1, unconfirmed: 1, excluded: 1 }) };
  expect(namesAt(stateAt('supply-details', afterExclusion))).not.toContain('manifestSupplied');
  const consequenceAt = (state: MigrationState) =>
    actionsAt(state).find(({ message }) => message === 'exclude')?.consequence;
  expect(consequenceAt(stateAt('supply-details'))).toMatch(
    / The manifest can then no longer be replaced, but support /,
  );
  expect(consequenceAt(stateAt('disable-syncing'))).toMatch(/ cannot be added to this migration again\.$/);
});

test('replacing the manifest says what is lost with the earlier companies', () => {
  const replacement = actionsAt(stateAt('supply-details')).find(({ message }) => message === 'manifestSupplied');
  expect(replacement?.consequence).toMatch(
    / Stored credentials are deleted, and earlier confirmations that syncing is off no longer count\.$/,
  );
});

test('withdrawing the confirmation of the callback URL after step 3 says that the step is open, not that it stays so', () => {
  const withdrawal = actionsAt(stateAt('disable-syncing')).find(
    ({ message, step }) => message === 'reject' && step === 'update-application',
  );
  expect(withdrawal?.consequence).toContain(' Step 3 is open until you and support ');
});

test('a resume by the client after failures says that these failures are then accepted', () => {
  const consequenceOf = (failed: number) => {
    const changes = { ...paused(null), counts: counts({ total: 9, waiting: 9 - failed, failed }) };
    return actionsAt(selfService('complete-migration', changes)).find(({ message }) => message === 'resume')
      ?.consequence;
  };
  const accepted = /Earlier failures no longer count towards the limits at which the migration pauses itself\.$/;
  expect(consequenceOf(2)).toMatch(accepted);
  expect(consequenceOf(0)).not.toMatch(accepted);
});

test.each(STATES)('%s', (_, state, expected) => {
  expect(namesAt(state)).toEqual(expected);
});

test('syncing can be confirmed off before step 4, although the migration does not wait for it', () => {
  const confirmationAt = (step: 'update-application' | 'disable-syncing') =>
    actionsAt(stateAt(step)).find(({ message }) => message === 'confirmSyncDisabled');
  const early = confirmationAt('update-application');
  expect([early?.isExpected, early?.facts[0]]).toEqual([
    false,
    'You can confirm now, but it is not necessary before step 4',
  ]);
  const due = confirmationAt('disable-syncing');
  expect([due?.isExpected, due?.facts[0]]).toEqual([true, '10 of 10 companies without a confirmation']);
});

test('a company of a rotating platform accepts a credential only once it is confirmed', () => {
  const state = stateAt('disable-syncing');
  expect(namesAt(state)).not.toContain('credentialsSupplied');
  expect(namesAt(state, { ...FACTS, isRotating: false })).toContain('credentialsSupplied');
  expect(namesAt(state, { ...FACTS, canSeal: false, isRotating: false })).not.toContain('credentialsSupplied');
});

test.each([0, 2])(
  'a chosen first company is confirmed before its credential is supplied (%s others lack one)',
  (others) => {
    const state = first({
      requestedFirst: { reference: 'acme-9', notReady: true },
      counts: counts({ total: 9, waiting: 9, unconfirmed: 4, unconfirmedInNextWave: 2, withoutCredential: others }),
    });
    const unconfirmed = namesAt(state, { ...FACTS, unconfirmedFirst: 'acme-9' });
    expect(unconfirmed[0]).toBe('*confirmSyncDisabled');
    expect(unconfirmed).not.toContain('*credentialsSupplied');
    expect(unconfirmed.includes('credentialsSupplied')).toBe(others > 0);
    // Once the company has been confirmed, the client is asked for its credential.
    const confirmed = { ...state, counts: counts({ total: 9, waiting: 9, withoutCredential: others + 1 }) };
    expect(namesAt(confirmed)).toContain('*credentialsSupplied');
  },
);

/** Returns the message of an action, as a person would send it. */
function sentFor({ message, step, digest }: ActionView, at: string) {
  const base = { decisionId: 'd-1', role: 'client', by: 'Clio', reason: 'a test', step, digest, startAt: at };
  const lists = ['exclude', 'skip', 'replaceCredential'].includes(message) ? ['acme-1'] : 'all';
  const companies = message === 'credentialsSupplied' || message === 'manifestSupplied' ? 1 : lists;
  const fields = {
    ...base,
    companies,
    manifestDigest: 'ab'.repeat(32),
    limits: { companiesPerMinute: 5 },
    clientId: 'app',
    environment: 'production',
  };
  return JSON.parse(JSON.stringify(fields)) as Record<string, unknown>;
}

function outcomeFor(state: MigrationState, action: ActionView): string {
  const parsed = parseDecision(action.message as DecisionMessage, sentFor(action, LATER), () => 'd-1');
  if ('malformed' in parsed) return parsed.malformed;
  const rules = { ...DEFAULT_DECISION_RULES, requireDigest: true };
  const outcome = outcomeOf(decide({ ...state, outcomes: [] }, parsed.decision, LATER, rules), 'd-1');
  return outcome?.applied === true ? 'applied' : (outcome?.text ?? 'no outcome');
}

test.each(STATES)('the migration applies each offered decision: %s', (_, state) => {
  for (const action of actionsAt(state))
    expect([nameOf(action), outcomeFor(state, action)]).toEqual([nameOf(action), 'applied']);
});

test('the migration applies each offered decision after any history', () => {
  fc.assert(
    fc.property(fc.array(anyDecision, { maxLength: 40 }), (decisions) => {
      let state = stateAt('supply-details');
      for (const decision of decisions) {
        state = workflowActs(decide(state, decision, LATER));
        // The ledger has recorded the decision.
        const recorded = { ...state, unrecorded: [] };
        for (const action of actionsAt(recorded))
          expect([nameOf(action), outcomeFor(recorded, action)]).toEqual([nameOf(action), 'applied']);
      }
    }),
  );
});
