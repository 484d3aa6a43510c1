/** Tests the answers to credentials that are sent in parts, also if some of the credentials are not accepted. */
import { supplyInParts, type SupplyAnswer } from '../../../portal/client/supply';
import type { RequestAnswer } from '../../../portal/contract/requests';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';
import { acceptedText, companiesOutcomeText, isPartial } from '../../../domain/migration/partial-outcome';
import { counted } from '../../../domain/text/sentences';

const WHY = 'the company is moving';

interface Part {
  /** The number of the part's credentials that are stored; the others are refused. */
  readonly stored: number;
  /** The answer to the decision. */
  readonly decision?: RequestAnswer;
}

/**
 * Replaces credentials in as many parts as `parts` has. Each part is full, except that the last part has `lastSize`
 * credentials.
 */
function replace(parts: readonly Part[], lastSize = MAX_COMPANIES_PER_MESSAGE): Promise<SupplyAnswer> {
  return supply('replaceCredential', parts, lastSize);
}

async function supply(
  message: 'credentialsSupplied' | 'replaceCredential',
  parts: readonly Part[],
  lastSize: number,
): Promise<SupplyAnswer> {
  const total = (parts.length - 1) * MAX_COMPANIES_PER_MESSAGE + lastSize;
  const credentials = Array.from({ length: total }, (_, index) => ({
    ...{ reference: `C-${index + 1}`, obtainedAt: '2026-03-02T10:00:00.000Z' },
  }));
  const sent = [...parts];
  const decided = parts.flatMap(({ stored, decision }) =>
    stored === 0 ? [] : [decision ?? ({ outcome: 'applied', text: 'tried again' } as const)],
  );
  return supplyInParts(
    { message, credentials, fields: {} },
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
  const { outcome, text, supplied, refusedCredentials } = await replace([{ stored: 1 }, { stored: 1, decision }], 1);
  expect({ outcome, supplied }).toEqual({ outcome: 'refused', supplied: 1 });
  expect(text).toContain(
    `1 of ${(MAX_COMPANIES_PER_MESSAGE + 1).toLocaleString('en-US')} credentials was replaced. For credential 1,001, the portal reports: the migration is paused. Once this is solved, supply the last one again. `,
  );
  expect(text).toContain(`were not accepted, because ${WHY}`);
  expect(refusedCredentials).toHaveLength(MAX_COMPANIES_PER_MESSAGE - 1);
});

const MOST = MAX_COMPANIES_PER_MESSAGE;

/** Returns the text of the outcome of a replacement that changed `changed` of the `requested` companies. */
function replacedText(changed: number, requested: number): string {
  const text = `${counted(requested, 'company')} will be tried again with a new credential`;
  return companiesOutcomeText(text, changed, requested);
}

const applied = (text: string) => ({ outcome: 'applied', text }) as const;

test('an earlier decision that did not change all of its companies makes the whole answer partial', async () => {
  const first = replacedText(MOST - 10, MOST);
  const answer = await replace(
    [
      { stored: MOST, decision: applied(first) },
      { stored: 2, decision: applied(replacedText(2, 2)) },
    ],
    2,
  );
  expect(answer).toMatchObject({ outcome: 'applied', supplied: MOST - 8, text: `${first}; ${replacedText(2, 2)}` });
  expect(isPartial(answer)).toBe(true);
});

test('the answers to complete decisions become one, with the number of all companies', async () => {
  const whole = { stored: MOST, decision: applied(replacedText(MOST, MOST)) };
  const answer = await replace([whole, { stored: 2, decision: applied(replacedText(2, 2)) }], 2);
  expect(answer).toMatchObject({ supplied: MOST + 2, text: replacedText(MOST + 2, MOST + 2) });
});

test.each([
  [MOST - 10, `${MOST - 10} of 1,002 credentials were`],
  [0, 'no credential was'],
])('if a later part is refused, the answer says what an earlier decision did not change: %i', async (changed, were) => {
  const first = replacedText(changed, MOST);
  const decision = { outcome: 'refused', text: 'the migration is paused' } as const;
  const answer = await replace(
    [
      { stored: MOST, decision: applied(first) },
      { stored: 2, decision },
    ],
    2,
  );
  expect(answer).toMatchObject({
    outcome: 'refused',
    supplied: changed,
    text: `${were} replaced. For credentials 1,001 to 1,002, the portal reports: the migration is paused. Once this is solved, supply the last 2 again. The earlier answer was: ${first}`,
  });
});

test.each([
  [1, 'The other was not, because the answer about it was: the migration is paused. Once this is solved, supply it'],
  [
    ...[
      2,
      'The others were not, because the answer about credentials 1,001 to 1,002 was: the migration is paused. Once this is ',
    ],
    'solved, supply the others',
  ],
] as const)('if only the last part is refused, the answer says what to supply again: %i', async (size, ...others) => {
  const decision = { outcome: 'refused', text: 'the migration is paused' } as const;
  const { text } = await replace([{ stored: MOST }, { stored: size, decision }], size);
  expect(text).toBe(
    `${MOST.toLocaleString('en-US')} of ${(MOST + size).toLocaleString('en-US')} credentials were replaced. ${others.join('')} again`,
  );
});

test('if the outcome of a later part is unknown, the answer does not say that its credentials were not replaced', async () => {
  const decision = { outcome: 'failed', text: 'no worker has answered' } as const;
  expect((await replace([{ stored: MOST }, { stored: 2, decision }], 2)).text).toBe(
    '1,000 of 1,002 credentials were replaced. For credentials 1,001 to 1,002, the portal reports: no worker has answered. No further credential was sent',
  );
});

test('a supply counts the credentials that the ledger accepted', async () => {
  const decision = applied(acceptedText(3, 5));
  expect(await supply('credentialsSupplied', [{ stored: 5, decision }], 5)).toMatchObject({ supplied: 3 });
  expect(await supply('credentialsSupplied', [{ stored: 5 }], 5)).toMatchObject({ supplied: 5 });
});

test('large credentials are sent in parts that the portal accepts', async () => {
  const credentials = Array.from({ length: MAX_COMPANIES_PER_MESSAGE }, (_, index) => ({
    ...{ reference: `C-${index + 1}`, obtainedAt: '2026-03-02T10:00:00.000Z' },
  }));
  const box = new Uint8Array(33_000);
  const parts: (readonly { readonly reference: string; readonly sealed: string }[])[] = [];
  const answer = await supplyInParts(
    { message: 'credentialsSupplied', credentials, fields: {} },
    {
      keyFingerprint: 'ab12',
      createSealer: async () => () => box,
      submit: async (_path, body) => {
        parts.push((body as { readonly credentials: (typeof parts)[number] }).credentials);
        return { outcome: 'stored', text: 'stored', stored: parts.at(-1)?.length ?? 0 };
      },
      decide: async () => ({ outcome: 'applied', text: 'done' }),
      say: () => undefined,
      progress: () => undefined,
    },
  );
  expect(answer).toMatchObject({ outcome: 'applied', supplied: credentials.length });
  expect(parts.flat().map(({ reference }) => reference)).toEqual(credentials.map(({ reference }) => reference));
  for (const part of parts) expect(JSON.stringify(part).length).toBeLessThan(30 * 1024 * 1024);
  expect(parts.length).toBeGreaterThan(1);
});
