/** The list of companies that were not moved, which a person sees before the sign-off, and its title. */
import type { Company, CompanyFilter } from '../../../portal/client/api';
import type { MigrationView } from '../../../portal/contract/migration-view';
import { notMovedTitle, readNotMoved } from '../../../portal/client/not-moved';

test.each([
  [1, { mustReconnect: 1, notMoved: 0, leftOut: 0 }, 'The company that must reconnect'],
  [2, { mustReconnect: 0, notMoved: 2, leftOut: 0 }, 'The companies that were not moved'],
  [1, { mustReconnect: 0, notMoved: 0, leftOut: 1 }, 'The company that was left out'],
  [4, { mustReconnect: 1, notMoved: 0, leftOut: 3 }, 'The companies that must reconnect or were left out'],
  [
    6,
    { mustReconnect: 1, notMoved: 2, leftOut: 3 },
    'The companies that must reconnect, were not moved, or were left out',
  ],
])('the title about %i companies names only the states that have companies', (companies, counts, title) => {
  expect(notMovedTitle(companies, counts)).toBe(title);
});

test.each([
  [5, 3],
  // The counts are older than the list, which has more companies.
  [2, 1],
  [0, 1],
])(
  'a list of 3 companies that names 2 of them says that there are more if the counts say %i',
  async (leftOut, more) => {
    async function* eachCompany({ state }: CompanyFilter) {
      const company = { name: 'Harbour Books', problem: null };
      for (const reference of state === 'left-out' ? ['C-1', 'C-2', 'C-3'] : [])
        yield { ...company, reference } as Company;
    }
    const counts = { mustReconnect: 0, notMoved: 0, leftOut } as MigrationView['counts'];
    expect(await readNotMoved(eachCompany, counts, 2)).toMatchObject({ companies: [{}, {}], more });
  },
);
