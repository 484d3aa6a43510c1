/** The README's own way, from the example to the handover report, typed as it stands there. */
import type { Shell } from '../documented-commands';
import { openShell, readDocument, readSections } from '../documented-commands';

const README = '../README.md';
const LINES = readSections(README)
  .filter(({ title }) => title === 'Your own manifest in five minutes')
  .flatMap(({ blocks }) => blocks.flat())
  // What it starts is what runs here.
  .filter((line) => line !== '' && !line.startsWith('#') && line !== 'npx ferry up');

let shell: Shell;
beforeAll(async () => (shell = await openShell()));
afterAll(() => shell.close());

const typed = (line: string) =>
  shell.run(line, '', { secret: async () => 'known to the service alone', confirm: async () => true });

test('25 companies are moved and handed over', async () => {
  expect(LINES.length).toBeGreaterThan(15);
  const said: string[] = [];
  for (const line of LINES) {
    const { exitCode, out, err } = await typed(line);
    expect({ line, failed: exitCode === 0 ? null : err }).toEqual({ line, failed: null });
    said.push(out);
  }
  expect(said.join('')).toContain('23 of 25 companies moved');
  expect(said.at(-1)).toContain('Copper Kettle Catering');
}, 120_000);

test('the example can be moved again as the README says', async () => {
  const [, again = ''] = /`(sed -i [^`]+)`/.exec(readDocument(README)) ?? [];
  const check = 'npx ferry check my-manifest/manifest.csv --platform quickbooks-online';
  expect((await typed(check)).out).toContain('is connected already');
  expect((await typed(again)).exitCode).toBe(0);
  expect(await typed(check)).toMatchObject({ exitCode: 0, err: '' });
});
