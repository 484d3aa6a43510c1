/**
 * Bad input for the fuzz tests, `*.fuzz.test.ts`. Each test tries a corpus of known bad inputs, then inputs that
 * fast-check generates from a fixed seed. Each test file prints how many inputs it has tried.
 *
 * Two variables change a run: `TOKENFERRY_TEST_INPUTS=10` generates ten times as many inputs, and
 * `TOKENFERRY_TEST_SEED=7` generates others. A failure prints the seed and the smallest input that fails.
 */
import fc from 'fast-check';

const FACTOR = Number(process.env['TOKENFERRY_TEST_INPUTS'] ?? 1);
const SEED = Number(process.env['TOKENFERRY_TEST_SEED'] ?? 18);

/** The maximum length of a report in characters. A report contains the failing input, which can be megabytes long. */
const MAX_REPORT = 4_000;

/** Counts the inputs of one test file, and prints the total when its tests have ended. */
export interface Fuzzer {
  /**
   * Tries every input of the corpus, then generated inputs.
   *
   * @param generated number of generated inputs, before `TOKENFERRY_TEST_INPUTS` multiplies it
   */
  tryAll<T>(
    inputs: { readonly corpus: readonly T[]; readonly any: fc.Arbitrary<T>; readonly generated: number },
    attempt: (input: T) => Promise<void>,
  ): Promise<void>;
}

/**
 * Creates a fuzzer. Call it at the top of a test file.
 *
 * @param name the kind of input, as printed with the total
 */
export function fuzzer(name: string): Fuzzer {
  let tried = 0;
  afterAll(() => {
    process.stdout.write(`${name}: ${tried.toLocaleString('en')} inputs tried\n`);
  });
  return {
    tryAll: async ({ corpus, any, generated }, attempt) => {
      const property = fc.asyncProperty(any, async (input) => {
        tried += 1;
        await attempt(input);
      });
      const details = await fc.check(property, {
        seed: SEED,
        examples: corpus.map((input): [typeof input] => [input]),
        // fast-check counts the examples as runs.
        numRuns: corpus.length + Math.round(generated * FACTOR),
      });
      if (!details.failed) return;
      const report = fc.defaultReportMessage(details) ?? '';
      throw new Error(report.length > MAX_REPORT ? `${report.slice(0, MAX_REPORT)} ...` : report, {
        cause: details.errorInstance,
      });
    },
  };
}

/** Returns the time limit of a test in milliseconds: `once`, times `TOKENFERRY_TEST_INPUTS` if that is more than 1. */
export const withinMs = (once: number): number => once * Math.max(1, FACTOR);

/** Returns `text` with U+FFFD for each unpaired surrogate, as a terminal or a file in UTF-8 delivers it. */
export const wellFormed = (text: string): string => Buffer.from(text, 'utf8').toString('utf8');

/** Texts that have broken programs: encodings, spreadsheets, shells, terminals, JavaScript, SQL, HTTP and dates. */
export const NASTY_TEXTS: readonly string[] = [
  ...['', ' ', '\t', '\n', '\r\n', '\u0000', 'a\u0000b', '\uFEFF', '\uFFFD', '\uFFFE', '\u00A0', '\u2028', '\u200B'],
  ...['\ud800', '\udc00', 'x\ud83d', '\udc00\ud800', '\u202Eevil', '\u2066a\u2069', '\u{E0041}', '\u001b[2J', '\u0007'],
  ...[
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    'undefined',
    'null',
    'NaN',
    '[object Object]',
  ],
  ...[
    '-1',
    '0',
    '-0',
    '00',
    '1e3',
    '1E400',
    '-1e-400',
    '9007199254740993',
    '2147483648',
    '0x10',
    '1_000',
    '١٢٣',
    '1,000',
  ],
  ...[
    '=1+1',
    '=HYPERLINK("http://a.example","x")',
    '+1',
    "-1+cmd|' /C calc'!A0",
    '@SUM(1)',
    '#REF!',
    '9.13E+15',
    '####',
  ],
  ...[
    '"',
    '""',
    '"a',
    "'",
    "' or 1=1 --",
    '%',
    '%00',
    '%0d%0a',
    '../../etc/passwd',
    '..',
    '/',
    '\\',
    '\\u0000',
    '\\ud800',
  ],
  ...[
    'a\r\nX-Injected: 1',
    '${jndi:ldap://a}',
    '{{7*7}}',
    '`id`',
    '$(id)',
    '<script>alert(1)</script>',
    '&lt;',
    '%s%n',
  ],
  ...['+275760-09-13T00:00:00.000Z', '-271821-04-20T00:00:00Z', '0000-01-01T00:00:00Z', '9999-12-31T23:59:60Z'],
  ...['2026-02-30T00:00:00Z', '2026-W53-7T24:00Z', '2026-03-01T00:00:00+99:99', '1e9', '٣', 'İ', 'ß', 'ﷺ', 'é', '👩‍👩‍👧‍👦'],
  ...['x'.repeat(257), 'y'.repeat(10_000), 'Z̗̝'.repeat(300), '('.repeat(300), '\\'.repeat(301), '"'.repeat(301)],
];

