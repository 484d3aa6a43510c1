/** Sends sealed credentials in parts, and the signed decisions about them. */
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/decision-fields';
import { earlierText, joinedOutcomes, type PartOutcome } from '../../domain/migration/part-outcomes';
import { changedCount } from '../../domain/migration/partial-outcome';
import { credentialsDigest, hashOfBox, type HashedCredential } from '../../domain/supply/sealed-digest';
import { counted, outOf } from '../../domain/text/sentences';
import type { RequestAnswer } from '../contract/requests';
import type { DecisionFields } from './decisions';
import { refusedTexts, type Refused } from './refused';

/** The largest number of credentials in one request, and in one `replaceCredential` decision. */
const PART = MAX_COMPANIES_PER_MESSAGE;
/**
 * A part ends when its boxes have more characters than this. The portal accepts 30 MB in one request
 * (`portal/server/limits.ts`).
 */
const MAX_PART_CHARACTERS = 20_000_000;

export interface Supply<Credential> {
  readonly message: DecisionMessage;
  readonly credentials: readonly Credential[];
  /** Further fields of the decision that follows the credentials, for example a reason. */
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

/** A part of the credentials: the number of credentials before it, and in it. */
interface Part {
  readonly start: number;
  readonly size: number;
}

/** The answer to a supply of credentials. */
export interface SupplyAnswer extends RequestAnswer {
  /** The number of credentials that an applied decision supplied. */
  readonly supplied: number;
}

/**
 * Seals and sends credentials, then the decision about them. The decision contains the digest of the stored
 * credentials, so that the ledger refuses the decision if the portal has replaced a credential.
 *
 * `credentialsSupplied` is one decision about all parts. `replaceCredential` names its companies, so each part has its
 * own decision. A part that was sent twice, because the connection was lost, is stored once.
 *
 * @returns the joined outcomes of the decisions, or the answer at which the supply stopped, with the credentials that
 *   were not accepted
 */
export async function supplyInParts<Credential extends Label>(
  { message, credentials, fields }: Supply<Credential>,
  { keyFingerprint, createSealer, submit, decide, say, progress }: SupplyTransport<Credential>,
): Promise<SupplyAnswer> {
  const replaces = message === 'replaceCredential';
  const refused: Refused[number][] = [];
  let stored: HashedCredential[] = [];
  /** The outcomes of the decisions about earlier parts. A part of which nothing was accepted has no decision. */
  const decided: PartOutcome[] = [];
  let supplied = 0;
  let decisionId: string = crypto.randomUUID();
  for (let start = 0; start < credentials.length;) {
    if (replaces) [decisionId, stored] = [crypto.randomUUID(), []];
    const part = credentials.slice(start, start + PART);
    say(`Encrypting ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    const seal = await createSealer();
    const sealed: (HashedCredential & { readonly sealed: string })[] = [];
    let size = 0;
    for (const credential of part) {
      const { reference, obtainedAt } = credential;
      const box = await seal(credential);
      const text = base64Of(box);
      sealed.push({ reference, obtainedAt, boxHash: hashOfBox(box), sealed: text });
      size += text.length;
      if (size > MAX_PART_CHARACTERS) break;
    }
    const boxes = sealed.map(({ boxHash: _, ...each }) => each);
    say(`Sending ${start + 1} to ${start + sealed.length} of ${counted(credentials.length, 'credential')}…`);
    const answer = await submit('/api/credentials', { decisionId, replaces, keyFingerprint, credentials: boxes });
    if (answer.outcome !== 'stored') return afterEarlierParts(answer, { start, size: sealed.length });
    refused.push(...(answer.refusedCredentials ?? []));
    const notStored = new Set(answer.refusedCredentials?.map(({ reference }) => reference));
    for (const { sealed: _, ...each } of sealed) if (!notStored.has(each.reference)) stored.push(each);
    progress((start + sealed.length) / credentials.length);
    if (replaces && stored.length > 0) {
      const outcome = await decideAbout(stored.map(({ reference }) => reference));
      if (outcome.outcome !== 'applied') return afterEarlierParts(outcome, { start, size: sealed.length });
      decided.push({ text: outcome.text, companies: stored.length });
      supplied += changedCount(outcome, stored.length);
    }
    start += sealed.length;
  }
  const accepted = credentials.length - refused.length;
  const refusedCredentials = refused;
  if (accepted === 0)
    return {
      outcome: 'refused',
      text: ['no credential was accepted', ...refusedTexts(refused)].join('. '),
      supplied,
      refusedCredentials,
    };
  const answer: RequestAnswer = replaces
    ? { outcome: 'applied', text: joinedOutcomes(decided) }
    : await decideAbout(accepted);
  if (answer.outcome !== 'applied') return { ...answer, supplied };
  if (!replaces) supplied = changedCount(answer, accepted);
  if (refused.length === 0) return { ...answer, supplied };
  const text = [answer.text, ...refusedTexts(refused)].join('. ');
  return { ...answer, text, supplied, refusedCredentials };

  /**
   * If the supply stops at a later part, states in its answer how many credentials were replaced before, what the
   * decisions about them did not change, and which credentials were not accepted.
   *
   * @param part the part at which the supply stopped
   */
  function afterEarlierParts(last: RequestAnswer, part: Part): SupplyAnswer {
    const named = { ...last, supplied, ...(refused.length === 0 ? {} : { refusedCredentials: refused }) };
    if (decided.length === 0) return { ...named, text: [last.text, ...refusedTexts(refused)].join('. ') };
    const replaced = supplied === 0 ? 'no credential' : outOf(supplied, credentials.length, 'credential');
    const earlier = earlierText(decided);
    const texts = [
      `${replaced} ${supplied > 1 ? 'were' : 'was'} replaced`,
      ...restTexts(last, part, { all: credentials.length, supplied }),
      ...(earlier === null ? [] : [earlier]),
    ];
    return { ...named, text: [...texts, ...refusedTexts(refused)].join('. ') };
  }

  async function decideAbout(companies: number | readonly string[]): Promise<RequestAnswer> {
    return decide({ message, decisionId, fields: { ...fields, companies, sealedDigest: credentialsDigest(stored) } });
  }
}

/**
 * Says what the answer means for the rest of the credentials. Adds no advice to an answer `failed`, because it contains
 * its own, and the credentials of its part might have been replaced.
 *
 * @param part the part at which the supply stopped
 */
function restTexts(
  { outcome, text }: RequestAnswer,
  { start, size }: Part,
  { all, supplied }: { readonly all: number; readonly supplied: number },
): readonly string[] {
  const shown = (count: number): string => count.toLocaleString('en-US');
  const rest = all - start;
  const others = rest === 1 ? 'the last one' : `the last ${shown(rest)}`;
  const first = shown(start + 1);
  const about = size === 1 ? `credential ${first}` : `credentials ${first} to ${shown(start + size)}`;
  const answer = `For ${about}, the portal reports: ${text}`;
  if (outcome !== 'refused') return [answer, 'No further credential was sent'];
  const isOnlyRest = supplied === start;
  if (!isOnlyRest) return [answer, `Once this is solved, supply ${others} again`];
  return rest === 1
    ? [`The other was not, because the answer about it was: ${text}`, 'Once this is solved, supply it again']
    : [
        `The others were not, because the answer about ${about} was: ${text}`,
        'Once this is solved, supply the others again',
      ];
}

export const base64Of = (bytes: Uint8Array): string =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
