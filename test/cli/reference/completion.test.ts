/** Tests each completion script in its shell. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { SHELLS } from '../../../cli/reference/completion';
import { ferry } from '../captured-terminal';

let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  for (const shell of SHELLS) {
    const { out, exitCode } = await ferry(['completion', shell]);
    expect(exitCode).toBe(0);
    writeFileSync(path.join(folder, shell), out);
  }
  // This script replaces the real command, which would query Temporal.
  const command = '#!/bin/sh\n[ "$*" = "list --quiet" ] && printf "acme.xero\\nbolt.wave\\nz\\$(touch ran)\\n"\n';
  writeFileSync(path.join(folder, 'ferry'), command);
  chmodSync(path.join(folder, 'ferry'), 0o755);
  writeFileSync(path.join(folder, 'my manifest.csv'), '');
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const isInstalled = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0;

function run(shell: string, script: string): readonly string[] {
  const env = { PATH: `${folder}:${process.env['PATH']}`, HOME: folder };
  const out = execFileSync(shell, ['-c', script], { cwd: folder, env, encoding: 'utf8' });
  return out.split('\n').filter((line) => line !== '');
}

/** For each shell, a function that returns the candidates for the last typed word. */
const COMPLETE: Readonly<Record<string, (typed: readonly string[]) => readonly string[]>> = {
  bash: (typed) =>
    run(
      'bash',
      `source ./bash; complete -p ferry >/dev/null || exit 1
       COMP_WORDS=(${typed.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=${typed.length - 1}
       _ferry; printf '%s\\n' "\${COMPREPLY[@]}"`,
    ),
  // The script replaces zsh's completion functions with functions that print the candidates.
  zsh: (typed) =>
    run(
      'zsh',
      `compdef() { : }; _files() { print -l *.csv }
       compadd() { shift; for each in "$@"; do [[ $each == $PREFIX* ]] && print -r -- "$each"; done; true }
       _describe() { for each in $found; do [[ $each == $PREFIX* ]] && print -r -- "\${each%%:*}"; done; true }
       source ./zsh
       words=(${typed.map((word) => `'${word}'`).join(' ')}); CURRENT=${typed.length}; PREFIX='${typed.at(-1)}'
       _ferry`,
    ),
  fish: (typed) =>
    run('fish', `source ./fish; complete -C '${typed.join(' ')}'`).map((line) => line.split('\t')[0] ?? ''),
};

describe.each(SHELLS)('%s', (shell) => {
  const complete = (...typed: string[]): readonly string[] =>
    [...(COMPLETE[shell]?.(['ferry', ...typed]) ?? [])].sort();
  const testIfInstalled = shell === 'bash' || isInstalled(shell) ? test : test.skip;

  testIfInstalled.each<[string, string[], string[]]>([
    ['commands', ['com'], ['companies', 'completion']],
    ['subcommands', ['service', 'keys', 're'], ['revoke']],
    ['options', ['companies', '--st'], ['--state']],
    ['options that all commands have', ['service', 'keys', 'create', '--qui'], ['--quiet']],
    ['values of an option', ['companies', '--state', 'must'], ['must-reconnect']],
    ['platforms', ['check', '-p', 'quick'], ['quickbooks-online', 'quickbooks-online-sandbox']],
    ['roles', ['approve', '--as', 'c'], ['client']],
    ['migrations', ['show', 'ac'], ['acme.xero']],
    ['migrations and steps', ['approve', 'acme.xero', 'sch'], ['schedule']],
    ['files, even with a space in the name', ['check', 'my'], ['my manifest.csv']],
    ['shells', ['completion', 'z'], ['zsh']],
    ['nothing for a free-text value', ['start', '--client', 'a'], []],
  ])('completes %s: %j', (_, typed, expected) => {
    expect(complete(...typed).map((word) => word.replaceAll('\\ ', ' '))).toEqual(expected);
  });
});

test('a migration id that contains a shell command is not executed', () => {
  for (const shell of SHELLS.filter(isInstalled)) COMPLETE[shell]?.(['ferry', 'show', '']);
  expect(existsSync(path.join(folder, 'ran'))).toBe(false);
});

test('the script for bash completes every command of the help', async () => {
  const { out } = await ferry(['--help']);
  const commands = [...out.matchAll(/^ {2}([a-z][a-z-]*) {2,}[A-Z]/gm)].map(([, name = '']) => name);
  expect(commands.length).toBeGreaterThan(30);
  expect(COMPLETE['bash']?.(['ferry', ''])).toEqual(commands);
});
