/** Lists invitations to the portal, for `ferry invite --list`. */
import { fingerprintOf } from '../../security';
import { isOver } from '../../domain/migration/terminated';
import type { MigrationClient, MigrationSummary } from '../../client';
import { listUnconfirmedKeys, type Invitation, type UnconfirmedKey } from '../../store';
import type { CommandResult, Output } from '../terminal/output';
import { bySupport, type NextCommand } from '../suggestions/remedy-commands';
import { shortTime } from '../terminal/times';

/** Number of characters of an id that are printed, and that are enough for `--revoke`. */
export const SHORT_ID_LENGTH = 8;

/**
 * Returns the list of invitations as the result of a command.
 *
 * @param open ids of the migrations that are open; a key can be confirmed only for these
 * @param isOfOneMigration true if all invitations are to the same migration, which is then not printed
 */
export function invitationsResult(
  invitations: readonly Invitation[],
  open: ReadonlySet<string>,
  isOfOneMigration: boolean,
): CommandResult {
  const now = new Date();
  return {
    json: { schema: 'ferry.invitations/1', invitations: invitations.map((each) => invitationJson(each, now)) },
    print: (output) => {
      if (invitations.length === 0) return output.line('No invitations.');
      output.table(
        [
          { title: 'Id', unbroken: true },
          ...(isOfOneMigration ? [] : ['Migration']),
          ...['Person', 'Role', 'Sign-in', 'State', 'Key'],
        ],
        invitations.map((each) => [
          each.id.slice(0, SHORT_ID_LENGTH),
          ...(isOfOneMigration ? [] : [each.migrationId]),
          ...[each.person, each.role, signInText(each), stateText(each, now), keyText(each)],
        ]),
      );
      for (const each of invitations.filter(isUnconfirmed)) {
        if (!open.has(each.migrationId)) continue;
        output.line();
        output.line(`${each.person}'s key: ${fingerprintText(each)}`);
        output.line(
          `Ask ${each.person} for the fingerprint by phone. If the fingerprint is the same, confirm the key with:`,
        );
        output.line(`  ${confirmationOf(each)}`);
      }
    },
  };
}

/** Returns whether a person has signed in with an unconfirmed key. False if the invitation was revoked. */
export function isUnconfirmed({ publicKey, keyConfirmedAt, revokedAt }: Invitation): boolean {
  return publicKey !== null && keyConfirmedAt === null && revokedAt === null;
}

const confirmationOf = (invitation: Invitation): string =>
  `ferry approver add ${invitation.migrationId} ${fingerprintText(invitation)}`;

/** Returns the commands with which support confirms the keys of invited people. Until then, they cannot decide. */
export function keyConfirmations(invitations: readonly Invitation[]): readonly NextCommand[] {
  return invitations.filter(isUnconfirmed).map((each) => ({
    ...bySupport(confirmationOf(each)),
    first: `ask ${each.person} by phone for the fingerprint of the key, and compare it with the fingerprint in this command`,
  }));
}

/** Reads the people in open migrations whose keys support has to confirm. Empty without the ledger. */
export async function readKeysToConfirm(
  { db }: Pick<MigrationClient, 'db'>,
  listed: readonly Pick<MigrationSummary, 'migrationId' | 'state'>[],
): Promise<readonly UnconfirmedKey[]> {
  if (!db) return [];
  const open = new Set(listed.flatMap(({ migrationId, state }) => (isOver(state) ? [] : [migrationId])));
  return (await listUnconfirmedKeys(db, null)).filter(({ migrationId }) => open.has(migrationId));
}

/** Names the people whose keys support has to confirm, with the command that says how. */
export function printKeysToConfirm(output: Output, toConfirm: readonly UnconfirmedKey[]): void {
  for (const id of new Set(toConfirm.map(({ migrationId }) => migrationId))) {
    const people = toConfirm.flatMap(({ migrationId, person }) => (migrationId === id ? [person] : []));
    const [keys, these] = people.length === 1 ? ['key', 'this key'] : ['keys', 'these keys'];
    const names = new Intl.ListFormat('en').format(new Set(people));
    output.line(`Support has not confirmed the ${keys} of ${names} for ${id}.`);
    output.line(`  To see how to confirm ${these}, run: ferry invite --list ${id}`);
  }
}

const signInText = ({ issuer, email }: Invitation): string => (issuer === null ? 'link' : (email ?? ''));

type InvitationState = 'unused' | 'expired' | 'signed-in' | 'signed-out' | 'revoked';

function stateOf({ revokedAt, redeemedAt, expiresAt, sessions }: Invitation, now: Date): InvitationState {
  if (revokedAt !== null) return 'revoked';
  if (redeemedAt !== null) return sessions > 0 ? 'signed-in' : 'signed-out';
  return expiresAt > now ? 'unused' : 'expired';
}

function stateText(invitation: Invitation, now: Date): string {
  const at = (moment: Date | null): string => (moment === null ? '' : ` ${shortTime(moment.toISOString(), now)}`);
  switch (stateOf(invitation, now)) {
    case 'unused':
      return `not used yet, expires${at(invitation.expiresAt)}`;
    case 'expired':
      return `expired${at(invitation.expiresAt)}`;
    case 'signed-in':
      return `signed in, last used${at(invitation.lastUsedAt)}`;
    case 'signed-out':
      return 'signed out';
    case 'revoked':
      return `revoked${at(invitation.revokedAt)} by ${invitation.revokedBy ?? ''}`;
  }
}

function keyText({ publicKey, keyConfirmedAt }: Invitation): string {
  if (publicKey === null) return '';
  return keyConfirmedAt === null ? 'not confirmed' : 'confirmed';
}

export function fingerprintText({ publicKey }: Invitation): string {
  return publicKey === null ? '' : fingerprintOf(Buffer.from(publicKey, 'hex'));
}

function invitationJson(invitation: Invitation, now: Date) {
  const { publicKey, createdAt, expiresAt, redeemedAt, keyConfirmedAt, revokedAt, lastUsedAt, ...others } = invitation;
  const time = (moment: Date | null): string | null => moment?.toISOString() ?? null;
  return {
    ...others,
    signIn: others.issuer === null ? 'link' : 'openid',
    state: stateOf(invitation, now),
    createdAt: createdAt.toISOString(),
    expiresAt: expiresAt.toISOString(),
    redeemedAt: time(redeemedAt),
    lastUsedAt: time(lastUsedAt),
    keyFingerprint: publicKey === null ? null : fingerprintText(invitation),
    keyConfirmedAt: time(keyConfirmedAt),
    revokedAt: time(revokedAt),
  };
}
