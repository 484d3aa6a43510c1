import { estimateBasisText } from '../../../presentation/temporal-ui/current-details';
import { duration, counted } from '../../../domain/text/sentences';
import type { Platform } from '../../../platforms/platforms';
import { readManifest, type FindingList, type Manifest, type ManifestFiles } from '../../manifest';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import type { AccountCheck, CheckedPlan } from '../../starting/account-check';
import { checkAccount, routeOf } from '../../starting/account-check';
import type { Context } from '../../shared/context';
import { findingsJson, printFindings } from '../../shared/finding-list';
import { platformOption, totalInvoicesOption } from '../../shared/options';

interface CheckOptions {
  readonly platform: Platform;
  readonly credentials?: string;
  readonly offline?: true;
  readonly totalInvoices?: number;
}

/** `ferry check`: what a migration would find wrong with a manifest and its account, before there is one. */
export function addCheck({ program, run, terminal }: Context): void {
  program
    .command('check <manifest>')
    .description(
      'Look for mistakes in a manifest (CSV or JSON), and in the account that is configured; no credential is used',
    )
    .addOption(platformOption())
    .option('-c, --credentials <file>', 'a second file, with the credentials by reference')
    .option('--offline', 'look at the files alone')
    .addOption(totalInvoicesOption())
    .action(async (manifest: string, { platform, credentials, offline, totalInvoices }: CheckOptions) =>
      run(async () => {
        const files = { manifest, ...(credentials !== undefined && { credentials }) };
        return checkResult(
          await checkWhole(terminal.env, {
            files,
            platform,
            ...(offline ? { offline } : {}),
            ...(totalInvoices === undefined ? {} : { recordsInTotal: totalInvoices }),
          }),
        );
      }),
    );
}

/** What was looked at, and what was found. */
export interface WholeCheck {
  readonly files: ManifestFiles;
  readonly platform: Platform;
  readonly manifest: Manifest;
  /** Null: the files alone were looked at. */
  readonly account: AccountCheck | null;
  readonly findings: FindingList;
}

export interface CheckRequest extends CheckedPlan {
  readonly files: ManifestFiles;
  /** The files alone are looked at. */
  readonly offline?: boolean;
}

export async function checkWhole(env: NodeJS.ProcessEnv, request: CheckRequest): Promise<WholeCheck> {
  const { files, platform, route = routeOf(platform), offline } = request;
  const manifest = await readManifest(files, platform, route);
  const account = offline ? null : await checkAccount(env, request, files.manifest, manifest);
  return { files, platform, manifest, account, findings: manifest.findings };
}

function checkResult(check: WholeCheck): CommandResult {
  return {
    failed: check.findings.errors > 0,
    json: { schema: 'ferry.check/1', ok: check.findings.errors === 0, ...checkJson(check) },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      printFindings(output, check.findings);
      printSummary(output, check);
    },
  };
}

export function checkJson({ files, platform, manifest, account, findings }: WholeCheck) {
  const { errors, warnings } = findings;
  return {
    files,
    platform: platform.slug,
    companies: manifest.totals.companies,
    credentials: manifest.withCredential,
    // Of a manifest that cannot be used, nobody shall approve a digest.
    manifestDigest: errors === 0 ? manifest.digest : null,
    asked: account?.asked ?? [],
    estimate: account?.estimate ?? null,
    errors,
    warnings,
    ...findingsJson(findings),
  };
}

export function printSummary(output: Output, { manifest, platform, account, findings }: WholeCheck): void {
  const { errors, warnings } = findings;
  if (account && !account.isConfigured) {
    output.line('Account and other migrations were not looked at: neither service nor database is configured.');
  }
  if (errors > 0) {
    const count = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`;
    output.line(`${output.styled('red', '✗')} ${count}: correct the errors and check again`);
    return;
  }
  const { totals, withCredential } = manifest;
  const what = `${counted(totals.companies, 'company')} of ${platform.name}, ${counted(withCredential, 'credential')}`;
  output.line(`${output.styled('green', '✓')} ${what}: no errors, ${counted(warnings, 'warning')}`);
  if (account) {
    const { lowMs, highMs } = account.estimate;
    output.line(
      `  To move them takes ${duration(lowMs)} to ${duration(highMs)} (${estimateBasisText(account.estimate)})`,
    );
  }
}
