/** What all parts of the page share: who is reading, and the newest view of the migration. */
import type { MigrationView, PortalSession, RequestAnswer } from '../contract';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { submit } from './api';
import type { findKey } from './keys';
import { signDecision } from './keys';

export interface App {
  readonly session: PortalSession;
  /** Null if this browser cannot sign for the person: a viewer, or another browser than the one of the invitation. */
  readonly key: Awaited<ReturnType<typeof findKey>>;
  readonly view: () => MigrationView;
  /** Reads the migration and the companies again, after a decision. */
  readonly refresh: () => void;
}

export const canDecide = ({ session, key }: App): boolean => session.role === 'client' && key !== null;

export interface DecisionFields {
  readonly message: DecisionMessage;
  readonly decisionId?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

let lastSigned = 0;

/** Returns a decision of this person with its signature. Two decisions never have the same time. */
export async function signed({ session, key }: App, { message, decisionId, fields }: DecisionFields) {
  if (key === null) throw new Error('this browser does not have your key');
  lastSigned = Math.max(Date.now(), lastSigned + 1);
  const sender = { role: 'client', by: session.person, signedAt: new Date(lastSigned).toISOString() } as const;
  const content = { ...fields, decisionId: decisionId ?? crypto.randomUUID(), ...sender };
  return signDecision(key, session.migrationId, message, content);
}

/** Signs and sends a decision, and waits for its outcome. */
export async function decide(app: App, what: DecisionFields, onWait: (text: string) => void): Promise<RequestAnswer> {
  const decision = await signed(app, what);
  return submit('/api/decisions', { message: what.message, decision }, onWait);
}
