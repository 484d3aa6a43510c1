import { createWriteStream, statSync } from 'node:fs';
import { once } from 'node:events';
import fc from 'fast-check';
import iconv from 'iconv-lite';

import { manifestDigest } from '../../../cli/manifest';
import type { ManifestRow } from '../../../domain/companies/manifest';
import { platform } from '../../support/migrations/platforms';
import { readWholeManifest, removeTempFiles, tempFile } from './manifest-files';

afterAll(removeTempFiles);

const quickBooks = platform('quickbooks-online');

/** Returns arbitrary cell text with delimiters, quotes, tabs and non-Latin letters, without surrounding spaces. */
const cellText = (maxLength: number): fc.Arbitrary<string> =>
  fc
    .string({ unit: fc.constantFrom(...'aBz09 ,;"\'\täß株😀&-'), minLength: 1, maxLength })
    .map((text) => `x${text.trim()}`);

const companies: fc.Arbitrary<ManifestRow[]> = fc
  .uniqueArray(
    fc.record({
      reference: cellText(20).map((text) => text.replaceAll('\t', '')),
      name: fc.oneof(
        cellText(40),
        cellText(10).map((text) => `${text}\n${text}`),
      ),
      organization: fc.stringMatching(/^[1-9][0-9]{0,15}$/),
      expectedInvoices: fc.option(fc.nat(100_000)),
      wave: fc.option(fc.integer({ min: 1, max: 9 })),
    }),
    {
      minLength: 1,
      maxLength: 12,
      comparator: (a, b) => a.reference === b.reference || a.organization === b.organization,
    },
  )
  .map((rows) => rows.map((row, index) => ({ row: index + 1, ...row, family: null })));

const COLUMNS = ['reference', 'name', 'realmId', 'expectedInvoices', 'wave'];
const cellsOf = ({ reference, name, organization, expectedInvoices, wave }: ManifestRow): string[] =>
  [reference, name, organization, expectedInvoices ?? '', wave ?? ''].map(String);

