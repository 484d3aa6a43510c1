/** The stored sign-ins: a file for each portal and migration, which only its owner can read. */
import {
  accessSync,
  constants,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
// Does not import the indexes of these folders, because they load Temporal's payload converters.
import { homeFolder } from '../../config/environment';
import { PORTAL_ROLES } from '../../portal/contract/session';
import { KeyInvalid } from '../../security/key-ring';
import { Secret } from '../../security/secret';
import { parseSigningKey, type SigningKey } from '../../security/signing-key';
import { CommandFailed } from '../shared/errors';

const signInFile = z.object({
  portalSignIn: z.literal(1),
  portal: z.string(),
  migrationId: z.string(),
  person: z.string(),
  role: z.enum(PORTAL_ROLES),
  /** The provider's fingerprint in the link of the invitation; null if the link had none. */
  provider: z.string().nullable(),
  /** Content of a signing key file, with the private key. */
  signingKey: z.string(),
  /** The token of the session. */
  token: z.string(),
});

export type SignIn = Omit<z.infer<typeof signInFile>, 'portalSignIn' | 'signingKey' | 'token'> & {
  readonly signingKey: Secret;
  readonly token: Secret;
};

/**
 * Returns the person's key.
 *
 * @throws CommandFailed if the file of the sign-in does not contain a valid key
 */
export function signingKeyOf({ signingKey, portal, migrationId }: SignIn): SigningKey {
  try {
    return parseSigningKey(signingKey);
  } catch (cause) {
    if (!(cause instanceof KeyInvalid)) throw cause;
    throw new CommandFailed(
      `the stored sign-in to ${migrationId} at ${portal} contains no valid key`,
      "ask your contact for a new invitation, and sign in with its link: ferry --portal '<link>' sign-in",
      { cause },
    );
  }
}

/** Returns the folder of the sign-ins, which need not exist. */
function folderOf({ TOKENFERRY_HOME }: NodeJS.ProcessEnv): string {
  return path.join(homeFolder(TOKENFERRY_HOME === '' ? undefined : TOKENFERRY_HOME), 'portal');
}

function fileOf(env: NodeJS.ProcessEnv, { portal, migrationId }: Pick<SignIn, 'portal' | 'migrationId'>): string {
  const name = `${migrationId}@${new URL(portal).host}`.replace(/[^\w.@-]/g, '_');
  return path.join(folderOf(env), `${name}.json`);
}

/** Returns the sign-ins at a portal, in the order of their file names. Ignores files with other content. */
export function readSignIns(env: NodeJS.ProcessEnv, portal: string): readonly SignIn[] {
  const folder = folderOf(env);
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
  return names
    .sort()
    .flatMap((name) => parsed(readFileSync(path.join(folder, name), 'utf8')) ?? [])
    .filter((signIn) => signIn.portal === portal);
}

function parsed(text: string): SignIn | null {
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch {
    return null;
  }
  const { success, data } = signInFile.safeParse(content);
  if (!success) return null;
  const { portalSignIn: _, signingKey, token, ...rest } = data;
  return { ...rest, signingKey: new Secret(signingKey), token: new Secret(token) };
}

/**
 * Creates the folder if necessary.
 *
 * @throws if this user cannot write into it
 */
export function createFolder(env: NodeJS.ProcessEnv): void {
  mkdirSync(folderOf(env), { recursive: true, mode: 0o700 });
  accessSync(folderOf(env), constants.W_OK);
}

/**
 * Writes the file atomically, so that an earlier key survives a full disk, and leaves no unfinished file behind.
 *
 * @returns the path of the file
 */
export function writeSignIn(env: NodeJS.ProcessEnv, { signingKey, token, ...signIn }: SignIn): string {
  const file = fileOf(env, signIn);
  createFolder(env);
  const content: z.infer<typeof signInFile> = {
    ...{ portalSignIn: 1, ...signIn },
    ...{ signingKey: signingKey.reveal(), token: token.reveal() },
  };
  const unfinished = `${file}.${process.pid}`;
  // A process that had the same id and was killed can have left this file.
  rmSync(unfinished, { force: true });
  try {
    writeFileSync(unfinished, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
  return file;
}

export function deleteSignIn(env: NodeJS.ProcessEnv, signIn: SignIn): void {
  rmSync(fileOf(env, signIn), { force: true });
}
