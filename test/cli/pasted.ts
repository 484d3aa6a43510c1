import { execFileSync } from 'node:child_process';
import { ferry } from './captured-terminal';

/** Runs a printed command with the arguments that a shell would pass, on a machine where nothing is running. */
export async function pasted(
  command: string,
): Promise<{ readonly args: readonly string[]; readonly exitCode: number; readonly err: string }> {
  const script = `set -eu; ferry() { printf '%s\\0' "$@"; }; ${command}`;
  const args = execFileSync('sh', ['-c', script], { cwd: '/', encoding: 'utf8', stdio: 'pipe' })
    .split('\0')
    .slice(0, -1);
  return { args, ...(await ferry(args, undefined, { TOKENFERRY_HOME: '/nowhere' })) };
}
