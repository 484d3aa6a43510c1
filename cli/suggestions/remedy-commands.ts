import type { MoveStage } from '../../domain/companies/company-state';
import { acceptedRemedies, type Remediable, type Remedy } from '../../domain/companies/remedies';
import type { Role } from '../../domain/migration/steps';
import type { ApplicationFacts } from '../../domain/preflight/applications';
import { findPlatform } from '../../platforms/platforms';
import type { LedgerCompany, StoredMigration } from '../../store';
import { shellQuoted } from '../../domain/text/shell-quoted';

/** A command that is useful next, quoted for a POSIX shell. It can contain a placeholder, such as {@link BY_CLIENT}. */
export interface NextCommand {
  readonly who: Role;
  readonly command: string;
  /** An action without which the command does not help; absent if none is needed. */
  readonly first?: string;
  /** The effect of the command; absent if its name says it. */
  readonly does?: string;
}

/** Maximum number of references in {@link referenceWords}, and in the list of deferred companies. */
export const MAX_REFERENCES_IN_A_CONFIRMATION = 8;

/** Maximum number of references in {@link referenceArguments}. */
export const MAX_REFERENCES_IN_A_COMMAND = 50;

/** The options of a command that the client runs, if the person's name is not known. */
export const BY_CLIENT = '--as client --by "your name"';

/** Returns the options of a command that this person at the client runs. */
export function byClientNamed(name: string): string {
  return `--as client --by ${shellQuoted(name)}`;
}

/** Matches the end of a command that the client runs. */
export const AS_CLIENT = / --as client --by .+$/;

/** The option of a decision that needs a reason. */
export const WITH_REASON = '--reason "why"';

export const bySupport = (command: string): NextCommand => ({ who: 'support', command });
export const byClient = (command: string): NextCommand => ({ who: 'client', command: `${command} ${BY_CLIENT}` });

/** The facts about a migration that decide which remedies it accepts. */
interface RemedyStage extends Pick<StoredMigration, 'route' | 'released' | 'firstRow'> {
  /** A migration that was terminated in Temporal accepts no remedy, even if the ledger does not know it yet. */
  readonly stage: MoveStage;
}

/**
 * Returns the remedies that the migration now accepts for a company, and that can help; none once no company can move.
 */
export function remediesNow(
  company: Remediable & Pick<LedgerCompany, 'row'>,
  { route, stage, released, firstRow }: RemedyStage,
): readonly Remedy[] {
  if (stage !== 'open') return [];
  const rules = { route, isCompleting: released === 'all', isFirst: company.row === firstRow };
  const accepted = acceptedRemedies(company, rules);
  return accepted.filter((remedy) => {
    // In self-service, the client asks support to register the application.
    if (remedy === 'application') return route !== 'self-service';
    // `exclude` and `skip` both leave the company out. `skip` also records that it was tried, so `exclude` is omitted.
    return remedy !== 'exclude' || !accepted.includes('skip');
  });
}

/** The facts about a migration that the commands of remedies contain. */
export interface RemedyTarget extends Pick<StoredMigration, 'id' | 'route' | 'suppliedBy' | 'platformKey'> {
  /** The application that was supplied last; null if none was. */
  readonly application: ApplicationFacts | null;
}

/**
 * Returns the environment to suggest for an application: the platform's own environment; if the platform has none, the
 * environment of a known application; otherwise production.
 *
 * @param application a known application, for example the one that was supplied last; null if none is known
 */
export function environmentFor(platformKey: string, application: ApplicationFacts | null): 'production' | 'sandbox' {
  const environment = findPlatform(platformKey)?.environment ?? application?.environment;
  return environment === 'sandbox' ? 'sandbox' : 'production';
}

/**
 * Returns the command that applies a remedy to companies. In self-service, the client decides, so the command gets the
 * name of the person who supplied the manifest.
 */
