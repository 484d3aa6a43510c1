/** Lists and revokes invitations to the portal, for `ferry invite --list` and `--revoke`. */
import { NoSuchMigration } from '../../../client';
import { approverRefusal } from '../../../domain/decisions/approver-changes';
import { approverWithKey, everyApprover, type Approver } from '../../../domain/migration/approvers';
import { ROLES, type Role } from '../../../domain/migration/steps';
import {
  listInvitations,
  readMigration,
  readRecordedDecisions,
  revokeInvitation,
  type Database,
  type Invitation,
} from '../../../store';
import { unsignedDecisionsText, verificationCommands } from '../../reporting/trail-approvers';
import { readSigningRules } from '../../connections/client-portal';
import { CommandFailed } from '../../shared/errors';
import { fingerprintText, invitationsResult, isUnconfirmed, SHORT_ID_LENGTH } from '../../shared/invitations';
import { readOpenMigrations } from '../../connections/open-migrations';
import { shellQuoted } from '../../../domain/text/shell-quoted';
import { withMoreText, type CommandResult } from '../../terminal/output';

async function assertExists(db: Database, migrationId: string): Promise<void> {
  if ((await readMigration(db, migrationId)) === undefined) throw new NoSuchMigration(migrationId);
}

/** Lists the invitations to one migration, or to all, and how to confirm new keys and verify signed decisions. */
export const list =
  (env: NodeJS.ProcessEnv, migrationId: string | undefined) =>
  async (db: Database): Promise<CommandResult> => {
    if (migrationId !== undefined) await assertExists(db, migrationId);
    const invitations = await listInvitations(db, migrationId ?? null);
    const toConfirm = invitations.filter(isUnconfirmed).map((each) => each.migrationId);
    const open = await readOpenMigrations(env, db, toConfirm);
    const result = invitationsResult(invitations, open, migrationId !== undefined);
    const { approvers, atStart } =
      migrationId === undefined ? { approvers: [], atStart: [] } : await readEveryApprover(db, migrationId);
    if (approvers.length === 0 || migrationId === undefined) return result;
    return withMoreText(result, (output) => {
      output.line();
      output.line(
        'To verify signed decisions, compare the fingerprints in the second command below with the fingerprints ' +
          'that the approvers told you. Then run:',
      );
      for (const each of verificationCommands(migrationId, approvers)) output.line(`  ${each}`);
      const isAddedLater = (role: Role): boolean =>
        approvers.some((each) => each.role === role) && !atStart.some((each) => each.role === role);
      for (const role of ROLES.filter(isAddedLater)) output.line(unsignedDecisionsText(role));
    });
  };

/** Reads all approvers that a migration has had, and those with which it was started. */
async function readEveryApprover(
  db: Database,
  migrationId: string,
): Promise<Readonly<Record<'approvers' | 'atStart', readonly Approver[]>>> {
  const migration = await readMigration(db, migrationId);
  const { approverChanges } = await readRecordedDecisions(db, migrationId);
  const atStart = migration?.rules?.approvers ?? null;
  return { approvers: everyApprover(atStart, approverChanges), atStart: atStart ?? [] };
}

/** @throws CommandFailed if the text is too short, or unless exactly one invitation has an id that begins with it */
function findByStart(invitations: readonly Invitation[], start: string): Invitation {
  if (start.length < SHORT_ID_LENGTH)
    throw new CommandFailed(
      `${start} is too short for the id of an invitation`,
      `specify at least the first ${SHORT_ID_LENGTH} characters of the id; list the invitations with: ferry invite --list`,
    );
  const [found, ...others] = invitations.filter((each) => each.id.startsWith(start.toLowerCase()));
  if (found === undefined)
    throw new CommandFailed(`there is no invitation ${start}`, 'list the invitations with: ferry invite --list');
  if (others.length > 0)
    throw new CommandFailed(
      `the ids of several invitations begin with ${start}`,
      'specify the complete id; to see the complete ids, run: ferry invite --list --json',
    );
  return found;
}

/** Returns whether the migration refuses to remove the key of an invitation, because it is the last of its role. */
async function hasLastKey(db: Database, { migrationId, publicKey }: Invitation): Promise<boolean> {
  const rules = await readSigningRules(db, migrationId);
  const approver = publicKey === null ? undefined : approverWithKey(rules.approvers, publicKey);
  if (approver === undefined) return false;
  const removal = { kind: 'remove-approver', approver, role: 'support', by: '', decisionId: '' } as const;
  return approverRefusal(removal, rules) !== null;
}

/** Revokes an invitation by the beginning of its id. */
export const revoke =
  (env: NodeJS.ProcessEnv, id: string, by: string) =>
  async (db: Database): Promise<CommandResult> => {
    const found = findByStart(await listInvitations(db, null), id);
    if (!(await revokeInvitation(db, found.id, by)))
      throw new CommandFailed(`the invitation of ${found.person} was already revoked`, 'nothing was changed');
    const { migrationId, person, sessions } = found;
    const isAccepted = found.keyConfirmedAt !== null && (await readOpenMigrations(env, db, [migrationId])).size > 0;
    const isLast = isAccepted && (await hasLastKey(db, found));
    return {
      json: { schema: 'ferry.invitation-revoked/1', id: found.id, migrationId, person },
      printQuietly: () => undefined,
      print: (output) => {
        const ended = sessions > 0 ? ', and its sessions have ended' : '';
        output.line(`${output.styled('green', '✓')} ${person}'s invitation to ${migrationId} is revoked${ended}.`);
        if (!isAccepted) return;
        const removal = `run: ferry approver remove ${migrationId} ${fingerprintText(found)}`;
        output.line(
          isLast
            ? `The migration still accepts decisions that ${person} signs with their key. The last key of the client's approvers cannot be removed, so first add another key, for example with: ferry invite ${migrationId} --name ${shellQuoted(person)}; once you have confirmed the new key, ${removal}`
            : `To stop accepting decisions that ${person} signs with their key, ${removal}`,
        );
      },
    };
  };
