/** Tests the five-minute tour of the README by running its commands as they are written. */
import { openShell, readDocument, readSections, type CommandOutcome, type Shell } from '../documented-commands';

const README = '../README.md';
const linesOf = (title: string): readonly string[] =>
  readSections(README)
    .filter((section) => section.title === title)
    .flatMap(({ blocks }) => blocks.flat())
    // `ferry up` is left out, because the test has its own Postgres, Temporal and service.
    .filter((line) => line !== 'ferry up');

let shell: Shell;
beforeAll(async () => (shell = await openShell()));
afterAll(() => shell.close());

const type = (line: string): Promise<CommandOutcome> =>
  shell.run(line, '', { secret: async () => 'the secret of the application', confirm: async () => true });

test('the tour moves 25 companies and ends with the handover report', async () => {
  const lines = linesOf('The five-minute tour');
  expect(lines.length).toBeGreaterThan(15);
  const printed: string[] = [];
  for (const line of lines) {
    const { exitCode, out, err } = await type(line);
    expect({ line, failed: exitCode === 0 ? null : err }).toEqual({ line, failed: null });
    printed.push(out);
  }
  expect(printed.join('')).toContain('23 of 25 companies moved');
  expect(printed.join('')).toContain('Copper Kettle Catering: must reconnect: the authorization no longer works');
  expect(printed.at(-1)).toContain('Copper Kettle Catering');
});

test('the tour can be run again as the README says', async () => {
  const [copy = '', newTokens = '', start = ''] = linesOf('Run the tour again');
  const check = 'ferry check my-manifest/manifest.csv --platform quickbooks-online';
  expect((await type(check)).out).toContain('is already connected');
  expect((await type(copy)).exitCode).toBe(0);
  expect((await type(newTokens)).exitCode).toBe(0);
  expect(await type(check)).toMatchObject({ exitCode: 0, err: '' });
  // In the tour, `confirm` agreed to destroy this file, so `copy` must have restored it.
  expect((await type('grep -c again- my-manifest/credentials.csv')).out).toBe('25\n');
  expect(await type(start)).toMatchObject({ exitCode: 0, err: '' });
});

test('every block of the README can be pasted into bash or zsh, on Linux or macOS', () => {
  const blocks = readSections(README).flatMap((section) => section.blocks);
  expect(blocks.length).toBeGreaterThan(15);
  for (const line of blocks.flat()) {
    // zsh treats # as a comment only in scripts, and BSD sed needs a suffix after -i.
    expect(line).not.toMatch(/^\s*#|\s#\s|\bsed -i\s|<[a-z]/);
    expect(line.replaceAll(/'[^']*'|"[^"]*"/g, '')).not.toMatch(/['"]/);
  }
  // A command that asks a question would read the rest of a pasted block as its answer.
  const asks = /^ferry (?:approve|sign-off|application|cancel|exclude|skip|reject|sweep|credentials|self-service) /;
  for (const block of blocks) expect(block.slice(0, -1).filter((line) => asks.test(line))).toEqual([]);
});

test('the README is at most 180 lines long', () => {
  expect(readDocument(README).trimEnd().split('\n').length).toBeLessThanOrEqual(180);
});
