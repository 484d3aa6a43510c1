import type { CheckResult } from '../../doctor';
import { checkEverything } from '../../doctor';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';

/** `ferry doctor`: everything that the command needs, and what to do about what is missing. */
export function addDoctor({ program, run, terminal }: Context): void {
  program
    .command('doctor')
    .description('Check everything that ferry needs, and say what to do about what is missing')
    .action(() => run(async () => answered(await checkEverything(terminal.env))));
}

function answered(checks: readonly CheckResult[]): CommandResult {
  const problems = checks.filter(({ verdict }) => verdict === 'problem').length;
  return {
    failed: problems > 0,
    json: { schema: 'ferry.doctor/1', ok: problems === 0, checks },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      for (const check of checks) printCheck(output, check);
      output.line();
      output.line(problems === 0 ? 'Nothing is wrong.' : `${counted(problems, 'problem')}.`);
    },
  };
}

const WIDEST = 'search attributes'.length;

function printCheck(output: Output, { about, verdict, what, advice }: CheckResult): void {
  const marks = { ok: output.styled('green', '✓'), problem: output.styled('red', '✗'), 'not-checked': '-' };
  output.line(`${marks[verdict]} ${about.padEnd(WIDEST)}  ${what}`);
  if (advice !== undefined) output.line(`  ${' '.repeat(WIDEST)}  ${advice}`);
}
