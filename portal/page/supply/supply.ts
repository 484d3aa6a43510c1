/** Encrypts credentials in this page and sends them. Only workers can decrypt them. */
import type { ParsedCredential } from '../../../domain/supply/row-parser';
import { supplyInParts, type Supply } from '../../client/supply';
import { missingKeyTexts } from '../../client/missing-key';
import { submit, decide, type App } from '../app';
import { FormProblem, sentence, type Sending } from '../elements/dialog';
import { checkKey, createSealer, KeyRefused, type SealingKey } from './sealing';

/**
 * Returns the key with which this page seals.
 *
 * @throws FormProblem if there is no such key, or the page cannot verify that the provider signed it
 */
export async function sealingKey({ key, view, session }: App): Promise<SealingKey> {
  const { migrationKey, state } = view();
  if (migrationKey === null) {
    const { message, advice } = missingKeyTexts('this migration', state);
    throw new FormProblem(`${sentence(message)} ${sentence(advice)}`);
  }
  if (key === null || key.provider === null)
    throw new FormProblem(
      "your invitation does not contain the provider's fingerprint, so this page cannot check the migration key; ask your contact for a new invitation",
    );
  try {
    return await checkKey(migrationKey, session.migrationId, key.provider);
  } catch (error) {
    throw error instanceof KeyRefused ? new FormProblem(error.message) : error;
  }
}

/** Seals and sends credentials, then the decision about them. */
export async function supply(app: App, what: Supply<ParsedCredential>, { say, progress }: Sending) {
  const key = await sealingKey(app);
  return supplyInParts(what, {
    keyFingerprint: key.fingerprint,
    createSealer: async () => {
      const seal = await createSealer(key);
      return ({ reference, obtainedAt, fields }) =>
        seal(JSON.stringify(fields), ['credential', key.migrationId, reference, obtainedAt]);
    },
    submit: (path, body) => submit(path, body, say),
    decide: (decision) => decide(app, decision, say),
    ...{ say, progress },
  });
}
