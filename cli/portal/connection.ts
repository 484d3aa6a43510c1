/** Connects to the portal as the person who has signed in. */
import type { z } from 'zod';
import { MigrationAnswerSchema, type MigrationView } from '../../portal/contract/migration-view';
import type { PortalSession } from '../../portal/contract/session';
import {
  ApiError,
  createPortalApi,
  ForeignAnswer,
  retryWhileTemporary,
  type MigrationAnswer,
  type PortalAddress,
} from '../../portal/client/api';
import { isCertificateRefused } from '../../portal/client/failed-connection';
import { repeatedSignIn, signInText } from '../../domain/migration/sign-in';
import { fingerprintOf } from '../../domain/migration/approvers';
import { createPortalToken, hashPortalToken, Secret } from '../../security/secret';
import type { Context } from '../shared/context';
import { CommandFailed } from '../shared/errors';
import { shellQuoted } from '../../domain/text/shell-quoted';
import { fittedTo } from '../terminal/output';
import { clause, mayBeReceived, unreachableText, wasNotSent } from './api-errors';
import { commandText, type PortalContext } from './context';
import { readSignIns, signingKeyOf, writeSignIn, type SignIn } from './sign-ins';

export type Api = ReturnType<typeof createPortalApi>;

export interface Connection {
  readonly api: Api;
  readonly signIn: SignIn;
  readonly session: PortalSession;
  /** Returns the view of the migration. Waits until a worker has written it. */
  readonly readMigration: () => Promise<MigrationAnswer>;
  /** Tells the person why a request is taking longer. Does not say the same text twice in a row. */
  readonly say: (text: string) => void;
}

/**
 * Creates the client of a portal's API.
 *
 * @param options `onAttempt` is called after each attempt to send a request that can take effect, with the error if it
 *   failed. `timeoutMs` is the time limit of each answer, and `retryWithinMs` the time limit of repeating each request
 */
export function apiOf(
  origin: string,
  token: Secret | null,
  { onAttempt, timeoutMs, retryWithinMs }: Pick<PortalAddress, 'onAttempt' | 'timeoutMs' | 'retryWithinMs'> = {},
): Api {
  return createPortalApi({
    ...{ origin, timeoutMs, retryWithinMs },
    ...(onAttempt && { onAttempt }),
    headers: token === null ? { 'x-tokenferry-portal': '1' } : { authorization: `Bearer ${token.reveal()}` },
    unreachable: (cause) => unreachableText(origin, cause),
  });
}

export interface Waiting {
  readonly say: (text: string) => void;
  /**
   * How long to wait for each answer, and to repeat a request for the session or the view, in milliseconds. By default,
   * up to 60 s for each answer, and up to 10 minutes for repeating a request.
   */
  readonly withinMs?: number | undefined;
}

/**
 * Runs the work of a command. Signs in again with the stored key if the session has ended.
 *
 * @throws CommandFailed
 */
export async function withPortal<Result>(
  context: PortalContext,
  migrationId: string,
  work: (connection: Connection) => Promise<Result>,
  { say, withinMs }: Waiting = { say: sayOnce(context) },
): Promise<Result> {
  const { origin } = context.link();
  const stored = readSignIns(context.terminal.env, origin).find((each) => each.migrationId === migrationId);
  if (!stored) throw notSignedIn(context, migrationId);
  let sentTo: string | null = null;
  return failingClearly(
    context,
    async () => {
      const { signIn, session } = await liveSession(context, stored, { say, withinMs });
      const onAttempt = (error: ApiError | null): void => {
        if (error === null || mayBeReceived(error)) sentTo = migrationId;
      };
      const api = apiOf(origin, signIn.token, { onAttempt, timeoutMs: withinMs, retryWithinMs: withinMs });
      const readMigration = async (): Promise<MigrationAnswer> =>
        validated(MigrationAnswerSchema, await retryWhileTemporary(() => api.readMigration(), say, { withinMs }));
      return work({ api, signIn, session, readMigration, say });
    },
    () => sentTo,
  );
}

/** How long a command runs before it explains why a request is taking longer. Shorter runs need no explanation. */
const SAY_AFTER_MS = 3_000;

