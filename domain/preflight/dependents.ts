/**
 * Warns before another client's application is replaced. Companies of an ended migration still depend on it, because
 * the service refreshes their tokens only with the application that is registered.
 */
import { counted } from '../text/sentences';
import type { ApplicationFacts } from './applications';
import { applicationName, isSameApplication } from './applications';
import type { PreflightFinding } from './findings';
import { warningFinding } from './findings';

/** The companies of a migration that were connected with an application. */
export interface DependentCompanies {
  readonly migrationId: string;
  readonly client: string;
  readonly hasEnded: boolean;
  readonly application: ApplicationFacts;
  readonly companies: number;
}

/** The migration that is being checked, and the other migrations in the account. */
export interface Dependents {
  /** The client of the migration that is being checked; null for a check of a manifest without a client. */
  readonly client: string | null;
  /** The application supplied last for this migration; null if none was supplied. */
  readonly supplied: ApplicationFacts | null;
  readonly others: readonly DependentCompanies[];
}

const MAX_NAMED = 10;

/** Names migrations with the number of their companies: `kite.xero (25 companies, ended)`. */
export function dependentsText(dependents: readonly DependentCompanies[]): string {
  const named = dependents
    .slice(0, MAX_NAMED)
    .map(
      ({ migrationId, companies, hasEnded }) =>
        `${migrationId} (${counted(companies, 'company')}${hasEnded ? ', ended' : ''})`,
    );
  const more = dependents.length - named.length;
  return `${named.join(', ')}${more > 0 ? ` and ${counted(more, 'other migration')}` : ''}`;
}

/**
 * Returns a warning if connected companies of another client's ended migration depend on the registered application. The
 * message for the client names neither that migration nor its application. Open migrations cause an error instead
 * (`applicationConflicts`).
 */
export function dependentFindings(
  registered: ApplicationFacts,
  { client, supplied, others }: Dependents,
): readonly PreflightFinding[] {
  // The client has supplied the same application, so nothing replaces it.
  if (supplied && isSameApplication(supplied, registered)) return [];
  const affected = others.filter(
    (each) => each.hasEnded && each.client !== client && isSameApplication(each.application, registered),
  );
  if (affected.length === 0) return [];
  const message =
    `connected companies, moved or not, depend on the registered application ${applicationName(registered)}: ${dependentsText(affected)}; ` +
    'another application would replace it, and the service could no longer refresh their tokens';
  const advice = 'give each client its own account before you supply another application (docs/deploying.md)';
  const clientMessage =
    'companies of another client of this account depend on the registered application, so support has to decide before another application replaces it';
  return [{ ...warningFinding('application-in-use', message, advice), clientMessage }];
}
