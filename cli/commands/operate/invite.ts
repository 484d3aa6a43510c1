import { InvalidArgumentError, Option } from 'commander';
import { NoSuchMigration } from '../../../client';
import { loadConfig } from '../../../config';
import {
  createIdentityInvitation,
  createInvitation,
  openDatabase,
  readMigration,
  type Database,
  type PortalRole,
} from '../../../store';
import type { Context } from '../../shared/context';
import { parseName } from '../../options/person-name';
import { DEFAULT_BY } from '../../shared/decisions';
import { CommandFailed } from '../../shared/errors';
import { SHORT_ID_LENGTH } from '../../shared/invitations';
import { parseDuration } from '../../options/limit-options';
import { choiceOption, parseFingerprint } from '../../options/options';
import type { CommandResult } from '../../terminal/output';
import { list, revoke } from './invitations';
import { localTime } from '../../terminal/times';

interface InviteOptions {
  readonly name?: string;
  readonly email?: string;
  readonly role: PortalRole;
  readonly signIn: 'link' | 'openid';
  readonly subject?: string;
  readonly expires: number;
  readonly list?: true;
  readonly revoke?: string;
  readonly by: string;
}

/** `ferry invite`: gives the client's people access to the portal, and revokes it. Needs the ledger. */
export function addInvite({ program, run, terminal }: Context): void {
  program
    .command('invite [migration]')
    .description(
      'Print a link with which a person at the client signs in to the portal. --list and --revoke manage the invitations',
    )
    .option('--name <person>', 'name of the person; the portal records decisions under this name', parseName)
    .option(
      '--email <address>',
      'email address of the person. --sign-in openid requires it, because the person must sign in with an account that has this address. Otherwise, it is only stored, and shown only with --json. No email is sent',
      parseEmail,
    )
    .addOption(
      choiceOption('--role <role>', 'client: may decide and supply data; viewer: may only read', [
        'client',
        'viewer',
      ]).default('client'),
    )
    .addOption(
      choiceOption(
        '--sign-in <how>',
        'link: the link works once, for anyone who has it; openid: only the account with the --email address at your identity provider can sign in',
        ['link', 'openid'],
      ).default('link'),
    )
    .option('--subject <id>', 'with --sign-in openid: accept only the account with this id at the identity provider')
    .addOption(
      new Option(
        '--expires <duration>',
        'time within which the person must sign in for the first time, e.g. 12h or 3d, at most 30d',
      )
        .argParser(parseLifetime)
        .default(DEFAULT_LIFETIME_MS, '3d'),
    )
    .option('--list', 'list the invitations to this migration; without a migration, list all invitations')
    .option('--revoke <id>', 'revoke an invitation: its link and its sessions stop working at once')
    .option('--by <name>', `your name ${DEFAULT_BY}`)
    .action((migration: string | undefined, options: InviteOptions) =>
      run(() => {
        if (options.revoke !== undefined)
          return withDatabase(terminal.env, revoke(terminal.env, options.revoke, options.by));
        if (options.list) return withDatabase(terminal.env, list(terminal.env, migration));
        return invite(terminal.env, migration, options);
      }),
    );
}

const MS_PER_DAY = 86_400_000;
const DEFAULT_LIFETIME_MS = 3 * MS_PER_DAY;
const MAX_LIFETIME_MS = 30 * MS_PER_DAY;