/**
 * Returns a function that prints why a request is taking longer. Writes to standard error, because standard output can
 * be a file.
 */
export function sayOnce({ output, terminal: { stderr } }: Context): (text: string) => void {
  const startedAt = Date.now();
  let last = '';
  return (text) => {
    if (text === last || output.json || output.quiet || Date.now() - startedAt < SAY_AFTER_MS) return;
    last = text;
    stderr.write(`${fittedTo(stderr, text)}\n`);
  };
}

function notSignedIn(context: PortalContext, migrationId?: string): CommandFailed {
  const { origin } = context.link();
  const what = migrationId === undefined ? '' : ` to ${migrationId}`;
  const signIn = signInAdvice(context);
  const hasOthers = readSignIns(context.terminal.env, origin).length > 0;
  return new CommandFailed(
    `you are not signed in${what} at ${origin}`,
    hasOthers ? `list your migrations with: ${commandText(context, 'list')}; for another migration, ${signIn}` : signIn,
  );
}

/** Says how to sign in. An account needs no link, but signs in only on the page. */
export function signInAdvice(context: PortalContext): string {
  return `sign in with the link of your invitation: ferry --portal '<link>' sign-in; if you sign in with an account, open ${context.link().origin} in a browser instead`;
}

/**
 * Returns the only migration that the person is signed in to.
 *
 * @throws CommandFailed unless there is exactly one
 */
export function onlyMigration(context: PortalContext): string {
  const [only, ...others] = readSignIns(context.terminal.env, context.link().origin);
  if (!only) throw notSignedIn(context);
  if (others.length === 0) return only.migrationId;
  throw new CommandFailed(
    `you are signed in to ${others.length + 1} migrations: ${[only, ...others].map((each) => each.migrationId).join(', ')}`,
    'specify one of these migrations directly after the name of the command',
  );
}

/**
 * Returns whether the portal, or the proxy in front of it, has answered that it is busy or restarting. A portal that
 * cannot be reached, or an answer that is not from a portal, does not count: the address is then probably wrong, so the
 * person must learn this at once.
 */
const isRestarting = (error: ApiError): boolean =>
  error.isTemporary && error.status !== 0 && !(error instanceof ForeignAnswer);

