import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path, { join } from 'node:path';

import { ferry } from '../captured-terminal';

const manifest = join(__dirname, '../../../examples/quickbooks-online-25/manifest.csv');

test.each([
  { what: 'a misspelt command', args: ['chekc'], says: /^ferry: unknown command 'chekc'\n\(Did you mean check\?\)/ },
  {
    what: 'a misspelt command with an option',
    args: ['chekc', '--all'],
    says: /^ferry: unknown command 'chekc'\n\(Did you mean check\?\)/,
  },
  { what: 'help for a misspelt command', args: ['help', 'chekc'], says: /^ferry: unknown command 'chekc'/ },
  {
    what: 'a word that is not a command',
    args: ['abandon', 'acme.xero'],
    says: /^ferry: unknown command 'abandon'\n\(To abandon a migration, .*with --next abandon\. .*: ferry reject --help\)\n/,
  },
  {
    what: 'help for a word that is not a command',
    args: ['help', 'abandon'],
    says: /^ferry: unknown command 'abandon'\n\(To abandon a migration, /,
  },
  {
    what: 'such a word as the name of a subcommand',
    args: ['service', 'keys', 'delete', 'a-key'],
    says: /^ferry: unknown command 'delete'\n(?!\(A migration)/,
  },
  { what: 'a missing platform', args: ['check', manifest], says: /--platform/ },
  {
    what: 'a misspelt platform',
    args: ['check', manifest, '-p', 'quickbook-online'],
    says: /Did you mean quickbooks-online\?/,
  },
  { what: 'an unknown platform', args: ['check', manifest, '-p', 'abacus'], says: /Choose one of: freeagent, / },
  { what: 'a missing manifest', args: ['check', '-p', 'xero'], says: /missing required argument 'manifest'/ },
  {
    what: 'an unknown role',
    args: ['approve', 'acme.xero', '--as', 'boss'],
    says: /Choose one of: client, support\./,
  },
  {
    what: 'the beginning of a platform',
    args: ['check', manifest, '-p', 'quickbook'],
    says: /Did you mean quickbooks-online or quickbooks-online-sandbox\?/,
  },
  {
    what: 'a misspelt option that is also missing',
    args: ['check', manifest, '--platfrom', 'xero'],
    says: /^ferry: unknown option '--platfrom'\n\(Did you mean --platform\?\)\n/,
  },
  {
    what: 'an option that resembles no other, after a value that looks like one',
    args: ['pause', 'acme.xero', '--reason', '--quickly', '--zzzzzz'],
    says: /^ferry: unknown option '--zzzzzz'\nRun with --help/,
  },
  {
    what: 'a wrong format',
    args: ['report', 'acme.xero', '--format', 'docx'],
    says: /Choose one of: md, json, csv, html\./,
  },
  { what: 'a wrong shell', args: ['completion', 'powershell'], says: /Choose one of: bash, zsh, fish\./ },
  { what: 'a misspelt role', args: ['approve', 'acme.xero', '--as', 'suport'], says: /Did you mean support\?/ },
  {
    what: 'an unknown option',
    args: ['check', manifest, '-p', 'xero', '--credential', 'x.csv'],
    says: /Did you mean --credentials\?/,
  },
])('$what is a usage error', async ({ args, says }) => {
  const { exitCode, out, err } = await ferry(args);
  expect(exitCode).toBe(2);
  expect(out).toBe('');
  expect(err).toMatch(says);
});

test('a label that would make the id equal to that of a workflow of another migration is refused', async () => {
  const args = ['start', manifest, '-p', 'quickbooks-online', '--client', 'acme', '--label', 'batch'];
  const { exitCode, err } = await ferry([...args, '--contact', 'Sam']);
  expect(exitCode).toBe(1);
  expect(err).toMatch(/the label batch is reserved[^]*choose another --label/);
});

test.each([
  [['check', manifest], { managed: true, selfService: true }],
  [['start', manifest, '--client', 'acme'], { managed: true, selfService: false }],
  [['self-service', manifest, '--client', 'acme'], { managed: false, selfService: true }],
  [['--quiet', 'self-service', manifest, '--client', 'acme'], { managed: false, selfService: true }],
])('without --platform, the platforms that the command accepts are listed: %j', async (args, expected) => {
  const { exitCode, err } = await ferry(args);
  expect(exitCode).toBe(2);
  const [, listed = ''] = /not specified\n\(Choose one of: ([^)]*)\.\)\n/.exec(err) ?? [];
  const slugs = listed.split(/,\s+/);
  expect({ managed: slugs.includes('quickbooks-online'), selfService: slugs.includes('xero') }).toEqual(expected);
});

test('a usage error with --json is printed as JSON', async () => {
  const { exitCode, out, err } = await ferry(['check', manifest, '--json']);
  expect(exitCode).toBe(2);
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({
    schema: 'ferry.error/1',
    error: {
      message: "required option '-p, --platform <name>' not specified",
      advice: 'run with --help for help',
    },
  });
});

test.each(['', 'service', 'service keys', 'schedule', 'keys', 'vault', 'keys --quiet'])(
  'ferry %s without a command prints help and exits with 0',
  async (words) => {
    const { exitCode, out, err } = await ferry(words.split(' ').filter((word) => word !== ''));
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(out).toMatch(/^Usage: ferry/);
  },
);

test.each([
  ['help', ''],
  ['help start', 'start'],
  ['help vault rotate', 'vault rotate'],
  // The command must not run.
  ['help sweep --close', 'sweep'],
  ['help retry acme.xero --all', 'retry'],
])('ferry %s prints what --help prints', async (words, command) => {
  const named = command === '' ? [] : command.split(' ');
  expect(await ferry(words.split(' '))).toEqual(await ferry([...named, '--help']));
});

test('help and version exit with 0', async () => {
  const help = await ferry(['--help']);
  expect(help).toMatchObject({ exitCode: 0, err: '' });
  expect(help.out).toMatch(/^Set up and start:\n {2}up /m);

  const ofCommand = await ferry(['check', '--help']);
  expect(ofCommand.exitCode).toBe(0);
  for (const option of ['--platform', '--credentials', '--json', '--help']) expect(ofCommand.out).toContain(option);

  expect(await ferry(['--version'])).toMatchObject({
    exitCode: 0,
    out: expect.stringMatching(/^\d+\.\d+\.\d+(-rc\.\d+)?\n$/) as string,
  });
});

const check = ['check', manifest, '-p', 'quickbooks-online'];
const COLOUR = '\u001b[';

test('colours are used only on a terminal, and not with NO_COLOR', async () => {
  expect((await ferry(check)).out).not.toContain(COLOUR);
  expect((await ferry(check, 100)).out).toContain(COLOUR);
  expect((await ferry(check, 100, { NO_COLOR: '1' })).out).not.toContain(COLOUR);
});

test.each(['--json', '--quiet', '--debug'])('%s has the same effect before and after the command', async (option) => {
  const failing = ['check', 'missing.csv', '-p', 'quickbooks-online'];
  const withoutTimes = async (...args: string[]) =>
    JSON.stringify(await ferry(args)).replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '');
  const after = await withoutTimes(...failing, option);
  expect(after).toContain('"exitCode":1');
  expect(await withoutTimes(option, ...failing)).toBe(after);
});

