/**
 * Compares the client's application with those of other open migrations. An account of the service has one application
 * per platform, so a second client's application would replace the first one's.
 */
import { withoutUnsafeCharacters } from '../text/untrusted-text';
import type { PreflightFinding } from './findings';
import { errorFinding, warningFinding } from './findings';

/** The client's application at the platform. */
export interface ApplicationFacts {
  readonly clientId: string;
  readonly environment: string;
}

/** An application that was supplied for a migration. */
export interface SuppliedApplication extends ApplicationFacts {
  readonly suppliedBy: string;
}

/** The application that an open migration uses. */
export interface MigrationApplication {
  readonly migrationId: string;
  readonly client: string;
  readonly application: ApplicationFacts;
  /** False: it was already registered at the service when the details were accepted. */
  readonly isSupplied: boolean;
}

/** The applications of a migration and of the other open migrations on its platform and in its namespace. */
export interface MigrationApplications {
  readonly migrationId: string;
  readonly client: string;
  /** The application supplied last for this migration; null if none was supplied. */
  readonly supplied: SuppliedApplication | null;
  readonly others: readonly MigrationApplication[];
}

export const ACCOUNT_ADVICE = 'an account serves one client, so give each client its own (docs/deploying.md)';

export function isSameApplication(one: ApplicationFacts, other: ApplicationFacts): boolean {
  return one.clientId === other.clientId && one.environment === other.environment;
}

/** Formats an application as `acme-app (production)`. Its client id comes from outside. */
export function applicationName({ clientId, environment }: ApplicationFacts): string {
  const id = withoutUnsafeCharacters(clientId);
  return `${id.length > 60 ? `${id.slice(0, 59)}…` : id} (${withoutUnsafeCharacters(environment)})`;
}

/** Returns another open migration that uses a different application; undefined if there is none. */
export function findOtherApplication(
  application: ApplicationFacts,
  others: readonly MigrationApplication[],
): MigrationApplication | undefined {
  return others.find((other) => !isSameApplication(other.application, application));
}

/**
 * Returns a finding if the registered application is not the migration's own, or if another open migration uses a
 * different one.
 */
export function applicationConflicts(
  registered: ApplicationFacts,
  { migrationId, client, supplied, others }: MigrationApplications,
  isSelfService: boolean,
): readonly PreflightFinding[] {
  const finding = isSelfService ? warningFinding : errorFinding;
  const own = supplied ?? registered;
  const other = findOtherApplication(own, others);
  if (other) {
    const message =
      `${migrationId} uses the application ${applicationName(own)}, but ${other.migrationId} uses ` +
      `${applicationName(other.application)}; an account has only one application per platform`;
    return [finding('application-of-another-migration', message, ACCOUNT_ADVICE)];
  }
  if (supplied) {
    if (isSameApplication(supplied, registered)) return [];
    const message =
      `the application ${applicationName(supplied)} was supplied for ${migrationId}, ` +
      `but ${applicationName(registered)} is registered at the service`;
    return [finding('application-differs', message, 'supply the right one')];
  }
  const supplier = others.find((each) => each.isSupplied && each.client !== client);
  if (!supplier) return [];
  const message =
    `the registered application ${applicationName(registered)} was supplied for ${supplier.migrationId}, ` +
    `and none was supplied for ${migrationId}`;
  const advice = `if both clients use this application, supply it for this migration too; otherwise, ${ACCOUNT_ADVICE}`;
  return [finding('application-of-another-migration', message, advice)];
}
