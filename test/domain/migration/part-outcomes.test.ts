/** Tests the joined outcomes of a decision that is sent in parts. */
import { earlierText, joinedOutcomes } from '../../../domain/migration/part-outcomes';
import { companiesOutcomeText, isPartial } from '../../../domain/migration/partial-outcome';

const SENT = 'the decision was sent, but not applied yet: no worker is answering';
const unknown = (companies: number, text = SENT) => ({ text, companies, isUnknown: true });
const leftOut = (companies: number) => ({
  text: `${companies.toLocaleString('en-US')} companies left out: sold`,
  companies,
});

test('an unknown outcome beside other outcomes says how many companies it is about', () => {
  expect(joinedOutcomes([leftOut(1000), unknown(1000), unknown(2)])).toBe(
    `1,000 companies left out: sold; for 1,002 companies: ${SENT}`,
  );
  expect(joinedOutcomes([unknown(1000), unknown(1, 'the database is not answering')])).toBe(
    `for 1,000 companies: ${SENT}; for 1 company: the database is not answering`,
  );
});

test('a partial outcome still comes first', () => {
  const text = companiesOutcomeText(leftOut(1000).text, 0, 1000);
  const joined = joinedOutcomes([unknown(1000), { text, companies: 1000 }]);
  expect(joined).toBe(`${text}; for 1,000 companies: ${SENT}`);
  expect(isPartial({ text: joined })).toBe(true);
});

test('equal unknown outcomes of all parts stay one text', () => {
  expect(joinedOutcomes([unknown(1000), unknown(2)])).toBe(SENT);
  expect(earlierText([unknown(1000)])).toBe(`The earlier answer was: ${SENT}`);
});
