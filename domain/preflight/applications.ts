/**
 * Compares the client's application with the applications of other open migrations. An account of the service has one
 * application per platform, so the application of a second client would replace the application of the first.
 */
import type { Role } from '../migration/steps';
import { counted, namedCompanies } from '../text/sentences';
import { withoutUnsafeCharacters } from '../text/untrusted-text';
import { errorFinding, warningFinding, type PreflightFinding } from './findings';

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
  /** False: the application was not supplied; the preflight found it at the service. */
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

/** Companies of a migration that were connected with the same application, even if they do not count as moved. */
export interface MovedWithApplication {
  readonly application: ApplicationFacts;
  readonly companies: number;
  /** References of the first {@link REFERENCES_NAMED} companies, in the manifest's order. */
  readonly references: readonly string[];
  /**
   * The number of companies whose link to reconnect is not known; only of a replaced application. Absent: every company
   * has a link, or the application was not replaced.
   */
  readonly withoutLink?: number;
}

/** The number of references that are listed for each application. */
export const REFERENCES_NAMED = 10;

/** The applications with which the companies of a migration were moved. */
export interface ApplicationsOfMoved {
  readonly moved: readonly MovedWithApplication[];
  /** Companies whose application was replaced later: the service can no longer refresh their tokens. */
  readonly replaced: readonly MovedWithApplication[];
  /** The application that is registered now; null if it is unknown or another client's. */
  readonly registered: ApplicationFacts | null;
}

/** The precondition of supplying an application, see `applicationRefusal` in decisions/preconditions.ts. */
const FIRST_REJECT = 'if the details have been accepted and no company has begun to move, first reject step 1';

const ACCOUNT_ADVICE = 'an account serves one client, so give each client its own account (docs/deploying.md)';

// In self-service, the client cannot supply an application.
const adviceForOneClient = (isSelfService: boolean): string =>
  `${isSelfService ? 'ask support to register' : 'supply'} the same application for both migrations; or, if the other migration moves no companies, wait until it has ended`;

export function isSameApplication(one: ApplicationFacts, other: ApplicationFacts): boolean {
  return one.clientId === other.clientId && one.environment === other.environment;
}

/** Formats an application as `acme-app (production)`. The client id is untrusted text. */
export function applicationName({ clientId, environment }: ApplicationFacts): string {
  const id = withoutUnsafeCharacters(clientId);
  return `${id.length > 60 ? `${id.slice(0, 59)}…` : id} (${withoutUnsafeCharacters(environment)})`;
}

/**
 * Says which companies were moved with an application that has been replaced since, and what helps them.
 *
 * @param reader the role of the reader: only support can register the application again, so the client is told to ask
 * for it
 */
export function replacedText(
  moved: MovedWithApplication,
  applications: Pick<ApplicationsOfMoved, 'moved' | 'registered'>,
  reader: Role = 'support',
): string {
  return `${replacedProblem(moved, applications)}; ${replacedRemedyText(remedyForReplaced(moved, applications, reader))}`;
}

/** Says which companies were moved with an application that has been replaced since. */
export function replacedProblem(
  { application, companies, references }: MovedWithApplication,
  { registered }: Pick<ApplicationsOfMoved, 'registered'>,
): string {
  const verb = companies === 1 ? 'was' : 'were';
  return `${namedCompanies(companies, references)} ${verb} connected with ${applicationName(application)}, but ${replacementText(registered, companies)}`;
}

/**
 * The remedies of companies whose application was replaced. Every page, message and list takes them from here if the
 * numbers of companies are known; otherwise from {@link replacedRemedyFor}.
 */
export interface ReplacedRemedy {
  /**
   * The instruction to register the replaced application again. The service would then lose access to the companies of
   * the registered application, so this is null if these are at least as many.
   */
  readonly registerAgain: string | null;
  /**
   * The companies that must reconnect once the replaced application is registered again; null if there are none, or if
   * `registerAgain` is null.
   */
  readonly lost: string | null;
  /** The instruction to let end customers reconnect; the alternative if `registerAgain` is not null. */
  readonly reconnect: string;
}

/**
 * Returns what helps companies whose application was replaced.
 *
 * @param about the companies that the text is about; default: all of them
 */