test('check does not wait for the writer of a named pipe', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const pipe = path.join(folder, 'companies.csv');
  execFileSync('/usr/bin/env', ['mkfifo', pipe]);
  const { exitCode, out, err } = await ferry(['check', pipe, '-p', 'quickbooks-online']);
  rmSync(folder, { recursive: true });
  expect(exitCode).toBe(1);
  expect(`${out}${err}`).toContain('this is not a file');
});

test('keys create stores the key at the path that is configured', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const file = path.join(folder, 'sam.key');
  const env = { TOKENFERRY_HOME: path.join(folder, 'home'), TOKENFERRY_SIGNING_KEY_FILE: file };
  const { out } = await ferry(['keys', 'create', '--by', 'Sam', '--json'], undefined, env);
  expect(JSON.parse(out)).toMatchObject({ by: 'Sam', file });
  expect((await ferry(['keys', 'show', '--json'], undefined, env)).out).toBe(out);
  expect((await ferry(['keys', 'create', '--by', 'Eve'], undefined, env)).exitCode).toBe(1);
  rmSync(folder, { recursive: true });
});

test.each([80, 120])('the help fits a terminal of %i columns', async (columns) => {
  for (const command of [[], ['start'], ['service', 'keys', 'create'], ['adjust']]) {
    const { out } = await ferry([...command, '--help'], columns, { NO_COLOR: '1' });
    // Examples of commands are never wrapped.
    const lines = out.split('\n').filter((line) => !line.startsWith('  ferry '));
    expect(lines.filter((line) => line.length > columns)).toEqual([]);
  }
});

test.each([
  { what: 'an empty link', portal: ['--portal', ''], says: 'the link to the portal is empty' },
  { what: 'an empty link in one word', portal: ['--portal='], says: 'the link to the portal is empty' },
  { what: 'no link', portal: ['--portal'], says: 'the link to the portal is empty' },
  { what: 'an option as the link', portal: ['--portal', '--yes'], says: 'the portal must be an address' },
])('a command of a client with $what is not run as support', async ({ portal, says }) => {
  const { exitCode, err } = await ferry(['pause', 'kite.xero', '--reason', 'a test', ...portal]);
  expect(exitCode).toBe(1);
  expect(err).toContain(says);
});
