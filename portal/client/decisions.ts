/** Signs the decisions that the page and `ferry --portal` send, and sends a decision about many companies in parts. */
import { bytesToSign } from '../../domain/migration/signatures';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/decision-fields';
import { joinedOutcomes, laterRefusalText, type PartOutcome } from '../../domain/migration/part-outcomes';
import type { RequestAnswer } from '../contract/requests';
import type { PortalSession } from '../contract/session';

/** The person's key (Ed25519). */
export interface Signer {
  /** 64 hexadecimal digits. */
  readonly publicKey: string;
  /** Returns the signature: 128 hexadecimal digits. */
  readonly sign: (text: Uint8Array<ArrayBuffer>) => string | Promise<string>;
}

/** The identity of the person who decides. */
export type Decider = Pick<PortalSession, 'migrationId' | 'person'>;

export interface DecisionFields {
  readonly message: DecisionMessage;
  readonly decisionId?: string;
  readonly fields?: Readonly<Record<string, unknown>>;
}

let lastSigned = 0;

/**
 * Returns a decision of this person with its signature. Each decision gets a later time than the previous decision,
 * because a decision that was not signed later than the previous one is refused.
 */
export async function signDecision(
  { migrationId, person }: Decider,
  { publicKey, sign }: Signer,
  { message, decisionId, fields }: DecisionFields,
) {
  lastSigned = Math.max(Date.now(), lastSigned + 1);
  const sender = { role: 'client', by: person, signedAt: new Date(lastSigned).toISOString() } as const;
  const content = { ...fields, decisionId: decisionId ?? crypto.randomUUID(), ...sender };
  const value = await sign(Uint8Array.from(bytesToSign(migrationId, { message, content })));
  return { ...content, signature: { publicKey, value } };
}

/**
 * Sends a decision, in several parts if it has more companies than fit into one message. Stops at the first part that
 * is not applied.
 *
 * @param send signs and sends one part
 * @param onProgress called with the share that has been sent, 0 to 1
 */
export async function sendInParts(
  { message, fields }: Pick<DecisionFields, 'message'> & Required<Pick<DecisionFields, 'fields'>>,
  send: (decision: DecisionFields) => Promise<RequestAnswer>,
  onProgress: (share: number) => void,
): Promise<RequestAnswer> {
  const { companies } = fields;
  if (!Array.isArray(companies) || companies.length <= MAX_COMPANIES_PER_MESSAGE) return send({ message, fields });
  const answers: PartOutcome[] = [];
  for (let start = 0; start < companies.length; start += MAX_COMPANIES_PER_MESSAGE) {
    const part = companies.slice(start, start + MAX_COMPANIES_PER_MESSAGE) as readonly string[];
    const answer = await send({ message, fields: { ...fields, companies: part } });
    if (answer.outcome !== 'applied' && start === 0) return answer;
    if (answer.outcome !== 'applied')
      return {
        ...answer,
        text: laterRefusalText(answer.text, { answers, part: part.length, all: companies.length }),
      };
    answers.push({ text: answer.text, companies: part.length });
    onProgress((start + part.length) / companies.length);
  }
  return { outcome: 'applied', text: joinedOutcomes(answers) };
}
