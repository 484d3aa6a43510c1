/**
 * Suggests how to remove the problems that the check of the supplied details found. `ferry reject … "check again"`
 * repeats the check; in self-service, `ferry retry … --all` does. This command is suggested together with the actions
 * outside `ferry` that must come before it. Decisions that change the details repeat the check themselves.
 */
import { isOfApplication, type FindingCode } from '../../domain/companies/finding';
import {
  applicationName,
  findApplicationConflict,
  isSameApplication,
  remedyForReplaced,
  type ApplicationFacts,
  type ApplicationsOfMoved,
  type MigrationApplications,
} from '../../domain/preflight/applications';
import { checkAgainCommand } from '../../domain/preflight/preflight';
import type { Progress } from '../../domain/progress/progress';
import { findPlatform } from '../../platforms/platforms';
import { shouldSupplyApplication } from '../../presentation/wording/client-task';
import { byClient, bySupport, environmentFor, WITH_REASON, type NextCommand } from './remedy-commands';
import { shellQuoted } from '../../domain/text/shell-quoted';

/** Actions outside `ferry` that solve a problem. They must be done before the check is repeated. */
const BEFORE_CHECKING: Partial<Record<FindingCode, string>> = {
  'service-refuses':
    'make sure that the API key of the workers (COMPANY_DATA_API_KEY) is valid, and that its account has not expired',
  'key-not-administrator': 'configure the workers with an administrator key of the account (COMPANY_DATA_API_KEY)',
  'no-room': 'choose a plan with room for all companies, or delete unneeded companies from the service',
  'account-expires': 'choose a plan that does not expire',
  'platform-disabled': 'enable the platform in the account',
  'organization-connected': 'disconnect the organizations at the service, or leave their companies out',
  'organization-open-elsewhere': 'leave the companies out of this migration or of the other migration',
};

/**
 * Returns the commands that remove the problems of step 1, except for problems of single companies.
 *
 * @param isInPortal true if the client decides in the portal, which seals the secret of an application itself
 */
export function detailCommands(
  progress: Progress,
  applications?: MigrationApplications,
  isInPortal = false,
): readonly NextCommand[] {
  const { migrationId: id, route, preflight } = progress;
  const codes = preflight?.problemCodes ?? [];
  if (codes.some((code) => code === 'no-managed-route' || code === 'no-self-service-route')) {
    const cancel = `ferry cancel ${id} ${WITH_REASON}`;
    return [route === 'managed' ? bySupport(cancel) : byClient(cancel)];
  }
  const about = applicationCommands(progress, applications, isInPortal);
  const supply = route === 'managed' ? `ferry manifest ${id} manifest.csv` : `ferry amend ${id} companies.csv`;
  const manifest = codes.includes('no-companies') ? [byClient(supply)] : [];
  const first = [
    ...about.flatMap(({ before }) => before ?? []),
    ...codes.flatMap((code) => BEFORE_CHECKING[code] ?? []),
  ];
  const commands = [...manifest, ...about.flatMap(({ command }) => command ?? [])];
  if (first.length === 0 && (commands.length > 0 || codes.every((code) => CORRECTED_BY_AMENDING.includes(code)))) {
    return [...(route === 'managed' ? registeredElsewhere(progress, applications) : []), ...commands];
  }
  const check =
    route === 'managed'
      ? checkAgain(id)
      : { ...byClient(`ferry retry ${id} --all`), does: 'checks the supplied details again' };
  return [...commands, first.length === 0 ? check : { ...check, first: [...new Set(first)].join('; ') }];
}

/**
 * Suggests supplying the client's application if the portal asks for it, although the migration waits for support.
 * Suggests nothing if an error is about the application, because such an error has its own command.
 */
export function askedApplication(progress: Progress): readonly NextCommand[] {
  if (!shouldSupplyApplication(progress) || progress.preflight?.problemCodes.some(isOfApplication)) return [];
  return [applicationCommand(progress, null, progress.preflight?.application)];
}

const checkAgain = (id: string): NextCommand => bySupport(checkAgainCommand(id));

/**
 * Suggests repeating the check if another open migration of the client uses the application that the check missed. The
 * application can have been registered since, because an account has one for all migrations on a platform.
 */
