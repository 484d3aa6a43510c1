/**
 * The state that all parts of the page share: the portal's API, the reader's session and key, and the newest view of
 * the migration.
 */
import type { RequestAnswer } from '../contract/requests';
import type { MigrationView } from '../contract/migration-view';
import type { PortalSession } from '../contract/session';
import { createPortalApi, type Action } from '../client/api';
import { isOver } from '../../domain/migration/terminated';
import { signDecision, type DecisionFields } from '../client/decisions';
import { signerOf, type StoredKey } from './sign-in/keys';

/** The portal's API, called by its own page: the session is in a cookie. */
export const {
  readSession,
  readMigration,
  endSession,
  redeem,
  signInAgain,
  startIdentity,
  finishIdentity,
  readCompanies,
  eachCompany,
  submit,
} = createPortalApi({
  origin: '',
  headers: { 'x-tokenferry-portal': '1' },
  unreachable: () => 'The portal cannot be reached. Check your connection.',
});

export interface App {
  readonly session: PortalSession;
  /** Null if this browser cannot sign: the person is a viewer, or the key is in another browser or was deleted. */
  readonly key: StoredKey | null;
  readonly view: () => MigrationView;
  /** Reads the migration and the companies again, after a decision. */
  readonly refresh: () => Promise<void>;
  /** Reads only the migration again, so that the selected companies stay selected. */
  readonly reread: () => Promise<void>;
}

/** Reads the migration again, and returns whether it still has this action. */
export async function isStillOffered(app: App, { message, step }: Action): Promise<boolean> {
  await app.reread();
  return app.view().actions.some((action) => action.message === message && action.step === step);
}

/** Returns whether this browser can sign decisions of a client with a key that support has confirmed. */
export const canDecide = ({ session, key }: App): boolean =>
  session.role === 'client' && session.isKeyConfirmed && key !== null;

/** A key needs no confirmation once the migration has ended, because no decision is possible. */
export const mustConfirmKey = (app: App): boolean => isUnconfirmed(app) && !isOver(app.view().state);

/** Returns a decision of this person with its signature. */
export function signed({ session, key }: App, decision: DecisionFields) {
  if (key === null) throw new Error('this browser does not have your key');
  return signDecision(session, signerOf(key), decision);
}

/** Returns whether this browser can sign, but support has not confirmed its key yet. */
export const isUnconfirmed = ({ session, key }: App): boolean => key !== null && !session.isKeyConfirmed;

/** Signs and sends a decision, and waits for its outcome. */
export async function decide(app: App, what: DecisionFields, onWait: (text: string) => void): Promise<RequestAnswer> {
  const decision = await signed(app, what);
  return submit('/api/decisions', { message: what.message, decision }, onWait);
}
