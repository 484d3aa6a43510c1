import { InvalidArgumentError, Option } from 'commander';
import { NoSuchMigration } from '../../../client';
import { loadConfig } from '../../../config';
import { MAX_NAME_LENGTH } from '../../../domain/migration/parse-decision';
import type { Approver } from '../../../domain/migration/approvers';
import { signingRules } from '../../../domain/migration/approvers';
import { fingerprintOf } from '../../../security';
import {
  createInvitation,
  listInvitations,
  openDatabase,
  readMigration,
  readRecordedDecisions,
  revokeInvitation,
  type Database,
  type Invitation,
  type PortalRole,
} from '../../../store';
import { verificationCommands } from '../../reporting/trail-approvers';
import type { Context } from '../../shared/context';
import { DEFAULT_BY } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { parseDuration } from '../../shared/limit-options';
import { choiceOption } from '../../shared/options';
import type { CommandResult } from '../../terminal';
import { localTime, shortTime } from '../../terminal/times';

interface InviteOptions {
  readonly name?: string;
  readonly email?: string;
  readonly role: PortalRole;
  readonly expires: number;
  readonly list?: true;
  readonly revoke?: string;
  readonly by: string;
}

/** The letters of an id that are printed, and that are enough for `--revoke`. */
const SHORT_ID_LENGTH = 8;

/** `ferry invite`: gives people of the client access to the portal, and takes it away. Needs the ledger. */
export function addInvite({ program, run, terminal }: Context): void {
  program
    .command('invite [migration]')
    .description(
      'Print a link with which a person of the client can open the portal once, or list or revoke invitations',
    )
    .option('--name <person>', 'name of the person, under which the portal records decisions', parseName)
    .option('--email <address>', 'address of the person, only for your own list; the command sends no mail')
    .addOption(
      choiceOption('--role <role>', 'client: may decide and supply; viewer: may only read', [
        'client',
        'viewer',
      ]).default('client'),
    )
    .addOption(
      new Option('--expires <duration>', 'how long the link can be used, e.g. 12h or 3d, at most 30d')
        .argParser(parseLifetime)
        .default(DEFAULT_LIFETIME_MS, '3d'),
    )
    .option('--list', 'list the invitations to the migration, or to all migrations')
    .option('--revoke <id>', 'revoke an invitation: its link and its sessions stop working at once')
    .option('--by <name>', `your name ${DEFAULT_BY}`)
    .action((migration: string | undefined, options: InviteOptions) =>
      run(() => {
        if (options.revoke !== undefined) return withDatabase(terminal.env, revoke(options.revoke, options.by));
        if (options.list) return withDatabase(terminal.env, list(migration));
        return invite(terminal.env, migration, options);
      }),
    );
}

const MS_PER_DAY = 86_400_000;
const DEFAULT_LIFETIME_MS = 3 * MS_PER_DAY;
const MAX_LIFETIME_MS = 30 * MS_PER_DAY;

function parseName(text: string): string {
  const name = text.trim();
  if (name !== '' && name.length <= MAX_NAME_LENGTH) return name;
  throw new InvalidArgumentError(`Expected a name of at most ${MAX_NAME_LENGTH} characters.`);
}

function parseLifetime(text: string): number {
  const lifetimeMs = parseDuration(text);
  if (lifetimeMs >= 60_000 && lifetimeMs <= MAX_LIFETIME_MS) return lifetimeMs;
  throw new InvalidArgumentError('Expected a duration from 1m to 30d.');
}

async function withDatabase(
  env: NodeJS.ProcessEnv,
  work: (db: Database) => Promise<CommandResult>,
): Promise<CommandResult> {
  const { databaseUrl } = loadConfig(['databaseUrl'], env);
  const db = await openDatabase({ url: databaseUrl.reveal(), connections: 1 });
  try {
    return await work(db);
  } finally {
    await db.destroy();
  }
}

function invite(
  env: NodeJS.ProcessEnv,
  migrationId: string | undefined,
  { name: person, email, role, expires, by }: InviteOptions,
): Promise<CommandResult> {
  if (migrationId === undefined || person === undefined)
    throw new CommandFailed(
      'an invitation is for one person and one migration',
      'name both, for example: ferry invite acme.quickbooks-online --name Cleo',
    );
  const { portalUrl, providerFingerprint } = loadConfig(['portalUrl'], env, ['providerFingerprint']);
  return withDatabase(env, async (db) => {
    await assertExists(db, migrationId);
    const expiresAt = new Date(Date.now() + expires);
    const invitation = { migrationId, person, role, email: email ?? null, createdBy: by, expiresAt };
    const { id, token } = await createInvitation(db, invitation);
    const provider = providerFingerprint === undefined ? '' : `&provider=${fingerprintInLink(providerFingerprint)}`;
    const link = `${portalUrl}/#invitation=${token}${provider}`;
    return {
      json: { schema: 'ferry.invitation/1', id, ...invitation, expiresAt: expiresAt.toISOString(), link },
      printQuietly: (output) => output.line(link),
      print: (output) => {
        output.line(
          `${output.styled('green', '✓')} Invited ${person} to ${migrationId} as ${role}. Send this link to nobody else:`,
        );
        output.line();
        output.line(link);
        output.line();
        output.line(`It works once, until ${localTime(expiresAt)}, and is not shown again.`);
        if (role === 'client')
          output.line(
            `The page then shows ${person} the fingerprint of a key. Ask for it by phone, and compare it with: ferry invite --list ${migrationId}`,
          );
        if (provider === '')
          output.line(
            `${output.styled('yellow', '!')} The link does not contain your fingerprint as the provider, so the page cannot check for whom it seals credentials. Set TOKENFERRY_PROVIDER_FINGERPRINT, and invite ${person} again.`,
          );
        output.line(`Revoke it with: ferry invite --revoke ${id.slice(0, SHORT_ID_LENGTH)}`);
      },
    };
  });
}

