import { volumeOf } from '../../domain/volume';
import { rowsOf } from '../support/ledger';

const rows = rowsOf(3, (row) => ({ expectedInvoices: row === 1 ? 10 : null }));

test.each([
  [undefined, { records: 10, companiesWithoutVolume: 2 }],
  [400, { records: 400, companiesWithoutVolume: 0 }],
  // Less than a row says by itself: the row knows.
  [4, { records: 10, companiesWithoutVolume: 0 }],
])('of a manifest whose rows do not all say it, with %s in total', (total, volume) => {
  expect(volumeOf(rows, total)).toMatchObject({ companies: 3, ...volume });
});