/** Returns the session. Waits while the portal restarts. If the session has ended, signs in again. */
export async function liveSession(
  context: Pick<Context, 'terminal'>,
  signIn: SignIn,
  { say, withinMs }: Waiting,
): Promise<{ readonly signIn: SignIn; readonly session: PortalSession }> {
  const { readSession } = apiOf(signIn.portal, signIn.token, { timeoutMs: withinMs });
  try {
    return { signIn, session: await retryWhileTemporary(readSession, say, { isTemporary: isRestarting, withinMs }) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return signInAgain(context, signIn, { say, withinMs });
  }
}

/**
 * Signs in with the key that was registered with the invitation, and stores the new session.
 *
 * @throws CommandFailed if the portal refuses the key, or for a viewer, whose key was not registered
 */
async function signInAgain(
  { terminal: { env } }: Pick<Context, 'terminal'>,
  signIn: SignIn,
  { say, withinMs }: Waiting,
): Promise<{ readonly signIn: SignIn; readonly session: PortalSession }> {
  const { portal, migrationId, role } = signIn;
  if (role === 'viewer')
    throw new CommandFailed(
      'your session has ended',
      'ask your contact for a new invitation, and sign in with its link',
    );
  const key = signingKeyOf(signIn);
  const { publicKey } = key;
  const proof = repeatedSignIn(async () => {
    const token = createPortalToken();
    const signedAt = new Date().toISOString();
    const sessionHash = hashPortalToken(token).toString('hex');
    const signature = key.sign(signInText({ migrationId, publicKey, sessionHash, signedAt }));
    return { migrationId, publicKey, token, signedAt, signature, as: 'token' } as const;
  });
  const send = async (): Promise<{ readonly session: PortalSession; readonly token: string }> => {
    const signed = await proof();
    const session = await apiOf(portal, null, { timeoutMs: withinMs }).signInAgain(signed);
    return { session, token: signed.token };
  };
  const { session, token } = await retryWhileTemporary(send, say, { withinMs }).catch((error: unknown) => {
    if (!(error instanceof ApiError) || error.status !== 403) throw error;
    throw new CommandFailed(
      `your session has ended, and the portal did not accept your key: ${clause(error.message)}`,
      error.advice === undefined ? 'ask your contact for a new invitation' : clause(error.advice),
      { cause: error },
    );
  });
  const renewed = { ...signIn, token: new Secret(token) };
  writeSignIn(env, renewed);
  return { signIn: renewed, session };
}

/** Thrown when the portal's answer has an unknown form, probably because the portal has another version. */
class UnknownAnswer extends CommandFailed {}

/**
 * Returns the answer, after checking its form.
 *
 * @throws CommandFailed if the answer has an unknown form
 */
export function validated<Answer>(schema: z.ZodType<Answer>, answer: unknown): Answer {
  const { data, error } = schema.safeParse(answer);
  if (data !== undefined) return data;
  throw new UnknownAnswer(
    'the portal sent an answer that this version of ferry does not understand',
    'check the address; if the address is right, ask your contact which version of ferry to use',
    { cause: error },
  );
}

/**
 * Runs the work, and turns errors of the API into errors with advice. The advice warns of requests that can still take
 * effect, even if a later answer has an unknown form.
 *
 * @param sentTo returns the migration for which the portal might have received a request that can take effect; null if
 *   it has received none
 * @throws CommandFailed
 */
export async function failingClearly<Result>(
  context: PortalContext,
  work: () => Promise<Result>,
  sentTo: () => string | null = () => null,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const sent = sentTo();
    if (error instanceof UnknownAnswer && sent !== null)
      throw new CommandFailed(error.message, withWarning(context, error.advice, sent), { cause: error });
    if (!(error instanceof ApiError)) throw error;
    throw new CommandFailed(clause(error.message), adviceFor(context, error, sent), { cause: error });
  }
}

function adviceFor(context: PortalContext, error: ApiError, sentTo: string | null): string {
  const { status, advice } = error;
  // Leaves out the invitation that the link can contain, because an invitation works only once.
  const signIn =
    status === 401 ? `sign in again with: ferry --portal ${shellQuoted(context.link().origin)} sign-in` : null;
  // Warns even if a later request or attempt caused this error. A new run of the command has another decision id, so
  // the decision would be carried out twice if the portal has received the earlier request.
  if (sentTo !== null) {
    const what = signIn ?? (advice === undefined || status === 0 ? adviceAfterSending(error) : clause(advice));
    return withWarning(context, what, sentTo);
  }
  if (signIn !== null) return signIn;
  if (advice !== undefined) return clause(advice);
  if (status !== 0) return 'try again; if this happens again, tell your contact';
  if (isCertificateRefused(error.cause)) return 'nothing was sent';
  return `${wasNotSent(error) ? 'nothing was sent; ' : ''}${CHECK_CONNECTION}, and run the command again`;
}

function withWarning(context: PortalContext, advice: string | null, sentTo: string): string {
  return `${advice === null ? '' : `${advice}; `}a request that the portal has received can still take effect, so before you run the command again, see the migration with: ${commandText(context, 'show', sentTo)}`;
}

const CHECK_CONNECTION = 'check the address and your connection';

function adviceAfterSending({ status, isTemporary, cause }: ApiError): string | null {
  if (status === 0) return isCertificateRefused(cause) ? null : CHECK_CONNECTION;
  const isOfPortal = isTemporary || status >= 500;
  return isOfPortal ? 'wait a few minutes; if this happens again, tell your contact' : 'tell your contact';
}

export const fingerprintOfKey = (publicKey: string): string => fingerprintOf(Buffer.from(publicKey, 'hex'));

/** Says who to call about a key that support has not confirmed. */
export function confirmAdvice({ contact }: Pick<MigrationView, 'contact'>, publicKey: string): string {
  return `call ${contact}, and read out the fingerprint ${fingerprintOfKey(publicKey)}`;
}
