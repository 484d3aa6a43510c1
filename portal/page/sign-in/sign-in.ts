/** Signs a person in again without a new invitation, with the key that this browser has kept. */
import { signInText, repeatedSignIn } from '../../../domain/migration/sign-in';
import { retryWhileTemporary } from '../../client/api';
import { accountButton } from './account';
import { signInAgain } from '../app';
import { problemText } from '../elements/dialog';
import { button, buttonRow, byId, el, paragraph } from '../elements/elements';
import type { PortalSession } from '../../contract/session';
import { showMessage, signedInText } from './invitation';
import { digestOf, ownedKeys, signerOf, type OwnedKey } from './keys';

/**
 * Says that the person is not signed in, and offers to sign in with the keys of this browser.
 *
 * @param contact the person to ask, if the page has shown a migration until now; absent if the page was just opened
 */
export async function showNoSession(contact?: string): Promise<void> {
  const ended =
    contact !== undefined &&
    paragraph(
      `Your session has ended, or your provider has revoked your invitation, so this page no longer shows the migration. If you cannot sign in again, ask ${contact}.`,
    );
  // If the browser cannot store keys, it has none.
  const keys = await ownedKeys().catch(() => []);
  if (keys.length === 0)
    return showMessage(
      'You are not signed in',
      ended,
      paragraph('This browser has no key with which you can sign in.'),
      paragraph(
        'Open the link in your invitation. If you sign in with your account (for example, your work account), you can open the link again. Otherwise, the link works only once.',
      ),
      paragraph(
        'If you have already used a link that works only once, open the portal in the same browser as before, or ask your contact at the provider for a new invitation. If the portal worked in this browser before, your session might have ended, or the provider might have withdrawn your access: ask your contact.',
      ),
    );
  const isOnlyMigration = new Set(keys.map(({ owner }) => owner.migrationId)).size === 1;
  const { buttons, status, problem } = keyButtons(keys, !isOnlyMigration);
  const account = isOnlyMigration && keys.find(({ hasAccount }) => hasAccount);
  showMessage(
    'You are not signed in',
    ended ||
      paragraph(
        'Your session has ended, or the provider has withdrawn your access. If you cannot sign in again, ask your contact at the provider.',
      ),
    paragraph('Sign in again with a key that this browser still has.'),
    buttonRow(...buttons, account && accountButton(account.owner.migrationId, account.provider, problem)),
    status,
    problem,
  );
}

/**
 * Says that the link belongs to another migration or person than the session, and offers to sign in with the key of the
 * link, or to stay.
 *
 * @param key the key with which this browser has used the link
 * @param onStay called if the person chooses to keep the current session
 */
export function showOtherSession(key: OwnedKey, session: PortalSession, onStay: () => void): void {
  const { migrationId, person } = key.owner;
  const { buttons, status, problem } = keyButtons([key], true);
  const isOtherMigration = migrationId !== session.migrationId;
  showMessage(
    `This link is for another ${isOtherMigration ? 'migration' : 'person'}`,
    paragraph(`The link is for ${person} and the migration ${migrationId}. ${signedInText(session)}`),
    buttonRow(...buttons, button(`Show ${session.migrationId} as ${session.person}`, onStay)),
    status,
    problem,
  );
}

/** Creates a sign-in button for the owner of each key, and the elements that show the progress and a problem. */
function keyButtons(keys: readonly OwnedKey[], namesMigration: boolean) {
  const status = el('p', { role: 'status' });
  const problem = el('p', { class: 'problem', role: 'alert' });
  const buttons = keys.map((key, index) => {
    const { migrationId, person } = key.owner;
    const text = `Sign in as ${person}${namesMigration ? ` to ${migrationId}` : ''} with the key of this browser`;
    return button(text, () => void signIn(key), index === 0 ? { class: 'primary' } : {});
  });
  return { buttons, status, problem };

  async function signIn(key: OwnedKey): Promise<void> {
    setDisabled(true);
    problem.textContent = '';
    status.textContent = 'Signing in…';
    try {
      const proof = repeatedSignIn(() => signedProof(key));
      await retryWhileTemporary(
        async () => signInAgain(await proof()),
        (text) => (status.textContent = text),
      );
      location.reload();
    } catch (error) {
      status.textContent = '';
      problem.textContent = problemText(error);
      setDisabled(false);
    }
  }
}

/** Disables or enables all buttons of the message, because a second choice would compete with the sign-in. */
function setDisabled(isDisabled: boolean): void {
  for (const each of byId('message').querySelectorAll('button')) each.disabled = isDisabled;
}

/** Returns the key with which its owner has used the invitation in this browser; undefined if there is none. */
export async function keyOfInvitation(invitationToken: string): Promise<OwnedKey | undefined> {
  const keys = await ownedKeys().catch(() => []);
  if (keys.length === 0) return undefined;
  const invitation = await digestOf(invitationToken);
  return keys.find((key) => key.invitation === invitation);
}

async function signedProof(key: OwnedKey) {
  const { migrationId } = key.owner;
  const { publicKey, sign } = signerOf(key);
  const token = newToken();
  const signedAt = new Date().toISOString();
  const text = signInText({ migrationId, publicKey, sessionHash: await digestOf(token), signedAt });
  const signature = await sign(Uint8Array.from(text));
  return { migrationId, publicKey, token, signedAt, signature, as: 'cookie' } as const;
}

/** Returns the token of a session: 32 random bytes in base64url. */
function newToken(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
