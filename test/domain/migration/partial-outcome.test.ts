import {
  acceptedText,
  allCompaniesOutcomeText,
  changedCount,
  companiesOutcomeText,
  isPartial,
} from '../../../domain/migration/partial-outcome';

test.each([
  [3, 3, 'retried', false],
  [0, 1, 'nothing has changed: the company does not exist, or its state does not allow the decision', true],
  [0, 2, 'nothing has changed: the 2 companies do not exist, or their state does not allow the decision', true],
  [
    1284,
    2000,
    'skipped; applied to 1,284 of 2,000 companies: the other companies do not exist, or their state does not allow the decision',
    true,
  ],
])('an outcome that changed %i of %i companies says so if they differ', (changed, requested, text, partial) => {
  const [decided = ''] = changed === 0 ? ['retried'] : text.split(';');
  expect(companiesOutcomeText(decided, changed, requested)).toBe(text);
  expect(isPartial({ text })).toBe(partial);
});

test('an outcome names a single other company in the singular', () => {
  expect(companiesOutcomeText('retried', 2, 3)).toBe(
    'retried; applied to 2 of 3 companies: the other company does not exist, or its state does not allow the decision',
  );
  expect(acceptedText(2, 3)).toBe(
    '2 credentials supplied, although the decision says 3: 1 other credential did not arrive, or the state of its company does not allow a new credential',
  );
});

test('an outcome begins with the number of companies that were changed', () => {
  expect(companiesOutcomeText('4 companies will not be moved: 4 companies too late', 1, 4)).toBe(
    '1 company will not be moved: 4 companies too late; applied to 1 of 4 companies: the other companies do not exist, or their state does not allow the decision',
  );
});

test.each([
  [
    'all companies that failed, were deferred or have an unknown outcome will be tried again',
    '5 companies will be tried again',
  ],
  [
    'all companies with a link to reconnect will be checked once reconnected by the end customer',
    '5 companies will be checked once reconnected by the end customer',
  ],
  ['the first company will be tried again', 'the first company will be tried again'],
  ['the supplied details will be checked again', 'the supplied details will be checked again'],
])('an outcome about all companies says how many were changed: %s', (text, expected) => {
  expect(allCompaniesOutcomeText(text, 5)).toBe(expected);
});

test.each([
  [
    'all companies that failed, were deferred or have an unknown outcome will be tried again',
    'nothing has changed: there are no companies that failed, were deferred or have an unknown outcome',
  ],
  [
    'all companies with a link to reconnect will be checked once reconnected by the end customer',
    'nothing has changed: there are no companies that a reconnection can help',
  ],
])('an outcome about all companies says plainly that there were none: %s', (text, expected) => {
  expect(allCompaniesOutcomeText(text, 0)).toBe(expected);
  expect(isPartial({ text: expected })).toBe(false);
});

test.each([
  [
    '1 company will be tried again',
    'the company does not exist, or its state does not allow the decision',
    (text: string) => companiesOutcomeText(text, 0, 1),
    true,
  ],
  [
    'all companies with a link to reconnect will be checked once reconnected by the end customer',
    'there are no companies that a reconnection can help',
    (text: string) => allCompaniesOutcomeText(text, 0),
    false,
  ],
])('an outcome that changed no company still says which sign-off it withdraws: %s', (text, why, outcomeOf, partial) => {
  const expected = `no company has changed: ${why}; this withdraws the sign-off of Cleo (client)`;
  const outcome = outcomeOf(`${text}; this withdraws the sign-off of Cleo (client)`);
  expect(outcome).toBe(expected);
  expect(isPartial({ text: outcome })).toBe(partial);
});

test('a retry that only repeats the check of the details says so, although it changes no company', () => {
  const text = 'the supplied details will be checked again';
  expect(companiesOutcomeText(text, 0, 1)).toBe(text);
  expect(companiesOutcomeText(text, 1, 2)).toBe(text);
  expect(isPartial({ text })).toBe(false);
});

test('a supply of credentials that did not all arrive is partial', () => {
  const isPartialSupply = (accepted: number) => isPartial({ text: acceptedText(accepted, 5) });
  expect([0, 1, 3].map(isPartialSupply)).toEqual([true, true, true]);
  expect(isPartial({ text: '5 credentials supplied' })).toBe(false);
});

test('a retry of all companies that can help none of them is partial', () => {
  const text = allCompaniesOutcomeText(
    'all companies that failed, were deferred or have an unknown outcome will be tried again',
    0,
    2,
  );
  expect(text).toBe('nothing has changed: a retry does not help 2 companies that must reconnect');
  expect(isPartial({ text })).toBe(true);
});

test.each([0, 1, 1284, 2000])('the number of changed companies is read from the outcome: %i', (changed) => {
  expect(changedCount({ text: companiesOutcomeText('2,000 companies retried', changed, 2000) }, 2000)).toBe(changed);
  const text = changed === 2000 ? '2,000 credentials supplied' : acceptedText(changed, 2000);
  expect(changedCount({ text }, 2000)).toBe(changed);
});
