/**
 * The invitation: a link whose fragment contains a token or the id of a migration. Browsers never send the fragment to
 * a server.
 */
import type { PortalSession } from '../../contract/session';
import { ApiError } from '../../client/api';
import { readSession, redeem } from '../app';
import { problemText } from '../elements/dialog';
import { button, buttonRow, byId, el, fill, hint, paragraph, points, type Child } from '../elements/elements';
import { canSign, createKey, deleteKey, type StoredKey } from './keys';

interface Invitation {
  readonly token: string;
  readonly provider: string | null;
}

/** An invitation for an account at an identity provider. It is not secret. */
export interface AccountInvitation {
  readonly migrationId: string;
  readonly provider: string | null;
}

/** Reads the invitation from the address and removes it at once, so that neither history nor bookmarks keep it. */
export function takeInvitation(): Invitation | AccountInvitation | null {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const [token, provider] = [fragment.get('invitation'), fragment.get('provider')];
  const migrationId = fragment.get('sign-in') === 'openid' ? fragment.get('migration') : null;
  if (location.hash !== '') history.replaceState(null, '', location.pathname);
  if (token !== null) return { token, provider };
  return migrationId === null ? null : { migrationId, provider };
}

/** Shows a message instead of the migration. */
export function showMessage(title: string, ...content: readonly Child[]): void {
  byId('migration').hidden = true;
  const message = byId('message');
  message.hidden = false;
  fill(message, [el('h1', {}, title), ...content]);
  document.title = title;
}

/** The same text for clients and for viewers, who cannot decide: the page does not know the role before the sign-in. */
export const WELCOME =
  'You have been invited to follow the migration of your connections. If your invitation allows it, you can also make decisions.';

/** The points about the key that every invitation lists. */
export const ABOUT_KEY = [
  'Your browser creates a key that signs your decisions. The key cannot be copied, not even by this website.',
  'Use a device that only you use.',
];

const ASK_SUPPORT = 'Ask your contact at the provider for a new invitation.';

export function showUnsupported(): void {
  showMessage(
    'This browser cannot create a key',
    paragraph(
      'Your browser signs your decisions with a key of the type Ed25519, which never leaves the browser. This browser cannot create such a key.',
    ),
    paragraph('Opening the link here has not used up your invitation. Open the link in one of these browsers:'),
    el(
      'ul',
      {},
      ...['Chrome or Edge 137 or later', 'Firefox 130 or later', 'Safari 17 or later'].map((each) =>
        el('li', {}, each),
      ),
    ),
    paragraph(
      'If this is a private window, open the link in a normal window, because some browsers do not keep keys in a private window.',
    ),
  );
}

const ONE_AT_A_TIME = 'A browser shows one migration at a time, as one person.';

/**
 * Says as whom, and to which migration, this browser is signed in. Also tells a viewer how to return to this migration
 * after another sign-in, because a viewer has no key to sign in again.
 */
export const signedInText = ({ person, migrationId, role }: PortalSession): string =>
  `This browser is signed in as ${person} to the migration ${migrationId}. ${ONE_AT_A_TIME}${role === 'viewer' ? ` To return to ${migrationId} later, ${NEEDS_LINK}.` : ''}`;

/** Tells a person without a key, as a clause, what a new session needs. */
export const NEEDS_LINK = 'you will need another link, unless you sign in with an account';

/** The key under which the browser stores the name of the migration that it showed last. */
const LAST_SHOWN = 'last-shown';

/**
 * Remembers which migration this browser shows, so that `showInvitation` can warn a person who is about to replace the
 * session.
 */
export const rememberMigration = (name: string): void => localStorage.setItem(LAST_SHOWN, name);

/**
 * Shows the invitation, and uses it only when the person presses a button. The reason: an invitation works once, and
 * mail programs also open links.
 */
export async function showInvitation({ token, provider }: Invitation, onRedeemed: () => void): Promise<void> {
  if (!(await canSign())) return showUnsupported();
  const other = localStorage.getItem(LAST_SHOWN);
  const status = el('p', { class: 'problem', role: 'alert' });
  const go = button('Continue', () => void accept(), { class: 'primary' });
  showMessage(
    'Welcome to your migration',
    paragraph(WELCOME),
    points(
      'The invitation is only for you, and works once. Afterwards, open the portal in this browser.',
      ...ABOUT_KEY,
    ),
    other !== null &&
      paragraph(
        `This browser was last used for ${other}. ${ONE_AT_A_TIME} To keep what this browser shows, open this link in another browser.`,
      ),
    buttonRow(go),
    status,
  );
  go.focus();
  let key: StoredKey | null = null;

  async function accept(): Promise<void> {
    go.disabled = true;
    status.textContent = '';
    try {
      key ??= await createKey(token, provider);
      await redeem(token, key.publicKey, 'cookie');
      onRedeemed();
    } catch (error) {
      go.disabled = false;
      status.textContent = problemText(error);
      if (!(error instanceof ApiError) || error.isTemporary || error.status >= 500 || key === null) return;
      // The answer to an earlier attempt might have been lost, although the invitation was accepted.
      const session = await readSession().catch(() => null);
      if (session?.publicKey === key.publicKey) return onRedeemed();
      await deleteKey(key.publicKey);
      showRefused(error);
    }
  }
}

/** Shows the refusal. The portal does not say whether the invitation was used, has expired or was revoked. */
function showRefused(error: ApiError): void {
  showMessage(
    'This invitation does not work',
    paragraph(problemText(error)),
    paragraph('If someone else might have used this invitation, tell your contact at once.'),
    error.advice === undefined && paragraph(ASK_SUPPORT),
  );
}

/** Says that support has not confirmed the key yet, and why the person should call. */
export function unconfirmedKey(fingerprint: string, contact: string): readonly Child[] {
  return [
    el('h2', { id: 'key-title' }, 'Confirm your key by phone'),
    paragraph('Call your contact (', el('strong', {}, contact), ') and read out this fingerprint:'),
    el('p', { class: 'fingerprint' }, fingerprint),
    hint(
      'Why: your decisions are signed with a key in this browser. The call proves that the key is yours, and that you have used your invitation yourself. You can make decisions and supply data once support has confirmed your key. Until then, you can only read.',
    ),
  ];
}
