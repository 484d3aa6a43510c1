/**
 * Adapts suggested commands for a client whose signing keys are in the portal. The client's decisions must be signed,
 * and a key never leaves the browser or the machine of its owner, so support cannot decide with `--as client`.
 */
import { signingRules, type SigningRules } from '../../domain/migration/approvers';
import type { Progress } from '../../domain/progress/progress';
import type { LedgerClient, MigrationClient } from '../../client';
import { listInvitations, readMigration, readRecordedDecisions, type Database } from '../../store';
import { AS_CLIENT, type NextCommand } from '../suggestions/remedy-commands';

/** The placeholder for the portal's address in commands, used if the address is not configured. */
const ANY_PORTAL = '"address of the portal"';

/** Matches `ferry amend`. The portal does not have this command, so support runs it. */
const BY_SUPPORT = /^ferry amend /;

/** Reads the signing rules that now apply to a migration. */
export async function readSigningRules(db: Database, migrationId: string): Promise<SigningRules> {
  const [migration, { approverChanges }] = await Promise.all([
    readMigration(db, migrationId),
    readRecordedDecisions(db, migrationId),
  ]);
  return signingRules(migration?.rules?.approvers ?? null, approverChanges);
}

/** Returns the portal's address, if the client signs its decisions in the portal; null if it does not. */
export async function readClientPortal(
  { db, portalUrl }: Pick<LedgerClient, 'db' | 'portalUrl'>,
  migrationId: string,
): Promise<string | null> {
  const [{ approvers }, invitations] = await Promise.all([
    readSigningRules(db, migrationId),
    listInvitations(db, migrationId),
  ]);
  const isInPortal = approvers.some(
    ({ role, publicKey }) => role === 'client' && invitations.some((each) => each.publicKey === publicKey),
  );
  return isInPortal ? (portalUrl ?? ANY_PORTAL) : null;
}

/**
 * Returns the portal's address, if the client must sign its decisions in the portal. Returns null if it does not,
 * without the ledger, or if no worker has answered.
 */
export async function readSigningPortal(
  { db, portalUrl }: Pick<MigrationClient, 'db' | 'portalUrl'>,
  progress: Progress | undefined,
): Promise<string | null> {
  if (!db || !progress?.signing.mustSign.includes('client')) return null;
  return readClientPortal({ db, portalUrl }, progress.migrationId);
}

/**
 * Turns a command with `--as client` into a command of `ferry --portal`, or, if the portal does not have the command,
 * into a command for support. Returns any other command unchanged.
 *
 * @param portal the portal's address; null if the client does not sign in the portal, in which case no command is
 * changed
 */
export function clientCommand(command: string, portal: string | null): string {
  if (portal === null || !AS_CLIENT.test(command)) return command;
  const words = command.replace(AS_CLIENT, '');
  return BY_SUPPORT.test(words) ? words : words.replace(/^ferry /, `ferry --portal ${portal} `);
}

/** Applies {@link clientCommand} to next commands. */
export function throughPortal(commands: readonly NextCommand[], portal: string | null): readonly NextCommand[] {
  return commands.map((each) => {
    const command = clientCommand(each.command, portal);
    const isForSupport = portal !== null && BY_SUPPORT.test(command);
    return { ...each, command, ...(isForSupport ? { who: 'support' } : {}) };
  });
}
