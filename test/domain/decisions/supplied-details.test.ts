/** Another application than the one that support has accepted. */
import { NO_DECISIONS, withDecision } from '../../../domain/decisions/release';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { approve, AT, counts, decideAll, decideOne, firstCompany, stateAt } from '../../support/migration-states';

describe('another application', () => {
  const supply = { kind: 'application-supplied', role: 'client', clientId: 'b', environment: 'production' } as const;
  const accepted = { steps: { 'supply-details': { openedAt: AT, endedAt: AT } } };
  const answer = (state: MigrationState): string => {
    const { applied, text } = decideOne(state, supply).outcome;
    return applied ? 'applied' : text;
  };

  test.each(['schedule', 'update-application', 'disable-syncing'] as const)(
    'is refused at %s, because the accepted details name another one',
    (step) => {
      expect(answer(stateAt(step, accepted))).toContain('support must reject supply-details first');
    },
  );

  test('can be supplied once companies are being moved, because nothing else repairs a wrong one', () => {
    const moving = { ...accepted, counts: counts({ total: 2, moved: 1, waiting: 1 }), firstCompany: firstCompany() };
    expect(answer(stateAt('complete-migration', moving))).toBe('applied');
  });

  test('withdraws the early approvals of step 3, which were given for another one', () => {
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