test('CSV is read correctly with any delimiter, encoding, line ending and quoting', async () => {
  await fc.assert(
    fc.asyncProperty(
      companies,
      fc.record({
        delimiter: fc.constantFrom(',', ';', '\t'),
        lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
        encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
        mark: fc.boolean(),
        quoteAll: fc.boolean(),
        lastLineEnds: fc.boolean(),
        blankLines: fc.boolean(),
      }),
      async (rows, { delimiter, lineEnd, encoding, mark, quoteAll, lastLineEnds, blankLines }) => {
        const quote = (cell: string): string =>
          quoteAll || /[,;\t"\n]/.test(cell) ? `"${cell.replaceAll('"', '""').replaceAll('\n', lineEnd)}"` : cell;
        const lines = [COLUMNS, ...rows.map(cellsOf)].map((cells) => cells.map(quote).join(delimiter));
        const text = lines.join(blankLines ? lineEnd + lineEnd : lineEnd) + (lastLineEnds ? lineEnd : '');
        // UTF-16 always gets a byte order mark. Without the mark, it is recognized only if most letters are Latin.
        const content = iconv.encode(text, encoding, { addBOM: mark || encoding !== 'utf-8' });

        const { rows: read, findings } = await readWholeManifest({ manifest: tempFile(content) }, quickBooks);
        expect(findings.filter(({ severity }) => severity === 'error')).toEqual([]);
        expect(read).toEqual(rows);
      },
    ),
    { numRuns: 150 },
  );
});

test('JSON is read correctly and has the same digest as the rows', async () => {
  await fc.assert(
    fc.asyncProperty(companies, fc.boolean(), fc.boolean(), async (rows, wrapped, indented) => {
      const objects = rows.map(({ reference, name, organization, expectedInvoices, wave }) => ({
        ...{ reference, name, realmId: organization, expectedInvoices, wave },
      }));
      const content = JSON.stringify(wrapped ? { companies: objects } : objects, null, indented ? 2 : 0);
      const { rows: read } = await readWholeManifest({ manifest: tempFile(content, 'companies.json') }, quickBooks);
      expect(read).toEqual(rows);
      expect(manifestDigest(read)).toBe(manifestDigest(rows));
    }),
    { numRuns: 50 },
  );
});

test('the digest changes with every field and with the order', () => {
  const row: ManifestRow = {
    ...{ row: 1, reference: 'A-1', name: 'Acme', organization: '1', expectedInvoices: 1, wave: null, family: null },
  };
  const other = { ...row, row: 2, reference: 'A-2', organization: '2' };
  const variants: ManifestRow[][] = [
    [row, other],
    [other, row],
    [row],
    [{ ...row, row: 2 }],
    [{ ...row, reference: 'A-3' }],
    [{ ...row, name: 'Acme Ltd' }],
    [{ ...row, organization: '3' }],
    [{ ...row, expectedInvoices: null }],
    [{ ...row, wave: 1 }],
    [{ ...row, family: 'jo' }],
  ];
  expect(new Set(variants.map(manifestDigest)).size).toBe(variants.length);
  expect(manifestDigest([row])).toMatch(/^[0-9a-f]{64}$/);
});

test.each([
  [
    'headers in a different case, order and spelling',
    'Wave,REALM ID,Name,expected_invoices, reference \n1,17,Acme,3,A-1',
  ],
  ['the column name "organization"', 'reference,name,organization,expectedInvoices,wave\nA-1,Acme,17,3,1'],
  [
    'a delimiter announced by sep=, as Excel writes it',
    'sep=;\r\nreference;name;realmId;expectedInvoices;wave\r\nA-1;Acme;17;3;1\r\n',
  ],
  ['empty cells beyond the header', 'reference,name,realmId,expectedInvoices,wave\nA-1,Acme,17,3,1,,,\n,,,,,,\n'],
  ['spaces around cells', 'reference,name,realmId,expectedInvoices,wave\n A-1 , Acme,17 ,3, 1'],
  [
    'UTF-16 text without a byte order mark',
    iconv.encode('reference,name,realmId,expectedInvoices,wave\nA-1,Acme,17,3,1', 'utf-16le'),
  ],
  ['JSON companies', '[{"reference":"A-1","name":"Acme","realmId":17,"expectedInvoices":3,"wave":"1"}]'],
])('a manifest with %s is read', async (_, content) => {
  const { rows, findings } = await readWholeManifest({ manifest: tempFile(content) }, quickBooks);
  expect(findings).toEqual([]);
  expect(rows).toEqual([
    { row: 1, reference: 'A-1', name: 'Acme', organization: '17', expectedInvoices: 3, wave: 1, family: null },
  ]);
});

test('a 16-digit id that is a JSON number loses no digits', async () => {
  const content = '[{"reference":"A-1","name":"Acme","realmId":9999999999999999,"expectedInvoices":3}]';
  const { rows } = await readWholeManifest({ manifest: tempFile(content) }, quickBooks);
  expect(rows[0]?.organization).toBe('9999999999999999');
});

test('rows keep their position when another row has an error', async () => {
  const content = 'reference,name,realmId\nA-1,Acme,1\n,Bolt,2\nA-3,Cut,3';
  const { rows } = await readWholeManifest({ manifest: tempFile(content) }, quickBooks);
  expect(rows.map(({ row, reference }) => [row, reference])).toEqual([
    [1, 'A-1'],
    [3, 'A-3'],
  ]);
});

test('a manifest of 50 MB is read completely', async () => {
  const manifest = tempFile('');
  const file = createWriteStream(manifest);
  file.write('reference,name,realmId,expectedInvoices,notes\n');
  const count = 50_000;
  const notes = 'abcdefghij'.repeat(100);
  for (let i = 0; i < count; i++) {
    if (!file.write(`A-${i},Company ${i},${9130000000000001n + BigInt(i)},12,${notes}\n`)) await once(file, 'drain');
  }
  file.end();
  await once(file, 'close');
  expect(statSync(manifest).size).toBeGreaterThan(50 * 1000 * 1000);

  const { rows, findings } = await readWholeManifest({ manifest }, quickBooks);
  expect(findings.map(({ code }) => code)).toEqual(['unknown-column']);
  expect(rows).toHaveLength(count);
  expect(rows.at(-1)).toMatchObject({ row: count, reference: `A-${count - 1}` });
}, 180_000);
