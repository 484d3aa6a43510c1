import { stripVTControlCharacters } from 'node:util';
import { Output } from '../../../cli/terminal/output';
import { widthOf } from '../../../cli/terminal/styled-text';
import { capturedStream, ferry } from '../captured-terminal';

function written(text: string, columns?: number): string {
  const stdout = capturedStream(columns);
  new Output({ stdout, stderr: stdout }, false).line(text);
  return stripVTControlCharacters(stdout.text).replace(/\n$/, '');
}

describe('a line that is longer than the terminal is wide', () => {
  test('is broken between words', () => {
    const text =
      '12 companies could not be moved, and 3 of them must reconnect because the platform refused the grant.';
    const lines = written(text, 40).split('\n');
    expect(lines.join(' ')).toBe(text);
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(40);
  });

  test.each([
    [
      '  ✗ a callback URL is missing in the application',
      '  ✗ a callback URL\n    is missing in\n    the\n    application',
    ],
    ['✓ Postgres  answers at this address', '✓ Postgres\n  answers at this\n  address'],
    ['Start:  Tue 24 Nov 2026', 'Start:  Tue 24 Nov\n        2026'],
  ])('continues below its text: %j', (text, expected) => {
    expect(written(text, 18)).toBe(expected);
  });

  test('is not broken without a terminal', () => {
    const text = 'a sentence that is a little longer than forty columns, for a file';
    expect(written(text)).toBe(text);
  });
});

describe('a command', () => {
  test.each([
    'nothing was decided; review the migration with: ferry show acme.quickbooks-online',
    '  client: ferry confirm-sync-disabled acme.wave --wave 1',
    'pass it to ferry start, with your role and the key that follows here\n  --approver "support:Kim Ito:abc"',
    `support: ferry reject acme.wave schedule --reason 'Kim O'\\''Neil is away' --by "Jörg, Müller"`,
    'if Temporal was restored, reconcile each, with: ferry reconcile acme.wave; to close them, run: ferry sweep --close',
  ])('stays on one line: %s', (text) => {
    const commands =
      text.match(/(?:: |^ +)((?:ferry|--).*?)(?=;|$)/gm)?.map((each) => each.replace(/^[: ]+/, '')) ?? [];
    expect(commands).not.toEqual([]);
    for (const columns of [30, 40, 50, 60, 70]) {
      const lines = written(text, columns).split('\n');
      for (const command of commands) expect(lines.some((line) => line.includes(command))).toBe(true);
    }
  });

  test('is recognized even if it is styled', () => {
    const stdout = capturedStream(30);
    const output = new Output({ stdout, stderr: stdout }, false);
    output.line(output.styled('bold', '  ferry start companies.csv --platform wave'));
    expect(stripVTControlCharacters(stdout.text)).toBe('  ferry start companies.csv --platform wave\n');
  });
});

test.each([
  ['an error', ['show', 'acme.nowhere']],
  ['a wrong command line', ['first-company', 'acme.wave', 'C-1', '--by', 'Kim', '--tolerated-share', '0.5']],
])('%s is broken between words too', async (_, args) => {
  const { err } = await ferry(args, 40, { TOKENFERRY_HOME: '/nowhere' });
  const lines = stripVTControlCharacters(err).trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  expect(lines.filter((line) => widthOf(line) > 40)).toEqual([]);
});
