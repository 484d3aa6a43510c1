/** The page that the client sees in Temporal's UI, in the states of one migration. */
import { currentDetails } from '../../../presentation/temporal-ui/current-details';
import { progressOf } from '../../../domain/progress/progress';
import type { MigrationState } from '../../../domain/migration/migration-state';
import { ASSUMED_SPEED, estimate } from '../../../domain/planning/estimate';
import { DEFAULT_LIMITS } from '../../../domain/planning/limits';
import { LATER, migrationPlan } from '../../support/migrations/migration-states';

const CONTACT = 'solutions team, +44 20 7946 0018';

export const detailsAt = (state: MigrationState, { now = LATER, contact = CONTACT } = {}): string =>
  currentDetails(progressOf(migrationPlan({ contact }), state), { now, reconnect: state.reconnect });

const volume = {
  ...{ companies: 10, records: 400, companiesWithoutVolume: 0, largestCompany: 40 },
  ...{ largestFamily: 0, staleSince: null },
};
const from = '2026-03-07T20:00:00.000Z';
/** The estimate for ten companies. */
export const estimated = {
  estimate: estimate({ volume, limits: DEFAULT_LIMITS, speedEstimate: ASSUMED_SPEED, from }),
};