export function remedyForReplaced(
  replaced: MovedWithApplication,
  { moved, registered }: Pick<ApplicationsOfMoved, 'moved' | 'registered'>,
  reader: Role,
  about: Pick<MovedWithApplication, 'companies' | 'withoutLink'> = replaced,
): ReplacedRemedy {
  const name = applicationName(replaced.application);
  const current = registered && moved.find(({ application }) => isSameApplication(application, registered));
  const reconnect = reconnectText(about, reader);
  if (!current) return { registerAgain: registerText(name, reader), lost: null, reconnect };
  const [dependents, theirs] = [counted(current.companies, 'company'), applicationName(current.application)];
  if (current.companies < replaced.companies)
    return { registerAgain: registerText(name, reader), lost: `${dependents} connected with ${theirs}`, reconnect };
  const depend = current.companies === 1 ? 'depends' : 'depend';
  return {
    ...{ registerAgain: null, lost: null },
    reconnect: `${reconnect}, and keep ${theirs} registered, because ${dependents} ${depend} on it`,
  };
}

/** Returns a remedy as text without a capital letter and a full stop. */
export function replacedRemedyText({ registerAgain, lost, reconnect }: ReplacedRemedy): string {
  const consequence =
    lost === null ? '' : `; once the replaced application is registered again, ${lost} must reconnect`;
  return registerAgain === null ? reconnect : `${registerAgain}, or ${reconnect} instead${consequence}`;
}

const registerText = (name: string, reader: Role): string =>
  reader === 'support'
    ? `register ${name} again`
    : `keep your application ${name}, and ask support to register it again`;

function reconnectText(
  { companies, withoutLink = 0 }: Pick<MovedWithApplication, 'companies' | 'withoutLink'>,
  reader: Role,
): string {
  const [customers, links] =
    companies === 1 ? ["the company's end customer", 'the link'] : ['their end customers', 'their links'];
  const missing = withoutLink === companies ? links : `the links of ${counted(withoutLink, 'company')}`;
  const find = reader === 'support' ? `look up ${missing} at the service` : `ask support for ${missing}`;
  return `let ${customers} reconnect with ${links}${withoutLink === 0 ? '' : ` (${find})`}`;
}

/** The problem of one company whose credential was handed over and whose application was replaced later. */
export const REPLACED_PROBLEM =
  'the application that obtained the tokens was replaced, so the service can no longer refresh them';

/** Returns the client's remedy for one company if the numbers of companies per application are not known. */
export function replacedRemedyFor(linkUrl: string | null): string {
  const ask = linkUrl === null ? ' (ask support for the link)' : '';
  const other = 'ask support to register the replaced application again';
  return `let the end customer reconnect with the link${ask}, or ${other}`;
}

/** Says what happens to the data of companies whose application was replaced. */
export function replacedStaleText(replaced: readonly MovedWithApplication[]): string {
  const companies = replaced.reduce((sum, each) => sum + each.companies, 0);
  const references = replaced.flatMap((each) => each.references).slice(0, REFERENCES_NAMED);
  const theirs = companies === 1 ? 'its application was' : 'their applications were';
  return `The data of ${namedCompanies(companies, references)} goes out of date, because ${theirs} replaced: the service can no longer refresh ${companies === 1 ? 'its' : 'their'} tokens.`;
}

/** Says that another application is registered, and that the service can no longer refresh the tokens of companies. */
export function replacementText(registered: ApplicationFacts | null, companies: number): string {
  const name = registered === null ? 'another application' : applicationName(registered);
  return `${name} is registered now, so the service can no longer refresh ${companies === 1 ? 'its' : 'their'} tokens`;
}

/** Returns another open migration that uses a different application; undefined if there is none. */
export function findOtherApplication(
  application: ApplicationFacts,
  others: readonly MigrationApplication[],
): MigrationApplication | undefined {
  return others.find((other) => !isSameApplication(other.application, application));
}

/** Why a migration cannot use the registered application. */
export type ApplicationConflict =
  /** Another open migration uses a different application. */
  | { readonly kind: 'different'; readonly own: ApplicationFacts; readonly other: MigrationApplication }
  /** The registered application was supplied for another client, and none for this migration. */
  | { readonly kind: 'not-supplied'; readonly registered: ApplicationFacts; readonly other: MigrationApplication }
  /** The supplied application is not registered. */
  | { readonly kind: 'not-registered'; readonly supplied: ApplicationFacts };

