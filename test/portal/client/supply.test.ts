/** Credentials that are sent in parts, of which some are not accepted. */
import { supplyInParts } from '../../../portal/client/supply';
import type { RequestAnswer } from '../../../portal/contract/requests';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';

const WHY = 'the company is moving';

interface Part {
  /** The number of credentials that the ledger stores; it does not accept the others. */
  readonly stored: number;
  /** The answer to the decision. */
  readonly decision?: RequestAnswer;
}

/**
 * Replaces the credentials of so many companies that there is one part for each of `parts`; the last can be smaller.
 */
async function replace(parts: readonly Part[], lastSize = MAX_COMPANIES_PER_MESSAGE): Promise<RequestAnswer> {
  const total = (parts.length - 1) * MAX_COMPANIES_PER_MESSAGE + lastSize;
  const credentials = Array.from({ length: total }, (_, index) => ({
    ...{ reference: `C-${index + 1}`, obtainedAt: '2026-03-02T10:00:00.000Z' },
  }));
  const sent = [...parts];
  const decided = parts.flatMap(({ stored, decision }) =>
    stored === 0 ? [] : [decision ?? ({ outcome: 'applied', text: 'tried again' } as const)],
  );
  return supplyInParts(
    { message: 'replaceCredential', credentials, fields: {} },
    {
      keyFingerprint: 'ab12',
      createSealer: async () => () => new Uint8Array([1]),
      submit: async (_path, body) => {
        const { credentials: boxes } = body as { readonly credentials: readonly { readonly reference: string }[] };
        const { stored = 0 } = sent.shift() ?? {};
        const refusedCredentials = boxes.slice(stored).map(({ reference }) => ({ reference, why: WHY }));
        return { outcome: 'stored', text: 'stored', stored, refusedCredentials };
      },
      decide: async () => decided.shift() ?? { outcome: 'failed', text: 'no decision was expected' },
      say: () => undefined,
      progress: () => undefined,
    },
  );
}

test('if nothing of the last part is accepted, the answer is that of the decision about the earlier parts', async () => {
  const { outcome, text, refusedCredentials } = await replace(
    [{ stored: MAX_COMPANIES_PER_MESSAGE }, { stored: 0 }],
    2,
  );
  expect(outcome).toBe('applied');
  const [first, second] = [MAX_COMPANIES_PER_MESSAGE + 1, MAX_COMPANIES_PER_MESSAGE + 2];
  expect(text).toBe(`tried again. 2 credentials (C-${first}, C-${second}) were not accepted, because ${WHY}`);
  expect(refusedCredentials).toHaveLength(2);
});

test('if a later part is refused, the answer counts what was replaced and names what was not accepted', async () => {
  const decision = { outcome: 'refused', text: 'the migration is paused' } as const;
  const { outcome, text, stored, refusedCredentials } = await replace([{ stored: 1 }, { stored: 1, decision }], 1);
  expect({ outcome, stored }).toEqual({ outcome: 'refused', stored: 1 });
  expect(text).toContain(
    `1 of ${(MAX_COMPANIES_PER_MESSAGE + 1).toLocaleString('en-US')} credentials was replaced before this answer: the migration is paused. No`,
  );
  expect(text).toContain(`were not accepted, because ${WHY}`);
  expect(refusedCredentials).toHaveLength(MAX_COMPANIES_PER_MESSAGE - 1);
});
