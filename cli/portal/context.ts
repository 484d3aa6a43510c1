/** The commands of a client: what each receives, and how a person types them. */
import type { Context } from '../shared/context';
import { shellQuoted } from '../../domain/text/shell-quoted';
import { readSignIns } from './sign-ins';
import type { PortalLink, PortalTarget } from './target';

/** The parts of the program that every command of a client receives. */
export interface PortalContext extends Context {
  readonly target: PortalTarget;
  /** Parses the link. @throws CommandFailed */
  readonly link: () => PortalLink;
}

/**
 * Returns a command as the person types it, with `--portal` unless `TOKENFERRY_PORTAL` replaces it.
 *
 * @param migrationId the migration of the command; absent if the command is not about one migration
 */
export function commandText(context: PortalContext, command: string, migrationId?: string): string {
  const { target, link } = context;
  const words = migrationId === undefined ? command : withMigrationId(context, command, migrationId);
  return target.isOption ? `ferry --portal ${shellQuoted(link().origin)} ${words}` : `ferry ${words}`;
}

/**
 * Returns a command, without `ferry`. Adds the migration after the command's name if the person has signed in to
 * several migrations; otherwise, the command works without a migration.
 */
export function withMigrationId({ link, terminal }: PortalContext, command: string, migrationId: string): string {
  if (readSignIns(terminal.env, link().origin).length < 2) return command;
  return command.replace(/^\S+/, (name) => `${name} ${migrationId}`);
}
