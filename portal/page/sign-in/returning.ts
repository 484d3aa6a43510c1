/** Says how a person can return to a migration after its session has ended or was replaced. */
import { fingerprintOf } from '../../../domain/migration/approvers';
import { isOver } from '../../../domain/migration/terminated';
import type { App } from '../app';
import { NEEDS_LINK } from './invitation';
import { fromHex } from './keys';

/** The key under which a tab stores the session that a sign-in in another tab has replaced. */
const REPLACED = 'replaced-session';

/** A session that a sign-in in another tab has replaced. */
interface Replaced {
  /** The migration and the person. */
  readonly shown: string;
  /** How the person can return, in sentences. Absent if an earlier version of the page has stored the session. */
  readonly toReturn?: string;
}

/** Remembers the replaced session, before this tab shows the session that another tab has started. */
export const rememberReplaced = (app: App, shown: string): void =>
  sessionStorage.setItem(REPLACED, JSON.stringify({ shown, toReturn: returnText(app) } satisfies Replaced));

/** Returns what `rememberReplaced` has stored, and removes it; null if there is none. */
export function takeReplaced(): Replaced | null {
  const stored = sessionStorage.getItem(REPLACED);
  sessionStorage.removeItem(REPLACED);
  return stored === null ? null : (JSON.parse(stored) as Replaced);
}

/** Says which session this tab showed, and how the person can return to it. */
export const replacedText = ({ shown, toReturn = '' }: Replaced): string =>
  `This tab showed ${shown}, until another tab of this browser signed in to another migration or as another person. ${toReturn}`.trim();

/**
 * Warns a person who cannot sign in again after signing out; null if the person can, or still needs support to confirm
 * the key, or has the key in another browser.
 */
export function signOutText(app: App): string | null {
  const isViewer = app.session.role === 'viewer';
  if (canReturn(app) || (app.key === null && !isViewer)) return null;
  if (isOver(app.view().state))
    return 'If you sign out, you cannot sign in again, unless you sign in with an account, because the migration has ended.';
  return isViewer ? `If you sign out, ${NEEDS_LINK}.` : null;
}

/** Workers accept a key for a new sign-in only if support has confirmed it. With an account, no key is needed. */
const canReturn = ({ session, key }: App): boolean => key !== null && (session.isKeyConfirmed || key.hasAccount);

function returnText(app: App): string {
  const { key, view } = app;
  if (canReturn(app)) return 'To return, sign out, and sign in again as before.';
  // Support can neither invite people nor confirm keys after the end.
  if (isOver(view().state))
    return 'You cannot return in this browser, unless you sign in with an account, because that migration has ended.';
  if (key === null) return `To return, ${NEEDS_LINK}; ask your contact at the provider for the link.`;
  const fingerprint = fingerprintOf(fromHex(key.publicKey));
  return `To return, first call ${view().contact}, and read out the fingerprint of your key (${fingerprint}). Once support has confirmed the key, sign out, and sign in again as before.`;
}
