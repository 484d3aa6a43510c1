/** The states of migrations for which `ferry show` suggests commands. */
import type { NamedInCommands } from '../../../cli/suggestions/next-commands';
import type { Counts } from '../../../domain/companies/counts';
import type { StopReason } from '../../../domain/companies/failures';
import type { FindingCode } from '../../../domain/companies/finding';
import type { MigrationState } from '../../../domain/migration/migration-state';
import type {
  ApplicationsOfMoved,
  MigrationApplication,
  MigrationApplications,
} from '../../../domain/preflight/applications';
import { AT, counts, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';

export const ID = 'acme.quickbooks-online';
export const plan = migrationPlan({ migrationId: ID });
export const NIGHT = { days: ['mon'], from: '22:00', to: '04:00', timeZone: 'UTC' } as const;

export const step4 = (changes: Partial<Counts>) =>
  stateAt('disable-syncing', { counts: counts({ total: 9, waiting: 9, ...changes }) });
export const step5 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('migrate-first-company', { counts: counts({ total: 9, waiting: 9, ...changes }), ...more });
export const step6 = (changes: Partial<Counts>, more: Partial<MigrationState> = {}) =>
  stateAt('complete-migration', { counts: counts({ total: 9, ...changes }), ...more });
export const pausedBy = (stop: StopReason | null) =>
  step6({ failed: 3, waiting: 6 }, { pause: { reason: 'why', by: null, stopReason: stop, at: AT } });
export const problems = (...problemCodes: ReturnType<typeof preflight>['problemCodes']) =>
  preflight({ problems: problemCodes, problemCodes });

export const withApplication = (clientId: string, code: FindingCode) =>
  preflight({
    ...{ problems: [code], problemCodes: [code] },
    application: { clientId, environment: 'production', suppliedBy: null },
  });
export const kiteMigration = (clientId: string, environment = 'production'): MigrationApplication => ({
  ...{ migrationId: 'kite.quickbooks-online', client: 'kite', isSupplied: true },
  application: { clientId, environment },
});
export const applications = (supplied: string | null, ...others: MigrationApplication[]): MigrationApplications => ({
  ...{ migrationId: ID, client: 'acme', others },
  supplied: supplied === null ? null : { clientId: supplied, environment: 'production', suppliedBy: 'Cleo' },
});

/** Describes that `companies` companies were moved with `old app`, and `withNew` with its replacement `new-app`. */
export const replacedApplication = (companies: number, withNew: number): ApplicationsOfMoved => {
  const replaced = { application: { clientId: 'old app', environment: 'sandbox' }, companies, references: [] };
  const registered = { clientId: 'new-app', environment: 'sandbox' };
  const moved = [replaced, { application: registered, companies: withNew, references: [] }];
  return { moved, replaced: [replaced], registered };
};

/** A migration's situation: its name, its state, the suggested commands, and the known companies and applications. */
export type Situation = readonly [string, MigrationState, readonly string[], Partial<NamedInCommands>?];

export const CHECK_AGAIN = `ferry reject ${ID} supply-details --reason "check again"`;
export const NOW = new Date(AT);
export const SOMEBODY = '--as client --by "your name"';
export const CLIENT = '--as client --by Cleo';
