import { checkEverything, type CheckResult } from '../../doctor';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';

export function addDoctor({ program, run, terminal }: Context): void {
  program
    .command('doctor')
    .description('Check everything that ferry needs, and explain how to fix problems')
    .action(() => run(async () => doctorResult(await checkEverything(terminal.env))));
}

function doctorResult(checks: readonly CheckResult[]): CommandResult {
  const problems = checks.filter(({ verdict }) => verdict === 'problem').length;
  return {
    failed: problems > 0,
    json: { schema: 'ferry.doctor/1', ok: problems === 0, checks },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      const widest = Math.max(...checks.map(({ check }) => check.length));
      for (const check of checks) printCheck(output, check, widest);
      output.line();
      output.line(problems === 0 ? 'No problems found.' : `${counted(problems, 'problem')} found.`);
    },
  };
}

/** @param widest length of the longest name of a check */
function printCheck(output: Output, { check, verdict, finding, advice }: CheckResult, widest: number): void {
  const marks = { ok: output.styled('green', '✓'), problem: output.styled('red', '✗'), 'not-checked': '-' };
  output.line(`${marks[verdict]} ${check.padEnd(widest)}  ${finding}`);
  if (advice !== undefined) output.line(`  ${' '.repeat(widest)}  ${advice}`);
}