function parseEmail(text: string): string {
  const email = text.trim();
  if (email.length <= 320 && /^[^\s@]+@[^\s@]+$/.test(email)) return email;
  throw new InvalidArgumentError('Expected an email address.');
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

async function invite(
  env: NodeJS.ProcessEnv,
  migrationId: string | undefined,
  options: InviteOptions,
): Promise<CommandResult> {
  const { name: person, email = null, role, expires, by } = options;
  if (migrationId === undefined || person === undefined)
    throw new CommandFailed(
      'an invitation is for one person and one migration',
      'specify both, for example: ferry invite acme.quickbooks-online --name Cleo',
    );
  const { portalUrl, providerFingerprint } = loadConfig(['portalUrl'], env, ['providerFingerprint']);
  const account = accountOf(env, options);
  return withDatabase(env, async (db) => {
    await assertOpen(db, migrationId);
    const expiresAt = new Date(Date.now() + expires);
    const invitation = { migrationId, person, role, email, createdBy: by, expiresAt };
    const { id, secret } = await create(db, invitation, account);
    const fingerprint = providerFingerprint === undefined ? null : parseFingerprint(providerFingerprint);
    const provider = fingerprint === null ? '' : `&provider=${fingerprint}`;
    const link = `${portalUrl}/#${secret ?? `migration=${encodeURIComponent(migrationId)}&sign-in=openid`}${provider}`;
    return {
      json: {
        ...{ schema: 'ferry.invitation/1', id, ...invitation, signIn: options.signIn },
        ...{ issuer: account?.issuer ?? null, subject: account?.subject ?? null },
        ...{ expiresAt: expiresAt.toISOString(), link },
      },
      printQuietly: (output) => output.line(link),
      print: (output) => {
        const what = secret === null ? 'Send this link:' : `Send this link only to ${person}:`;
        output.line(`${output.styled('green', '✓')} Invited ${person} to ${migrationId} as ${role}. ${what}`);
        output.line();
        output.line(link);
        output.line();
        output.line(
          secret === null
            ? `The link is not secret, because it admits only people who are invited, with their accounts: ${person} with ${email ?? ''} at ${account?.issuer ?? ''}. The first sign-in must be before ${localTime(expiresAt)}.`
            : `The link works once, until ${localTime(expiresAt)}. It is not shown again.`,
        );
        if (role === 'client')
          output.line(
            `After signing in, ${person} sees the fingerprint of a key on the page. Ask ${person} for this fingerprint by phone. ${person} can make decisions only after you have confirmed this key. To see the fingerprint to compare, and the command that confirms the key, run: ferry invite --list ${migrationId}`,
          );
        // A viewer supplies no credentials.
        if (provider === '' && role === 'client')
          output.line(
            `${output.styled('yellow', '!')} The link does not contain your provider fingerprint, so the page cannot check that it seals credentials with your key. Set TOKENFERRY_PROVIDER_FINGERPRINT to the fingerprint that ferry vault fingerprint prints, and invite ${person} again.`,
          );
        output.line(`To revoke the invitation, run: ferry invite --revoke ${id.slice(0, SHORT_ID_LENGTH)}`);
      },
    };
  });
}

interface Account {
  readonly issuer: string;
  readonly email: string;
  readonly subject: string | null;
}

/**
 * Returns the account with which the person must sign in; null if the link is enough.
 *
 * @throws CommandFailed
 */
function accountOf(env: NodeJS.ProcessEnv, { signIn, email, subject }: InviteOptions): Account | null {
  if (signIn === 'link') {
    if (subject === undefined) return null;
    throw new CommandFailed(
      '--subject works only with --sign-in openid',
      'add --sign-in openid, or leave out --subject',
    );
  }
  if (email === undefined)
    throw new CommandFailed(
      'an invitation with --sign-in openid is for one email address',
      'specify the address, for example: --email cleo@example.com',
    );
  const { issuer } = loadConfig(['openId'], env).openId;
  return { issuer, email, subject: subject ?? null };
}

/** Creates the invitation. `secret` is the secret part of the link; null if the person signs in with an account. */
async function create(
  db: Database,
  invitation: Parameters<typeof createInvitation>[1],
  account: Account | null,
): Promise<{ readonly id: string; readonly secret: string | null }> {
  if (account !== null) return { id: await createIdentityInvitation(db, { ...invitation, ...account }), secret: null };
  const { id, token } = await createInvitation(db, invitation);
  return { id, secret: `invitation=${token}` };
}

async function assertOpen(db: Database, migrationId: string): Promise<void> {
  const migration = await readMigration(db, migrationId);
  if (migration === undefined) throw new NoSuchMigration(migrationId);
  if (migration.state === 'closed')
    throw new CommandFailed(
      `migration ${migrationId} is ${migration.ending ?? 'closed'}, so it accepts no more invitations`,
      `nothing was created; to write a report that you can send to the client, run: ferry report ${migrationId} --format html > handover.html`,
    );
}
