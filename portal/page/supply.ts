/** Encrypts credentials in this page and sends them. Nothing that is sent can be read on the way. */
import type { RequestAnswer } from '../contract';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/parse-decision';
import type { ParsedCredential } from '../../domain/supply/row-parser';
import { counted } from '../../domain/text/sentences';
import { submit } from './api';
import type { App } from './app';
import { decide } from './app';
import { FormProblem, type Sending } from './dialog';
import { checkKey, createSealer, KeyRefused, type SealingKey } from './sealing';

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
 * Seals and sends credentials, then the decision about them.
 *
 * `credentialsSupplied` is one decision about all parts. `replaceCredential` names its companies, so each part has its
 * own decision. A part that was sent twice, because the connection was lost, is stored once.
 */
export async function supply(app: App, { message, credentials, fields }: Supply, sending: Sending) {
  const key = await sealingKey(app);
  const replaces = message === 'replaceCredential';
  const refused: string[] = [];
  let answer: RequestAnswer = { outcome: 'failed', text: 'the file contains no credential' };
  let decisionId: string = crypto.randomUUID();
  for (let start = 0; start < credentials.length; start += PART) {
    if (replaces) decisionId = crypto.randomUUID();
    const part = credentials.slice(start, start + PART);
    sending.say(`Encrypting ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    const sealed = await sealPart(key, part);
    const body = { decisionId, replaces, keyFingerprint: key.fingerprint, credentials: sealed };
    sending.say(`Sending ${start + 1} to ${start + part.length} of ${counted(credentials.length, 'credential')}…`);
    answer = await submit('/api/credentials', body, sending.say);
    if (answer.outcome !== 'stored') return answer;
    refused.push(...(answer.refusedCredentials ?? []).map(({ reference, why }) => `${reference}: ${why}`));
    const stored = part.map(({ reference }) => reference).filter((each) => !isRefused(answer, each));
    sending.progress((start + part.length) / credentials.length);
    if (replaces && stored.length > 0) {
      answer = await decide(app, { message, decisionId, fields: { ...fields, companies: stored } }, sending.say);
      if (answer.outcome !== 'applied') return answer;
    }
  }
  const accepted = credentials.length - refused.length;
  if (accepted === 0) return { outcome: 'refused', text: `no credential was accepted. ${listed(refused)}` } as const;
  if (!replaces)
    answer = await decide(app, { message, decisionId, fields: { ...fields, companies: accepted } }, sending.say);
  return refused.length === 0 || answer.outcome !== 'applied'
    ? answer
    : { ...answer, text: `${answer.text}. ${counted(refused.length, 'credential')} not accepted. ${listed(refused)}` };
}

const isRefused = ({ refusedCredentials = [] }: RequestAnswer, reference: string): boolean =>
  refusedCredentials.some((each) => each.reference === reference);

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
