/**
 * Fuzzes manifests and credential files with any content. Every file must be read within a limit of CPU time. A finding
 * must not quote a value of a token column, and every accepted row must be storable. See test/support/faults/fuzz.ts
 * for longer runs.
 */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import iconv from 'iconv-lite';
import { hasUnsafeCharacters, hasUnsafeCharactersInMultilineText } from '../../../domain/text/untrusted-text';
import { PLATFORMS, type Platform } from '../../../platforms/platforms';
import {
  anyBytes,
  anyJson,
  anyText,
  brokenJson,
  fuzzer,
  NASTY_JSON,
  NASTY_TEXTS,
  withinMs,
} from '../../support/faults/fuzz';
import { platform } from '../../support/migrations/platforms';
import { readWholeCredentials, readWholeManifest, removeTempFiles, tempFile } from './manifest-files';

afterEach(removeTempFiles);

const files = fuzzer('manifests and credential files');

interface Input {
  readonly content: Buffer;
  readonly name: string;
  readonly platform: Platform;
  readonly route: 'managed' | 'self-service';
}

const quickBooks = platform('quickbooks-online');
/**
 * Limits the CPU time instead of the elapsed time, because other tests run at the same time. On the same core, they can
 * still double the CPU time. A file that is read in quadratic time needs minutes.
 */
const READ_WITHIN_MS = 16_000;
/** Marks tokens, so that the test can search findings for them. */
const TOKEN = 'tok3n';
const NOW = new Date('2026-03-01T12:00:00Z');

const asFile = (content: string | Buffer, name = 'companies.csv'): Input => ({
  content: typeof content === 'string' ? Buffer.from(content) : content,
  name,
  platform: quickBooks,
  route: 'managed',
});

const HEADER = 'reference,name,realmId,expectedInvoices,wave,accessToken,refreshToken,obtainedAt';
const row = (changes: Readonly<Record<string, string>>): string => {
  const good = { reference: 'A-1', name: 'Acme', realmId: '17', expectedInvoices: '3', wave: '1' };
  const token = { accessToken: `a-${TOKEN}`, refreshToken: `r-${TOKEN}`, obtainedAt: '2026-03-01T10:00:00Z' };
  const cells: Readonly<Record<string, string>> = { ...good, ...token, ...changes };
  return HEADER.split(',')
    .map((column) => `"${(cells[column] ?? '').replaceAll('"', '""')}"`)
    .join(',');
};
const csv = (...rows: string[]): string => [HEADER, ...rows].join('\n');
const megabyte = 'x'.repeat(1024 * 1024);

/** Files that have broken the reader or are likely to break it. */
const CORPUS: readonly Input[] = [
  ...NASTY_TEXTS.flatMap((text) => HEADER.split(',').map((column) => asFile(csv(row({ [column]: text }))))),
  ...NASTY_TEXTS.map((text) => asFile(text)),
  ...NASTY_JSON.flatMap((json) => [
    asFile(json, 'companies.json'),
    asFile(`[{"reference":${json},"name":"Acme","realmId":1}]`, 'companies.json'),
    asFile(`{"companies":${json}}`, 'companies.json'),
  ]),
  ...['utf-16le', 'utf-16be', 'utf-32le', 'windows-1252', 'shift_jis', 'utf-7'].flatMap((encoding) =>
    [true, false].map((addBOM) => asFile(iconv.encode(csv(row({ name: 'Café 株式会社' })), encoding, { addBOM }))),
  ),
  asFile(`\uFEFF\uFEFF${csv(row({}))}`),
  asFile(csv(row({ name: megabyte }))),
  asFile(csv(row({ refreshToken: megabyte }))),
  asFile(`${HEADER},${megabyte}\n${row({})},1`),
  asFile(`[{"reference":"${megabyte}"}]`, 'companies.json'),
  asFile(`[{"${megabyte}":1}]`, 'companies.json'),
  asFile(`[${'{"reference":"A"},'.repeat(20_000)}]`, 'companies.json'),
  asFile(`${','.repeat(100_000)}\n${','.repeat(100_000)}`),
  asFile(`${HEADER}\n${'\n'.repeat(200_000)}`),
  asFile(gzipSync(csv(row({})))),
  // These two files are read slowly if every blank line creates an error with a stack trace, or if every chunk of
  // blanks is joined to all earlier chunks.
  asFile('\n'.repeat(1024 * 1024)),
  asFile(`${' '.repeat(32 * 1024 * 1024)}[]`, 'companies.json'),
  asFile(csv(row({}), row({ reference: '__proto__', realmId: '18', refreshToken: 'constructor' }))),
  asFile('__proto__,constructor,toString\n1,2,3'),
  asFile('[{"__proto__":{"reference":"A-1"},"reference":"A-1","name":"Acme","realmId":1}]', 'companies.json'),
];

const cell = fc.oneof(
  { arbitrary: anyText, weight: 2 },
  {
    arbitrary: fc.constantFrom('A-1', 'A-2', 'Acme', '17', '18', '1', `x-${TOKEN}`, '2026-03-01T10:00:00Z'),
    weight: 3,
  },
);
const quoted = fc.tuple(cell, fc.nat(9)).map(([text, way]) => (way < 5 ? `"${text.replaceAll('"', '""')}"` : text));
const columnOf = (of: Platform): fc.Arbitrary<string> =>
  fc.oneof(
    {
      arbitrary: fc.constantFrom(
        ...[
          'reference',
          'name',
          of.organizationField,
          'organization',
          'expectedInvoices',
          'wave',
          'family',
          'obtainedAt',
        ],
        ...[...of.requiredFields, ...of.optionalFields, 'serviceCompanyId', 'serviceConnectionId', 'companyId'],
      ),
      weight: 9,
    },
    { arbitrary: anyText, weight: 1 },
  );