export function remedyCommand(remedy: Remedy, migration: RemedyTarget, references: readonly string[]): string {
  const { route, suppliedBy } = migration;
  const command = commandOf(remedy, migration, references);
  return route === 'self-service' ? `${command} ${byClientNamed(suppliedBy)}` : command;
}

/** Returns the command with which the client applies a remedy. In the managed route, the name is a placeholder. */
export function clientRemedyCommand(remedy: Remedy, migration: RemedyTarget, references: readonly string[]): string {
  const command = remedyCommand(remedy, migration, references);
  return AS_CLIENT.test(command) ? command : `${command} ${BY_CLIENT}`;
}

function commandOf(
  remedy: Remedy,
  { id: migrationId, platformKey, application }: RemedyTarget,
  references: readonly string[],
): string {
  switch (remedy) {
    case 'retry':
    case 'relink':
      return `ferry ${remedy} ${migrationId} ${references.length > MAX_REFERENCES_IN_A_COMMAND ? '--all' : referenceArguments(references)}`;
    case 'skip':
    case 'exclude':
      return `ferry ${remedy} ${migrationId} ${referenceArguments(references)} ${WITH_REASON}`;
    case 'replace-credential':
      return `ferry replace-credential ${migrationId} new-credentials.csv`;
    case 'credentials':
      return `ferry credentials ${migrationId} new-credentials.csv`;
    case 'application':
      return `ferry application ${migrationId} --client-id "client id" --environment ${environmentFor(platformKey, application)} ${BY_CLIENT}`;
    case 'amend':
      return `ferry amend ${migrationId} companies.csv`;
  }
}

const FILE_EXAMPLE = '--file references.txt';

/**
 * Returns the first references as words of a command; an example of `--file` if a reference would be taken for an
 * option. {@link otherReferencesText} says how many are missing.
 */
export function referenceArguments(references: readonly string[]): string {
  const first = references.slice(0, MAX_REFERENCES_IN_A_COMMAND);
  return first.some((each) => each.startsWith('-')) ? FILE_EXAMPLE : first.map(shellQuoted).join(' ');
}

/**
 * Says how many companies a command with {@link referenceArguments} leaves out, what the file of its `--file` must
 * contain, or that its `--all` can include other companies.
 *
 * @param companies number of companies that the command is for
 * @returns null if the command names exactly these companies, or none
 */
export function otherReferencesText(
  command: string,
  references: readonly string[],
  companies = references.length,
): string | null {
  if (command.split(' ').includes('--all')) return '--all also includes any companies with other problems';
  const others = companies - MAX_REFERENCES_IN_A_COMMAND;
  const words = referenceArguments(references);
  if (!command.includes(words)) return null;
  if (words === FILE_EXAMPLE) return 'put the references of these companies into the file, one per line';
  return others > 0
    ? `the command names only the first ${MAX_REFERENCES_IN_A_COMMAND} companies: add the ${others === 1 ? 'reference of the other company' : `references of the other ${others}`}`
    : null;
}

/**
 * Returns references as words of a command; null if there are too many, or if a reference would be taken for an option.
 */
export function referenceWords(references: readonly string[]): string | null {
  const fit = references.length <= MAX_REFERENCES_IN_A_CONFIRMATION && !references.some((each) => each.startsWith('-'));
  return fit ? references.map(shellQuoted).join(' ') : null;
}

/** Returns the command that starts a migration of the same client, platform and route, with another label. */
export function restartCommand({ id, client, platformKey, route }: StoredMigration): string {
  const slug = findPlatform(platformKey)?.slug ?? platformKey;
  const earlier = /\.again(?:-(\d+))?$/.exec(id);
  const label = earlier ? `again-${Number(earlier[1] ?? 1) + 1}` : 'again';
  const command = route === 'managed' ? 'start' : 'self-service';
  return `ferry ${command} companies.csv --platform ${slug} --client ${client} --label ${label}`;
}
