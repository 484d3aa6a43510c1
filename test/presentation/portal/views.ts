/** The portal's view of a migration in a state, with ordinary facts of the ledger. */
import type { MigrationState } from '../../../domain/migration/migration-state';
import { progressOf } from '../../../domain/progress/progress';
import { migrationView, type LedgerFacts } from '../../../presentation/portal/view';
import { LATER, migrationPlan } from '../../support/migrations/migration-states';

export const FACTS: LedgerFacts = {
  waves: [],
  hasReconnectLink: false,
  migrationKey: 'tokenferry-key-1.abc',
  unconfirmedFirst: null,
  unknownFirst: null,
  confirmers: null,
  applications: null,
  changedSinceSignOff: [],
  isRotating: true,
  isLedgerBehind: false,
};

/** @param facts replace the ordinary facts */
export const viewOf = (state: MigrationState, facts: Partial<LedgerFacts> = {}) =>
  migrationView(progressOf(migrationPlan({ route: state.route }), state), { ...FACTS, ...facts }, LATER);