export function registeredElsewhere(
  { migrationId, preflight }: Progress,
  applications: MigrationApplications | undefined,
): readonly NextCommand[] {
  if (!applications || !preflight?.problemCodes.some((code) => MISSED.includes(code))) return [];
  const { client, supplied, others } = applications;
  const other = others.find(
    (each) => each.client === client && (!supplied || isSameApplication(supplied, each.application)),
  );
  if (!other) return [];
  const does = `checks again whether ${applicationName(other.application)}, which ${other.migrationId} uses, is registered`;
  return [{ ...checkAgain(migrationId), does }];
}

/** The problems that end once the right application is registered, for whichever migration. */
const MISSED: readonly FindingCode[] = ['application-missing', 'application-differs'];

const CORRECTED_BY_AMENDING: readonly FindingCode[] = ['name-empty', 'spreadsheet-damage'];

/** A command about the application, an action that must come before the check is repeated, or both. */
interface ApplicationTask {
  readonly command?: NextCommand;
  readonly before?: string;
}

function applicationCommands(
  progress: Progress,
  applications: MigrationApplications | undefined,
  isInPortal: boolean,
): readonly ApplicationTask[] {
  const { migrationId, route, preflight } = progress;
  const codes = preflight?.problemCodes ?? [];
  const registered = preflight?.application ?? null;
  if (route === 'self-service' || !codes.some(isOfApplication)) return [];
  // The finding is about an application with a sealed secret, because workers register no other applications.
  if (codes.includes('application-not-registered'))
    return [
      {
        command: isInPortal
          ? applicationCommand(progress, applications?.supplied ?? null)
          : byClient(`ferry application ${migrationId} --sealed secret.txt.sealed`),
      },
    ];
  const conflict = registered && applications ? findApplicationConflict(registered, applications) : null;
  switch (conflict?.kind) {
    case undefined: {
      // Suggests the registered application only if the problem is another migration. Otherwise, no application is
      // registered, or the registered one is wrong or in the wrong environment.
      const isRight = codes.includes('application-of-another-migration');
      const application = isRight ? registered : null;
      // An application in the wrong environment does not show which environment is right.
      const known = codes.includes('application-environment') ? null : registered;
      return [{ command: applicationCommand(progress, application, known) }];
    }
    case 'not-registered':
      return [{ command: applicationCommand(progress, conflict.supplied) }];
    case 'not-supplied': {
      const first = `make sure that ${applicationName(conflict.registered)} also obtained the tokens of this client; if it did not, move this client to its own account (docs/deploying.md)`;
      return [{ command: { ...applicationCommand(progress, conflict.registered), first } }];
    }
    case 'different': {
      const { other } = conflict;
      if (other.client === applications?.client) return [{ command: applicationCommand(progress, other.application) }];
      const before = `move one of the clients to its own account (docs/deploying.md); or, if ${other.migrationId} moves no companies, wait until it has ended`;
      return [{ command: bySupport(`ferry show ${other.migrationId}`), before }];
    }
  }
}

/**
 * Suggests supplying this application; if it is null, the command contains a placeholder, because only the client knows
 * the client id. If neither the platform nor a known application shows the environment, says how to specify the
 * sandbox.
 *
 * @param similar an application in the environment to suggest; null if none is known
 */
export function applicationCommand(
  { migrationId, platformKey }: Pick<Progress, 'migrationId' | 'platformKey'>,
  application: ApplicationFacts | null,
  similar = application,
): NextCommand {
  const word = application ? shellQuoted(application.clientId) : '"client id"';
  const environment = application?.environment === 'sandbox' ? 'sandbox' : environmentFor(platformKey, similar);
  const command = byClient(`ferry application ${migrationId} --client-id ${word} --environment ${environment}`);
  const isGuessed = !application && !similar && findPlatform(platformKey)?.environment === undefined;
  return isGuessed
    ? { ...command, does: 'registers it; for a sandbox application, use --environment sandbox' }
    : command;
}

/**
 * Suggests registering a replaced application again, because the service can no longer refresh the tokens of the
 * companies that were moved with it. If several were replaced, suggests the one on which most companies depend. The
 * list is empty if none was replaced, or if the registered application is to be kept.
 */
export function registrationCommands(migrationId: string, applications: ApplicationsOfMoved): readonly NextCommand[] {
  const [most] = applications.replaced
    .filter((each) => remedyForReplaced(each, applications, 'support').registerAgain !== null)
    .sort((one, other) => other.companies - one.companies);
  if (most === undefined) return [];
  const { clientId, environment } = most.application;
  return [
    bySupport(
      `ferry application ${migrationId} --client-id ${shellQuoted(clientId)} --environment ${environment === 'sandbox' ? 'sandbox' : 'production'}`,
    ),
  ];
}