/** Compares the registered application with the supplied one, and with those of other open migrations. */
export function findApplicationConflict(
  registered: ApplicationFacts,
  { client, supplied, others }: Pick<MigrationApplications, 'client' | 'supplied' | 'others'>,
): ApplicationConflict | null {
  const own = supplied ?? registered;
  const different = findOtherApplication(own, others);
  if (different) return { kind: 'different', own, other: different };
  if (supplied) return isSameApplication(supplied, registered) ? null : { kind: 'not-registered', supplied };
  const supplier = others.find((each) => each.isSupplied && each.client !== client);
  return supplier ? { kind: 'not-supplied', registered, other: supplier } : null;
}

/**
 * A part of the client's message in the managed route if no application was supplied, and the registered one was
 * supplied for another client. The texts about the client's task search for it.
 */
export const REGISTERED_FOR_OTHER_CLIENT = 'and the registered one was supplied for another client of this account';

/**
 * Returns a finding if the registered application is not the migration's own, or if another open migration uses a
 * different application. The message for the client names neither another client's migration nor its application.
 */
export function applicationConflicts(
  registered: ApplicationFacts,
  applications: MigrationApplications,
  isSelfService: boolean,
): readonly PreflightFinding[] {
  const finding = isSelfService ? warningFinding : errorFinding;
  const conflict = findApplicationConflict(registered, applications);
  const { migrationId, client } = applications;
  switch (conflict?.kind) {
    case undefined:
      return [];
    case 'different': {
      const { own, other } = conflict;
      const ownUse = `${migrationId} uses the application ${applicationName(own)}`;
      const rule = 'an account has only one application per platform';
      const message = `${ownUse}, but ${other.migrationId} uses ${applicationName(other.application)}; ${rule}`;
      const isSameClient = other.client === client;
      const advice = isSameClient ? adviceForOneClient(isSelfService) : ACCOUNT_ADVICE;
      const found = finding('application-of-another-migration', message, advice);
      // An application that was not supplied can belong to another client, even if this client's migrations use it.
      const isKnown = applications.supplied !== null && other.isSupplied;
      if (isSameClient)
        return isKnown
          ? [found]
          : [
              {
                ...found,
                clientMessage: `${migrationId} and ${other.migrationId} use different applications; ${rule}`,
              },
            ];
      const known = applications.supplied ? `${ownUse}, but another` : 'another';
      const than = applications.supplied ? 'another application' : 'an application other than the registered one';
      const clientMessage = `${known} client of this account uses ${than}; ${rule}, so ask support what to do`;
      return [{ ...found, clientMessage }];
    }
    case 'not-supplied': {
      const message =
        `no application was supplied for ${migrationId}; the service uses the application ` +
        `${applicationName(registered)}, which was supplied for ${conflict.other.migrationId}`;
      // In self-service, the client cannot supply an application.
      const advice = isSelfService
        ? `ask support whether ${client} uses this application too; if not, ${client} needs its own account (docs/deploying.md)`
        : `if ${client} uses this application too, supply it for ${migrationId} (${FIRST_REJECT}); if not, give each client its own account (docs/deploying.md)`;
      const clientMessage = isSelfService
        ? 'the registered application was supplied for another client of this account; ask support to register the application that obtained your tokens'
        : `no application was supplied for ${migrationId}, ${REGISTERED_FOR_OTHER_CLIENT}; supply the application that obtained the tokens`;
      return [{ ...finding('application-of-another-migration', message, advice), clientMessage }];
    }
    case 'not-registered': {
      const message =
        `the application ${applicationName(conflict.supplied)} was supplied for ${migrationId}, ` +
        `but ${applicationName(registered)} is registered at the service`;
      const clientMessage =
        `the application ${applicationName(conflict.supplied)} was supplied for ${migrationId}, ` +
        `but a different application is registered at the service`;
      // In self-service, the client cannot supply an application.
      const advice = isSelfService
        ? 'ask support to register the application that obtained the tokens'
        : `supply the application that obtained the tokens; ${FIRST_REJECT}`;
      return [{ ...finding('application-differs', message, advice), clientMessage }];
    }
  }
}
