/** The title of the list of companies that were not moved, which a person sees before the sign-off. */
import { notMovedTitle } from '../../../portal/client/not-moved';

test.each([
  [1, { mustReconnect: 1, notMoved: 0, leftOut: 0 }, '1 company that must reconnect'],
  [2, { mustReconnect: 0, notMoved: 2, leftOut: 0 }, '2 companies that were not moved'],
  [1, { mustReconnect: 0, notMoved: 0, leftOut: 1 }, '1 company that was left out'],
  [4, { mustReconnect: 1, notMoved: 0, leftOut: 3 }, '4 companies that must reconnect or were left out'],
  [
    6,
    { mustReconnect: 1, notMoved: 2, leftOut: 3 },
    '6 companies that must reconnect, were not moved, or were left out',
  ],
])('the title about %i companies names only the states that have companies', (companies, counts, title) => {
  expect(notMovedTitle(companies, counts)).toBe(title);
});
