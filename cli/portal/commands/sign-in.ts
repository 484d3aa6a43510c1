import { SessionSchema, type PortalSession } from '../../../portal/contract/session';
import { ApiError } from '../../../portal/client/api';
import { isCertificateRefused } from '../../../portal/client/failed-connection';
import { Secret } from '../../../security/secret';
import { createSigningKey, parseSigningKey } from '../../../security/signing-key';
import { addYesOption, confirm, type YesOption } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { shellQuoted } from '../../../domain/text/shell-quoted';
import type { CommandResult } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import { clause, wasNotSent } from '../api-errors';
import { apiOf, failingClearly, fingerprintOfKey, liveSession, sayOnce, validated } from '../connection';
import { commandText, type PortalContext } from '../context';
import { createFolder, deleteSignIn, readSignIns, writeSignIn, type SignIn } from '../sign-ins';
import { parseLink, type PortalLink } from '../target';

/**
 * `ferry --portal <link> sign-in`: redeems an invitation. Without one, signs in again with the stored key if the
 * session has ended.
 */
export function addSignIn(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('sign-in')
    .description(
      'Sign in with the link of your invitation. The first sign-in creates a key on this machine, which signs your decisions',
    )
    .action(() => run(() => failingClearly(context, () => signIn(context))));
}

/**
 * The time limit of each answer, in milliseconds, for a command that asks about several migrations. Short, because
 * `list` also shows the migrations about which the portal does not answer.
 */
export const EACH_WITHIN_MS = 10_000;

async function signIn(context: PortalContext): Promise<CommandResult> {
  const { output, terminal } = context;
  const link = context.link();
  assertNotForAccount(link);
  const stored = readSignIns(terminal.env, link.origin);
  if (link.invitation !== null)
    return redeem(context, link, link.invitation).catch((error: unknown) => {
      // The portal's own refusal has advice. A 403 without advice is from a proxy, and does not concern the invitation.
      if (!(error instanceof ApiError) || error.status !== 403 || error.advice === undefined || stored.length === 0)
        throw error;
      const known = stored.map(({ migrationId, person }) => `${migrationId} as ${person}`).join(', ');
      const see =
        stored.length === 1
          ? `see your migration with: ${commandText(context, 'show')}`
          : `see your migrations with: ${commandText(context, 'list')}`;
      throw new CommandFailed(
        `this invitation cannot be used, and you have already signed in on this machine to ${known}`,
        `${see}; if it says that your session has ended, or if the link is for another migration, ask your contact for a new invitation`,
        { cause: error },
      );
    });
  if (stored.length > 0) {
    const areSeveral = stored.length > 1;
    const waiting = { say: sayOnce(context), withinMs: areSeveral ? EACH_WITHIN_MS : undefined };
    const signedIn = await Promise.all(
      stored.map((each) => {
        const live = liveSession(context, each, waiting);
        return areSeveral ? live.catch(namingMigration(each)) : live;
      }),
    );
    return signedInResult(
      context,
      signedIn.map(({ session }) => ({ session, file: null })),
    );
  }
  if (!terminal.prompts || output.json)
    throw new CommandFailed(
      'the first sign-in needs the link of your invitation',
      "put the link in single quotes: ferry --portal '<link>' sign-in",
    );
  const typed = parseLink((await terminal.prompts.secret('The link of your invitation?')).trim(), PASTE_AGAIN);
  assertNotForAccount(typed);
  if (typed.origin !== link.origin)
    throw new CommandFailed(
      `the link leads to ${typed.origin}, but this command signs in to ${link.origin}`,
      `nothing was sent; if the link is from your invitation, run: ferry --portal ${shellQuoted(typed.origin)} sign-in; otherwise, run this command again, and paste the complete link of your invitation to ${link.origin}`,
    );
  if (typed.invitation === null) throw new CommandFailed('the link contains no invitation', PASTE_AGAIN);
  return redeem(context, typed, typed.invitation);
}

const PASTE_AGAIN = 'nothing was sent; run the command again, and paste the complete link of your invitation';

/** Names the migration in an error, because `sign-in` signs in to several migrations at once. */
function namingMigration({ migrationId }: SignIn): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof CommandFailed)) throw error;
    throw new CommandFailed(`${migrationId}: ${error.message}`, error.advice, { cause: error });
  };
}

/** @throws CommandFailed if the person must sign in with an account */
function assertNotForAccount({ isForAccount }: PortalLink): void {
  if (!isForAccount) return;
  throw new CommandFailed(
    'this invitation requires that you sign in with an account, which is possible only in a browser',
    'open the link in a browser, or ask your contact for an invitation that requires no account',
  );
}