/** Returns the fingerprint as `fingerprintOf` writes it, because the variable can have spaces and capital letters. */
function fingerprintInLink(fingerprint: string): string {
  const digits = fingerprint.toLowerCase().replace(/[\s-]/g, '');
  return (digits.match(/.{4}/g) ?? []).join('-');
}

async function assertExists(db: Database, migrationId: string): Promise<void> {
  if ((await readMigration(db, migrationId)) === undefined) throw new NoSuchMigration(migrationId);
}

const list =
  (migrationId: string | undefined) =>
  async (db: Database): Promise<CommandResult> => {
    if (migrationId !== undefined) await assertExists(db, migrationId);
    const now = new Date();
    const invitations = await listInvitations(db, migrationId ?? null);
    const approvers = migrationId === undefined ? [] : await readApprovers(db, migrationId);
    return {
      json: { schema: 'ferry.invitations/1', invitations: invitations.map((each) => invitationJson(each, now)) },
      print: (output) => {
        if (invitations.length === 0) return output.line('No invitations.');
        output.table(
          [
            { title: 'Id', unbroken: true },
            ...(migrationId === undefined ? [{ title: 'Migration' }] : []),
            ...[{ title: 'Person' }, { title: 'Role' }, { title: 'State' }, { title: 'Key' }],
          ],
          invitations.map((each) => [
            each.id.slice(0, SHORT_ID_LENGTH),
            ...(migrationId === undefined ? [each.migrationId] : []),
            ...[each.person, each.role, stateText(each, now), keyText(each)],
          ]),
        );
        const isUnconfirmed = ({ publicKey, keyConfirmedAt, revokedAt }: Invitation): boolean =>
          publicKey !== null && keyConfirmedAt === null && revokedAt === null;
        for (const each of invitations.filter(isUnconfirmed)) {
          output.line();
          output.line(`${each.person}'s key: ${fingerprintText(each)}`);
          output.line(`Ask ${each.person} for the fingerprint by phone. If it is the same, confirm it with:`);
          output.line(`  ferry approver add ${each.migrationId} ${fingerprintText(each)}`);
        }
        if (approvers.length > 0 && migrationId !== undefined) {
          output.line();
          output.line('To verify what people have signed, with fingerprints that you compared with them:');
          for (const each of verificationCommands(migrationId, approvers)) output.line(`  ${each}`);
        }
      },
    };
  };

async function readApprovers(db: Database, migrationId: string): Promise<readonly Approver[]> {
  const migration = await readMigration(db, migrationId);
  const { approverChanges } = await readRecordedDecisions(db, migrationId);
  return signingRules(migration?.rules?.approvers ?? null, approverChanges).approvers;
}

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
      return `not used yet, until${at(invitation.expiresAt)}`;
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

function fingerprintText({ publicKey }: Invitation): string {
  return publicKey === null ? '' : fingerprintOf(Buffer.from(publicKey, 'hex'));
}

function invitationJson(invitation: Invitation, now: Date) {
  const { publicKey, createdAt, expiresAt, redeemedAt, keyConfirmedAt, revokedAt, lastUsedAt, ...others } = invitation;
  const time = (moment: Date | null): string | null => moment?.toISOString() ?? null;
  return {
    ...others,
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

const revoke =
  (id: string, by: string) =>
  async (db: Database): Promise<CommandResult> => {
    const [found, ...others] = (await listInvitations(db, null)).filter(
      (each) => id.length >= SHORT_ID_LENGTH && each.id.startsWith(id.toLowerCase()),
    );
    if (found === undefined || others.length > 0)
      throw new CommandFailed(`there is no invitation ${id}`, 'list the invitations with: ferry invite --list');
    if (!(await revokeInvitation(db, found.id, by)))
      throw new CommandFailed(`the invitation of ${found.person} was already revoked`, 'nothing was changed');
    const { migrationId, person, sessions } = found;
    return {
      json: { schema: 'ferry.invitation-revoked/1', id: found.id, migrationId, person },
      printQuietly: () => undefined,
      print: (output) => {
        const signedOut = sessions > 0 ? `, and ${person} is signed out` : '';
        output.line(`${output.styled('green', '✓')} ${person}'s invitation to ${migrationId} is revoked${signedOut}.`);
        if (found.keyConfirmedAt !== null)
          output.line(
            `To stop accepting decisions that ${person} signs with this key, run: ferry approver remove ${migrationId} ${fingerprintText(found)}`,
          );
      },
    };
  };
