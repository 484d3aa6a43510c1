import type { CommandResult } from '../terminal';
import type { CheckRequest } from '../commands/supply/check';
import { checkJson, checkWhole, printSummary } from '../commands/supply/check';
import { printFindings } from '../shared/finding-list';

/** `--dry-run` of `ferry start` and `ferry self-service`: all that is looked at before a start, by the command and by the worker's check after it. */
export async function dryRun(
  env: NodeJS.ProcessEnv,
  request: CheckRequest & { readonly command: 'start' | 'self-service'; readonly migrationId: string },
): Promise<CommandResult> {
  const { command, migrationId } = request;
  const check = await checkWhole(env, request);
  return {
    failed: check.findings.errors > 0,
    json: { schema: `ferry.${command}/1`, started: false, dryRun: true, migrationId, ...checkJson(check) },
    print: (output) => {
      printFindings(output, check.findings);
      printSummary(output, check);
      output.line(`  Dry run of ${migrationId}: nothing was stored, nothing was started`);
    },
  };
}
