import type { Platform } from '../../../platforms/platforms';
import { checkAll, checkJson, printSummary } from '../../starting/check';
import { PRINT_NOTHING, type CommandResult } from '../../terminal/output';
import type { Context } from '../../shared/context';
import { addEncoding, type EncodingOption } from '../../manifest';
import { platformOption, totalInvoicesOption } from '../../options/options';
import { printFindings } from '../../shared/results';

interface CheckOptions extends EncodingOption {
  readonly platform: Platform;
  readonly credentials?: string;
  readonly offline?: true;
  readonly allFindings?: true;
  readonly totalInvoices?: number;
}

export function addCheck({ program, run, terminal }: Context): void {
  const command = program
    .command('check <manifest>')
    .description('Check a manifest (CSV or JSON) and the configured account for errors; no credential is sent anywhere')
    .addOption(platformOption('both'))
    .option('-c, --credentials <file>', 'a separate credential file, matched by company reference')
    .option('--offline', 'check only the files')
    .option('--all-findings', 'list up to 10,000 findings of each kind, not only the first five')
    .addOption(totalInvoicesOption());
  addEncoding(command).action(async (manifest: string, options: CheckOptions) =>
    run(() => check(terminal.env, manifest, options)),
  );
}

async function check(
  env: NodeJS.ProcessEnv,
  manifest: string,
  { platform, credentials, offline, allFindings, totalInvoices, encoding }: CheckOptions,
): Promise<CommandResult> {
  const outcome = await checkAll(env, {
    files: { manifest, credentials, encoding },
    platform,
    offline,
    recordsInTotal: totalInvoices,
  });
  const { findings } = outcome;
  return {
    failed: findings.errors > 0,
    json: { schema: 'ferry.check/1', ok: findings.errors === 0, ...checkJson(outcome) },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      printFindings(output, findings, allFindings ? null : 'add --all-findings');
      printSummary(output, outcome);
    },
  };
}
