/**
 * Warns before another client's application is replaced. Companies of an ended migration still depend on it, because
 * the service refreshes their tokens only with the application that is registered.
 */
import type { Preflight } from '../migration/preflight-result';
import { counted } from '../text/sentences';
import { applicationName, isSameApplication, REGISTERED_FOR_OTHER_CLIENT, type ApplicationFacts } from './applications';
import { warningFinding, type PreflightFinding } from './findings';

/** The companies of a migration that were connected with an application. */
export interface DependentCompanies {
  readonly migrationId: string;
  readonly client: string;
  readonly hasEnded: boolean;
  readonly application: ApplicationFacts;
  readonly companies: number;
}

/** The migration that is being checked, and the other migrations on its platform and in its namespace. */
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
 * The client's warning if no application was supplied, and companies of another client depend on the registered one.
 * The warning names neither that client nor the application. Its text is therefore always the same, so
 * {@link isApplicationOfOtherClient} can search for it.
 */
const NONE_SUPPLIED =
  'no application was supplied for this migration, and companies of another client of this account depend on the registered one; supply the application that obtained your tokens, or tell support which application it is';

/**
 * Returns whether the client should supply its application, because the registered one was supplied for another client,
 * or another client depends on it.
 */
export function isApplicationOfOtherClient(preflight: Preflight): boolean {
  const { warnings, clientWarnings = warnings, problems, clientProblems = problems } = preflight;
  return (
    clientWarnings.includes(NONE_SUPPLIED) || clientProblems.some((each) => each.includes(REGISTERED_FOR_OTHER_CLIENT))
  );
}

/**
 * Returns a warning if connected companies of another client's ended migration depend on the registered application.
 * The message for the client names neither that migration nor its application. `applicationConflicts` checks the open
 * migrations.
 *
 * @param canSupply true if the client can supply an application, because a managed migration has started
 */
export function dependentFindings(
  registered: ApplicationFacts,
  { client, supplied, others }: Dependents,
  canSupply: boolean,
): readonly PreflightFinding[] {
  // The client has supplied the same application, so nothing replaces it.
  if (supplied && isSameApplication(supplied, registered)) return [];
  const affected = others.filter(
    (each) => each.hasEnded && each.client !== client && isSameApplication(each.application, registered),
  );
  if (affected.length === 0) return [];
  const isNoneSupplied = canSupply && supplied === null;
  // If no application was supplied, the message and the advice are short, because `ferry show` prints them with
  // everything else on one screen.
  const message = isNoneSupplied
    ? `no application was supplied, and connected companies of another client depend on the registered one: ${dependentsText(affected)}`
    : `connected companies, moved or not, depend on the registered application ${applicationName(registered)}: ${dependentsText(affected)}; ` +
      'another application would replace it, and the service could no longer refresh their tokens';
  const advice = isNoneSupplied
    ? `if ${applicationName(registered)} obtained the client's tokens, supply it; otherwise give each client its own account (docs/deploying.md)`
    : 'give each client its own account before the registered application is replaced (docs/deploying.md)';
  const clientMessage = isNoneSupplied
    ? NONE_SUPPLIED
    : 'companies of another client of this account depend on the registered application, so support has to decide before another application replaces it';
  return [{ ...warningFinding('application-in-use', message, advice), clientMessage }];
}