const table = (of: Platform): fc.Arbitrary<string> =>
  fc
    .record({
      headers: fc.oneof(
        fc.array(columnOf(of), { maxLength: 9 }),
        fc.constant(['reference', 'name', of.organizationField, ...of.requiredFields, 'obtainedAt']),
      ),
      rows: fc.array(fc.array(quoted, { maxLength: 10 }), { maxLength: 6 }),
      delimiter: fc.constantFrom(',', ';', '\t', '|'),
      lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
      declared: fc.constantFrom('', '', '', 'sep=;\n', 'sep=\t\r\n', 'sep='),
    })
    .map(({ headers, rows, delimiter, lineEnd, declared }) => {
      // Most rows get one cell per header, because a row with missing or extra cells is refused before its cells are
      // checked.
      const complete = rows.map((cells, at) =>
        at % 4 === 3
          ? cells
          : Array.from({ length: headers.length }, (_, index) => cells[index % Math.max(1, cells.length)] ?? '17'),
      );
      return declared + [headers, ...complete].map((cells) => cells.join(delimiter)).join(lineEnd);
    });

const objects = (of: Platform): fc.Arbitrary<string> =>
  fc
    .tuple(
      fc.array(
        fc.array(
          fc.tuple(
            columnOf(of),
            fc.oneof(
              anyJson,
              cell.map((text) => JSON.stringify(text)),
            ),
          ),
        ),
        {
          maxLength: 5,
        },
      ),
      fc.constantFrom('', '', '{"companies":'),
    )
    .map(([rows, wrapped]) => {
      const texts = rows.map((fields) => `{${fields.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join()}}`);
      return `${wrapped}[${texts.join()}]${wrapped === '' ? '' : '}'}`;
    });

const anyFile: fc.Arbitrary<Input> = fc.constantFrom(...PLATFORMS).chain((of) =>
  fc.record({
    content: fc.oneof(
      {
        arbitrary: fc
          .tuple(
            fc.oneof({ arbitrary: table(of), weight: 4 }, { arbitrary: objects(of), weight: 2 }, brokenJson),
            fc.constantFrom('utf-8', 'utf-8', 'utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'utf-32le'),
            fc.boolean(),
          )
          .map(([text, encoding, addBOM]) => iconv.encode(text, encoding, { addBOM })),
        weight: 6,
      },
      { arbitrary: anyBytes, weight: 1 },
    ),
    name: fc.constantFrom('companies.csv', 'companies.json', 'companies'),
    platform: fc.constant(of),
    route: fc.constantFrom('managed', 'self-service'),
  }),
);

/** Asserts that Postgres can store the text, and that the text cannot alter the output around it. */
function assertStorable(text: string): void {
  expect(hasUnsafeCharactersInMultilineText(text)).toBe(false);
  expect(text).not.toMatch(/\p{Surrogate}/u);
}

test(
  'any manifest and any credential file is read to its end, and only rows that can be stored are accepted',
  async () => {
    await files.tryAll({ corpus: CORPUS, any: anyFile, generated: 900 }, async (input) => {
      const path = tempFile(input.content, input.name);
      const before = process.cpuUsage();
      const manifest = await readWholeManifest({ manifest: path }, input.platform, input.route, NOW);
      const credentials = await readWholeCredentials(path, input.platform, { now: NOW });
      const { user, system } = process.cpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(READ_WITHIN_MS);

      for (const { code, message, advice, line, field } of [...manifest.findings, ...credentials.findings]) {
        expect({ code, isStated: message !== '' && advice !== '' }).toEqual({ code, isStated: true });
        expect(hasUnsafeCharacters(message + advice)).toBe(false);
        // A token in the wrong column is quoted like any other value of that column.
        if (
          field !== undefined &&
          input.platform.requiredFields.includes(field) &&
          field !== input.platform.organizationField
        )
          expect(message).not.toContain(TOKEN);
        expect(line ?? 1).toBeGreaterThan(0);
      }
      const isUsable = !manifest.findings.some(({ severity }) => severity === 'error');
      if (isUsable) expect(manifest.rows.length).toBeGreaterThan(0);
      for (const { reference, name, organization, family, expectedInvoices, wave } of manifest.rows) {
        for (const text of [reference, name, organization, family ?? 'none']) {
          assertStorable(text);
          expect(text.trim()).not.toBe('');
        }
        expect(reference.length).toBeLessThanOrEqual(100);
        expect(expectedInvoices ?? 0).toBeLessThan(2 ** 31);
        expect(wave ?? 1).toBeLessThan(2 ** 31);
      }
      for (const { reference, obtainedAt, fields } of [...manifest.credentials, ...credentials.credentials]) {
        assertStorable(reference);
        // Postgres cannot parse a year before 1, or a signed year of six digits.
        expect(obtainedAt).toMatch(/^[12]\d{3}-\d\d-\d\dT[\d:.]+Z$/);
        for (const [field, value] of Object.entries(fields.reveal())) {
          expect({ field, isText: value !== '' && !hasUnsafeCharacters(value) }).toEqual({ field, isText: true });
          assertStorable(value);
        }
      }
      removeTempFiles();
    });
  },
  withinMs(240_000),
);
