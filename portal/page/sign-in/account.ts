/** Signs people in with an account at an identity provider, if their invitation is for an account. */
import { finishIdentity, readSession, startIdentity } from '../app';
import { problemText } from '../elements/dialog';
import { button, buttonRow, el, paragraph, points } from '../elements/elements';
import { ABOUT_KEY, showMessage, showUnsupported, signedInText, WELCOME, type AccountInvitation } from './invitation';
import { accountDigest, accountText, canSign, createKey, pendingKey, storeProvider } from './keys';

/** The path to which the identity provider redirects the browser. */
const RETURN_PATH = '/sign-in';

/**
 * Returns the identity provider's answer if the browser comes from there, otherwise null. Removes the answer from the
 * address, because it works only once.
 */
export function takeIdentityAnswer(): string | null {
  if (location.pathname !== RETURN_PATH) return null;
  const { search } = location;
  history.replaceState(null, '', '/');
  return search;
}

/** Asks the person to sign in; if they are signed in to this migration, continues at once. */
export async function showAccountInvitation(
  { migrationId, provider }: AccountInvitation,
  onSignedIn: () => void,
): Promise<void> {
  const session = await readSession().catch(() => null);
  if (session?.migrationId === migrationId) return onSignedIn();
  if (!(await canSign())) return showUnsupported();
  const problem = el('p', { class: 'problem', role: 'alert' });
  const go = accountButton(migrationId, provider, problem);
  showMessage(
    'Welcome to your migration',
    paragraph(WELCOME),
    session !== null &&
      paragraph(
        `This link is for the migration ${migrationId}. ${signedInText(session)} To keep what this browser shows, open this link in another browser.`,
      ),
    points(
      'Sign in with the account that has the email address for which your contact created the invitation.',
      ...ABOUT_KEY,
    ),
    buttonRow(go),
    problem,
  );
  go.focus();
}

/** Creates the button that leads to the identity provider. */
export function accountButton(migrationId: string, provider: string | null, problem: HTMLElement): HTMLButtonElement {
  const go = button('Sign in with your account', () => void leave(), { class: 'primary' });
  return go;

  async function leave(): Promise<void> {
    go.disabled = true;
    problem.textContent = '';
    try {
      const key = await keyFor(migrationId, provider);
      const { address } = await startIdentity(migrationId, key.publicKey);
      // Enable the button before the browser leaves this page, because the browser restores the page in its last state
      // when the person goes back.
      addEventListener('pagehide', () => (go.disabled = false), { once: true });
      location.assign(address);
    } catch (error) {
      go.disabled = false;
      problem.textContent = problemText(error);
    }
  }
}

/**
 * Returns a key that was created for an account and that the portal has not accepted yet, or else a new key. The
 * provider's fingerprint in the latest link replaces the stored one, because an earlier link can have been wrong.
 * Nothing was encrypted for the earlier one: before the portal has accepted a key, its person cannot supply anything.
 */
async function keyFor(migrationId: string, provider: string | null) {
  const pending = await pendingKey(await accountDigest(migrationId));
  if (pending === undefined) return createKey(accountText(migrationId), provider, true);
  return provider === null || provider === pending.provider ? pending : storeProvider(pending, provider);
}

/** Completes the sign-in with the identity provider's answer. */
export async function finishSignIn(answer: string, onSignedIn: () => void): Promise<void> {
  showMessage('Your migration', paragraph('Signing in…'));
  try {
    await finishIdentity(answer);
  } catch (error) {
    return showMessage(
      'You could not be signed in',
      el('p', { role: 'alert' }, problemText(error)),
      paragraph('To try again, open the link in your invitation.'),
    );
  }
  onSignedIn();
}
