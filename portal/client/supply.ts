/** Sends sealed credentials in parts, and the signed decisions about them. */
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/decision-fields';
import { credentialsDigest, hashOfBox, type HashedCredential } from '../../domain/supply/sealed-digest';
import { counted, outOf } from '../../domain/text/sentences';
import type { RequestAnswer } from '../contract/requests';
import type { DecisionFields } from './decisions';
import { refusedTexts, type Refused } from './refused';

/** The largest number of credentials in one request, and in one `replaceCredential` decision. */
const PART = MAX_COMPANIES_PER_MESSAGE;

export interface Supply<Credential> {
  readonly message: DecisionMessage;
  readonly credentials: readonly Credential[];
  /** Fields of the decision that follows. */
  readonly fields: Readonly<Record<string, unknown>>;
}

type Label = Pick<HashedCredential, 'reference' | 'obtainedAt'>;

/** The functions that seal and send the parts and the decisions, and show the progress. */
export interface SupplyTransport<Credential> {
  readonly keyFingerprint: string;
  /** Returns a function that seals one credential for the migration key. */
  readonly createSealer: () => Promise<(credential: Credential) => Uint8Array | Promise<Uint8Array>>;
  readonly submit: (path: '/api/credentials', body: unknown) => Promise<RequestAnswer>;
  /** Signs and sends a decision. */
  readonly decide: (decision: DecisionFields) => Promise<RequestAnswer>;
  readonly say: (text: string) => void;
  /** @param share from 0 to 1 */
  readonly progress: (share: number) => void;
}

/**
 * Seals and sends credentials, then the decision about them. The decision contains the digest of the stored
 * credentials, so that the ledger refuses the decision if the portal has replaced a credential.
 *
 * `credentialsSupplied` is one decision about all parts. `replaceCredential` names its companies, so each part has its
 * own decision. A part that was sent twice, because the connection was lost, is stored once.
 *
 * @returns the outcome of the last decision, with the credentials that were not accepted
 */
export async function supplyInParts<Credential extends Label>(
  { message, credentials, fields }: Supply<Credential>,
  { keyFingerprint, createSealer, submit, decide, say, progress }: SupplyTransport<Credential>,
): Promise<RequestAnswer> {
  const replaces = message === 'replaceCredential';
  const refused: Refused[number][] = [];
  let replaced = 0;
  let stored: HashedCredential[] = [];
  let answer: RequestAnswer = { outcome: 'failed', text: 'the file contains no credential' };
  /** The answer to the latest decision. A later part of which nothing was accepted has no decision. */
  let decided: RequestAnswer | null = null;
  let decisionId: string = crypto.randomUUID();
  for (let start = 0; start < credentials.length; start += PART) {
    if (replaces) [decisionId, stored] = [crypto.randomUUID(), []];
    const part = credentials.slice(start, start + PART);
    say(`Encrypting ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    const seal = await createSealer();
    const sealed: (HashedCredential & { readonly sealed: string })[] = [];
    for (const credential of part) {
      const { reference, obtainedAt } = credential;
      const box = await seal(credential);
      sealed.push({ reference, obtainedAt, boxHash: hashOfBox(box), sealed: base64Of(box) });
    }
    const boxes = sealed.map(({ boxHash: _, ...each }) => each);
    say(`Sending ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    answer = await submit('/api/credentials', { decisionId, replaces, keyFingerprint, credentials: boxes });
    if (answer.outcome !== 'stored') return afterEarlierParts(answer);
    refused.push(...(answer.refusedCredentials ?? []));
    const notStored = new Set(answer.refusedCredentials?.map(({ reference }) => reference));
    for (const { sealed: _, ...each } of sealed) if (!notStored.has(each.reference)) stored.push(each);
    progress((start + part.length) / credentials.length);
    if (replaces && stored.length > 0) {
      answer = await supplied(stored.map(({ reference }) => reference));
      if (answer.outcome !== 'applied') return afterEarlierParts(answer);
      decided = answer;
      replaced += stored.length;
    }
  }
  const accepted = credentials.length - refused.length;
  const refusedCredentials = refused;
  if (accepted === 0)
    return {
      outcome: 'refused',
      text: ['no credential was accepted', ...refusedTexts(refused)].join('. '),
      refusedCredentials,
    };
  answer = decided ?? (await supplied(accepted));
  if (refused.length === 0 || answer.outcome !== 'applied') return answer;
  const text = [answer.text, ...refusedTexts(refused)].join('. ');
  return { ...answer, text, refusedCredentials };

  /**
   * If the supply stops at a later part, states in its answer how many credentials were replaced before (also in `stored`),
   * and which were not accepted.
   */
  function afterEarlierParts(last: RequestAnswer): RequestAnswer {
    const named = refused.length === 0 ? last : { ...last, refusedCredentials: refused };
    if (replaced === 0) return { ...named, text: [last.text, ...refusedTexts(refused)].join('. ') };
    const were = replaced === 1 ? 'was' : 'were';
    const applied = `${outOf(replaced, credentials.length, 'credential')} ${were} replaced before this answer: ${last.text}`;
    return {
      ...named,
      stored: replaced,
      text: [applied, 'No credential was sent after this answer', ...refusedTexts(refused)].join('. '),
    };
  }

  async function supplied(companies: number | readonly string[]): Promise<RequestAnswer> {
    return decide({ message, decisionId, fields: { ...fields, companies, sealedDigest: credentialsDigest(stored) } });
  }
}

export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
