/** Signs the decisions that the page and `ferry --portal` send, and sends a decision about many companies in parts. */
import { bytesToSign } from '../../domain/migration/signatures';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/decision-fields';
import { isPartial } from '../../domain/migration/partial-outcome';
import { counted, outOf } from '../../domain/text/sentences';
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
 * Returns a decision of this person with its signature. Two decisions never have the same time, because a decision that
 * was signed at the same time as an earlier decision is refused.
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
 * Sends a decision, in several parts if it has more companies than fit into one message. Stops at the first refusal.
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
  const answers: { readonly text: string; readonly companies: number }[] = [];
  for (let start = 0; start < companies.length; start += MAX_COMPANIES_PER_MESSAGE) {
    const part = companies.slice(start, start + MAX_COMPANIES_PER_MESSAGE) as readonly string[];
    const answer = await send({ message, fields: { ...fields, companies: part } });
    if (answer.outcome !== 'applied' && start === 0) return answer;
    if (answer.outcome !== 'applied')
      return {
        ...answer,
        text: laterRefusalText(answer.text, { before: start, part: part.length, all: companies.length }),
      };
    answers.push({ text: answer.text, companies: part.length });
    onProgress((start + part.length) / companies.length);
  }
  return { outcome: 'applied', text: joinedText(answers) };
}

/** Returns the answer to a part that was not applied, with what has become of the other parts. */
function laterRefusalText(
  answer: string,
  { before, part, all }: { readonly before: number; readonly part: number; readonly all: number },
): string {
  const rest = all - before - part;
  const notSent = rest === 0 ? '' : `. The decision was not sent for the other ${counted(rest, 'company')}`;
  return `the decision about the first ${outOf(before, all, 'company')} was applied before this answer: ${answer}${notSent}`;
}

/** Stands for the number of companies in the answer to a part. */
const NUMBER = '\u0000';

/**
 * Joins the answers to the parts. Answers that differ only in the number of companies become one, with the sum. Answers
 * about fewer companies than the part has come first, because {@link isPartial} reads the beginning.
 */
function joinedText(answers: readonly { readonly text: string; readonly companies: number }[]): string {
  const totals = new Map<string, number>();
  for (const { text, companies } of answers.filter((answer) => !isPartial(answer))) {
    const shape = text.replace(counted(companies, 'company'), () => NUMBER);
    totals.set(shape, (totals.get(shape) ?? 0) + companies);
  }
  const complete = [...totals].map(([shape, companies]) => shape.replace(NUMBER, () => counted(companies, 'company')));
  return [...answers.filter(isPartial).map(({ text }) => text), ...complete].join('; ');
}
