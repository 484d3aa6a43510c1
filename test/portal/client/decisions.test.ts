/** Decisions about so many companies that they are sent in parts. */
import { sendInParts } from '../../../portal/client/decisions';
import type { RequestAnswer } from '../../../portal/contract/requests';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/decision-fields';
import { laterRefusalText } from '../../../domain/migration/part-outcomes';
import { companiesOutcomeText, isPartial } from '../../../domain/migration/partial-outcome';
import { counted } from '../../../domain/text/sentences';

const MOST = MAX_COMPANIES_PER_MESSAGE;

/** Sends a decision in three parts: two full parts, and a last part with two companies. */
async function send(answerTo: (companies: number, part: number) => RequestAnswer) {
  const companies = Array.from({ length: 2 * MOST + 2 }, (_, index) => `C-${index + 1}`);
  const sizes: number[] = [];
  const answer = await sendInParts(
    { message: 'confirmSyncDisabled', fields: { companies } },
    async ({ fields }) => {
      const { length } = (fields?.['companies'] ?? []) as readonly string[];
      sizes.push(length);
      return answerTo(length, sizes.length);
    },
    () => undefined,
  );
  return { ...answer, sizes };
}

const applied = (text: string): RequestAnswer => ({ outcome: 'applied', text });

test('the answers to the parts become one, with the number of all companies', async () => {
  const { text, sizes } = await send((companies) => applied(`syncing is off for ${counted(companies, 'company')}`));
  expect(sizes).toEqual([MOST, MOST, 2]);
  expect(text).toBe(`syncing is off for ${counted(2 * MOST + 2, 'company')}`);
});

test('an answer about fewer companies than its part stays as it is, and shows that the decision is not complete', async () => {
  const whole = (companies: number): string => `${counted(companies, 'company')} left out: closed`;
  const partial = companiesOutcomeText(whole(MOST), MOST - 1, MOST);
  const answer = await send((companies, part) => applied(part === 2 ? partial : whole(companies)));
  expect(answer.text).toBe(`${partial}; ${whole(MOST + 2)}`);
  expect(isPartial(answer)).toBe(true);
});

test('if a later part is refused, the answer says about how many companies the decision was applied, and how many it has not reached', async () => {
  const refused = (at: number) =>
    send((_, part) => (part === at ? { outcome: 'refused', text: 'the migration is cancelled' } : applied('done')));
  const all = counted(2 * MOST + 2, 'company');
  expect(await refused(2)).toMatchObject({
    outcome: 'refused',
    text: `the decision was applied to the first ${MOST.toLocaleString('en-US')} of ${all}. For the next ${counted(MOST, 'company')}: the migration is cancelled. The decision was not sent for the last 2 companies`,
    sizes: [MOST, MOST],
  });
  expect((await refused(3)).text).toBe(
    `the decision was applied to the first ${(2 * MOST).toLocaleString('en-US')} of ${all}. For the next 2 companies: the migration is cancelled`,
  );
});

test('a single company in a part is not counted', async () => {
  const refusal = { answers: [{ text: 'done', companies: MOST }], all: MOST + 2 };
  expect(laterRefusalText('no', { ...refusal, part: 1 })).toMatch(
    /\. For the next company: no\. The decision was not sent for the last company$/,
  );
  expect(laterRefusalText('no', { ...refusal, part: 2 })).toMatch(/\. For the next 2 companies: no$/);
});

test.each([0, MOST - 1])(
  'a later refusal repeats an earlier answer that did not change all companies: %i',
  async (changed) => {
    const first = companiesOutcomeText(`${counted(MOST, 'company')} will not be moved: closed`, changed, MOST);
    const { text } = await send((_, part) =>
      part === 1 ? applied(first) : { outcome: 'refused', text: 'the migration is cancelled' },
    );
    expect(text).toBe(
      `the answer about the first 1,000 of 2,002 companies was: ${first}. For the next 1,000 companies: the migration is cancelled. The decision was not sent for the last 2 companies`,
    );
  },
);