/** Any text: nasty texts, printable ASCII, any code points, and UTF-16 code units, among them unpaired surrogates. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NASTY_TEXTS),
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc.tuple(fc.constantFrom(...NASTY_TEXTS), fc.string({ maxLength: 4 })).map((parts) => parts.join('')),
);

/** Numbers in JSON, some of which JavaScript or Postgres cannot store. */
const JSON_NUMBERS = [
  '-0',
  '1e999',
  '-1e999',
  '1e-999',
  '9007199254740993',
  '2147483648',
  '-1',
  '0.1',
  `${'9'.repeat(400)}`,
];

const nested = (open: string, close: string, depth: number): string => `${open.repeat(depth)}1${close.repeat(depth)}`;

/** Values as JSON text, among them numbers that do not fit, repeated and dangerous keys, and deep nesting. */
export const NASTY_JSON: readonly string[] = [
  ...JSON_NUMBERS,
  ...[
    'null',
    'true',
    '""',
    '[]',
    '{}',
    '[[]]',
    '[null]',
    '{"":""}',
    '"\\u0000"',
    '"\\ud800"',
    '{"\\u0000":1}',
    '{"a":1,"a":2}',
  ],
  ...['{"__proto__":{"isAdmin":true}}', '{"constructor":{"prototype":{"a":1}}}', '{"toString":1,"valueOf":null}'],
  ...['{"toJSON":1}', '{"then":1}', '{"length":1e9}', '{"0":"a","length":1}'],
  ...[nested('[', ']', 40), nested('{"a":', '}', 40), nested('[', ']', 5_000), nested('{"a":', '}', 5_000)],
];

/** Any value as JSON text. */
export const anyJson: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(...NASTY_JSON),
  fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
  anyText.map((text) => JSON.stringify(text)),
);

/** Text that is usually not JSON: JSON that was cut off or has an additional character, and any other text. */
export const brokenJson: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(anyJson, fc.nat(40)).map(([json, cut]) => json.slice(0, -1 - cut)),
  fc.tuple(anyJson, fc.constantFrom(',', '}', ']', '\u0000', '\uFEFF', 'x')).map((parts) => parts.join('')),
  anyText,
);

/** Bytes that are not ordinary text: other encodings, invalid UTF-8, NUL bytes, and the first bytes of binary files. */
export const NASTY_BYTES: readonly Buffer[] = [
  ...['', '00', 'ff', 'fffe', 'feff', 'efbbbf', 'c0af', 'eda080', 'f4908080', 'c3', 'fffe0000', '0000feff', '2b2f7638'],
  ...['504b0304', '1f8b08', '25504446', 'd0cf11e0a1b11ae1', '89504e47', '7f454c46', 'cafebabe', '00'.repeat(300)],
].map((hex) => Buffer.from(hex, 'hex'));

/** Any bytes. */
export const anyBytes: fc.Arbitrary<Buffer> = fc.oneof(
  fc.constantFrom(...NASTY_BYTES),
  fc.uint8Array({ maxLength: 80 }).map((bytes) => Buffer.from(bytes)),
  anyText.map((text) => Buffer.from(text, 'utf8')),
  anyText.map((text) => Buffer.from(text, 'utf16le')),
  anyText.map((text) => Buffer.from(text, 'latin1')),
);