async function redeem(
  context: PortalContext,
  { origin, providerFingerprint: provider }: PortalLink,
  invitation: string,
): Promise<CommandResult> {
  // Creates the folder first, because an invitation works only once, and its result must be stored.
  createFolder(context.terminal.env);
  const signingKey = new Secret(createSigningKey('client'));
  const { publicKey } = parseSigningKey(signingKey);
  const answer = await apiOf(origin, null)
    .redeem(invitation, publicKey, 'token')
    .catch((error: unknown) => {
      if (!(error instanceof ApiError) || error.advice !== undefined) throw error;
      if (!error.isTemporary && !wasNotSent(error)) throw error;
      const advice = wasNotSent(error)
        ? `the invitation was not used${isCertificateRefused(error.cause) ? '' : '; check the address and your connection'}`
        : 'run the command again; if the portal then refuses the invitation, ask your contact for a new invitation';
      throw new CommandFailed(clause(error.message), advice, { cause: error });
    });
  const { token } = answer;
  const session = validated(SessionSchema, answer);
  if (token === undefined)
    throw new CommandFailed('the portal sent no session', 'ask your contact for a new invitation');
  const { migrationId, person, role } = session;
  const file = writeSignIn(context.terminal.env, {
    ...{ portal: origin, migrationId, person, role, provider },
    ...{ signingKey, token: new Secret(token) },
  });
  return signedInResult(context, [{ session, file }], provider);
}

/** Says how long the person stays signed in: with a confirmed key, `ferry` begins a new session when one ends. */
function lifetimeText({ publicKey, isKeyConfirmed, expiresAt }: PortalSession): string {
  if (publicKey !== null && isKeyConfirmed) return '. When the session ends, ferry signs you in again with your key';
  const until = `, until ${localTime(expiresAt)} at the latest`;
  return publicKey === null
    ? until
    : `${until}. Once support has confirmed your key, ferry signs you in again when the session ends`;
}

interface SignedIn {
  readonly session: PortalSession;
  /** The new file with the key; null if the key existed. */
  readonly file: string | null;
}

function signedInResult(
  context: PortalContext,
  signedIn: readonly SignedIn[],
  provider: string | null = null,
): CommandResult {
  return {
    json: { schema: 'ferry.portal-sign-in/1', sessions: signedIn.map(({ session }) => sessionJson(session)), provider },
    printQuietly: () => undefined,
    print: (output) => {
      for (const { session, file } of signedIn) {
        const { migrationId, person, role, publicKey, isKeyConfirmed } = session;
        output.line(
          `${output.styled('green', '✓')} Signed in to ${migrationId} as ${person} (${role})${lifetimeText(session)}`,
        );
        if (file !== null) output.line(`  Your key and your session are in ${file}. Do not share this file.`);
        if (provider !== null)
          output.line(
            `  Fingerprint of the provider: ${provider}. Compare it with the fingerprint that the provider publishes.`,
          );
        if (publicKey === null || isKeyConfirmed) continue;
        output.line();
        output.line('Confirm your key by phone: call your contact, and read out this fingerprint:');
        output.line();
        output.line(`  ${output.styled('bold', fingerprintOfKey(publicKey))}`);
        output.line();
        output.line(
          'You can already read the migration. You can decide and supply once support has confirmed your key. If the migration has ended, you need not call. See your migration with:',
        );
        output.line(`  ${commandText(context, 'show', migrationId)}`);
      }
    },
  };
}

function sessionJson({ publicKey, ...session }: PortalSession) {
  return { ...session, keyFingerprint: publicKey === null ? null : fingerprintOfKey(publicKey) };
}

/** `ferry --portal <link> sign-out`: asks first, because the link of an invitation works only once. */
export function addSignOut(context: PortalContext): void {
  const { program, run, terminal } = context;
  addYesOption(
    program
      .command('sign-out <migration>')
      .description(
        'End your session, and delete your key from this machine. To sign in later, you need a new invitation',
      ),
  ).action((migrationId: string, options: YesOption) =>
    run(async () => {
      const signIn = readSignIns(terminal.env, context.link().origin).find((each) => each.migrationId === migrationId);
      if (!signIn)
        throw new CommandFailed(
          `you are not signed in to ${migrationId}`,
          `list your migrations with: ${commandText(context, 'list')}`,
        );
      const question = `Sign out of ${migrationId}?`;
      const notDone = 'you are still signed in';
      if (!(await confirm(context, options, { question, consequence: keyLost(signIn), notDone })))
        throw new CommandFailed(notDone, `see the migration with: ${commandText(context, 'show', migrationId)}`);
      await failingClearly(context, () =>
        apiOf(signIn.portal, signIn.token)
          .endSession()
          .catch((error: unknown) => {
            // Status 401: the session has already ended.
            if (!(error instanceof ApiError) || error.status !== 401) throw error;
          }),
      );
      deleteSignIn(terminal.env, signIn);
      return {
        json: { schema: 'ferry.portal-sign-out/1', migrationId },
        printQuietly: () => undefined,
        print: (output) => {
          output.line(`${output.styled('green', '✓')} Signed out of ${migrationId}. Your key was deleted.`);
          output.line(
            'To sign in again, ask your contact for a new invitation, because the link of an invitation works once.',
          );
        },
      };
    }),
  );
}

/** Says what is lost with the key. Support confirms no key of a viewer, because a viewer signs no decisions. */
function keyLost({ role }: SignIn): string {
  const lost = 'your key is deleted; to sign in again, you need a new invitation';
  return role === 'viewer' ? lost : `${lost}, and support has to confirm your new key`;
}
