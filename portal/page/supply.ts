/** Encrypts credentials in this page and sends them. Nothing that is sent can be read on the way. */
import type { RequestAnswer } from '../contract';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/parse-decision';
import type { ParsedCredential } from '../../domain/supply/row-parser';
import { credentialsDigest, hashOfBox, type HashedCredential } from '../../domain/supply/sealed-digest';
import { counted } from '../../domain/text/sentences';
import { submit } from './api';
import type { App } from './app';
import { decide } from './app';
import { FormProblem, type Sending } from './dialog';
import { checkKey, createSealer, fromBase64, KeyRefused, type SealingKey } from './sealing';

/** The largest number of credentials in one request, and in one decision. */
const PART = MAX_COMPANIES_PER_MESSAGE;

/** Returns the key to seal with. @throws FormProblem if it is not the provider's */
export async function sealingKey({ key, view, session }: App): Promise<SealingKey> {
  const { migrationKey } = view();
  if (migrationKey === null) throw new FormProblem('the migration does not accept credentials now');
  if (key === null || key.provider === null)
    throw new FormProblem(
      "your invitation did not name the provider's fingerprint, so this page cannot check the key; ask for a new invitation",
    );
  try {
    return await checkKey(migrationKey, session.migrationId, key.provider);
  } catch (error) {
    throw error instanceof KeyRefused ? new FormProblem(error.message) : error;
  }
}

interface Supply {
  readonly message: DecisionMessage;
  readonly credentials: readonly ParsedCredential[];
  /** Fields of the decision that follows. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Seals and sends credentials, then the decision about them. The decision contains the digest of the credentials that
 * were stored, so that the ledger refuses it if the portal has exchanged one.
 *
 * `credentialsSupplied` is one decision about all parts. `replaceCredential` names its companies, so each part has its
 * own decision. A part that was sent twice, because the connection was lost, is stored once.
 */
export async function supply(app: App, { message, credentials, fields }: Supply, sending: Sending) {
  const key = await sealingKey(app);
  const replaces = message === 'replaceCredential';
  const refused: string[] = [];
  let stored: HashedCredential[] = [];
  let answer: RequestAnswer = { outcome: 'failed', text: 'the file contains no credential' };
  let decisionId: string = crypto.randomUUID();
  for (let start = 0; start < credentials.length; start += PART) {
    if (replaces) [decisionId, stored] = [crypto.randomUUID(), []];
    const part = credentials.slice(start, start + PART);
    sending.say(`Encrypting ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    const sealed = await sealPart(key, part);
    const body = { decisionId, replaces, keyFingerprint: key.fingerprint, credentials: sealed };
    sending.say(`Sending ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    answer = await submit('/api/credentials', body, sending.say);
    if (answer.outcome !== 'stored') return answer;
    refused.push(...(answer.refusedCredentials ?? []).map(({ reference, why }) => `${reference}: ${why}`));
    const notStored = new Set(answer.refusedCredentials?.map(({ reference }) => reference));
    for (const { sealed: box, ...each } of sealed)
      if (!notStored.has(each.reference)) stored.push({ ...each, boxHash: hashOfBox(fromBase64(box)) });
    sending.progress((start + part.length) / credentials.length);
    if (replaces && stored.length > 0) {
      const companies = stored.map(({ reference }) => reference);
      answer = await supplied(companies);
      if (answer.outcome !== 'applied') return answer;
    }
  }
  const accepted = credentials.length - refused.length;
  if (accepted === 0) return { outcome: 'refused', text: `no credential was accepted. ${listed(refused)}` } as const;
  if (!replaces) answer = await supplied(accepted);
  return refused.length === 0 || answer.outcome !== 'applied'
    ? answer
    : { ...answer, text: `${answer.text}. ${counted(refused.length, 'credential')} not accepted. ${listed(refused)}` };

  async function supplied(companies: number | readonly string[]): Promise<RequestAnswer> {
    const signed = { ...fields, companies, sealedDigest: credentialsDigest(stored) };
    return decide(app, { message, decisionId, fields: signed }, sending.say);
  }
}

function listed(refused: readonly string[]): string {
  const more = refused.length - 10;
  return refused.slice(0, 10).join('; ') + (more > 0 ? `; and ${counted(more, 'other')}` : '');
}

async function sealPart(key: SealingKey, credentials: readonly ParsedCredential[]) {
  const seal = await createSealer(key);
  const sealed: { reference: string; obtainedAt: string; sealed: string }[] = [];
  for (const { reference, obtainedAt, fields } of credentials) {
    const binding = ['credential', key.migrationId, reference, obtainedAt];
    sealed.push({ reference, obtainedAt, sealed: await seal(JSON.stringify(fields), binding) });
  }
  return sealed;
}
