import { basisInWords, duration } from '../../domain/details';
import type { Finding } from '../../domain/manifest';
import type { Platform } from '../../domain/platforms';
import { manifestDigest, readManifest, type Manifest, type ManifestFiles } from '../manifest';
import { counted } from '../../domain/words';
import type { CommandResult, Screen } from '../screen';
import type { AccountCheck, CheckedPlan } from './account-check';
import { checkAccount, routeOf } from './account-check';
import type { Context } from './context';
import { printFindings } from './finding-list';
import { platformOption, totalInvoicesOption } from './options';

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
  readonly findings: readonly Finding[];
  readonly errors: number;
  readonly warnings: number;
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
  const findings = [...manifest.findings, ...(account?.findings ?? [])];
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  return { files, platform, manifest, account, findings, errors, warnings: findings.length - errors };
}

function checkResult(check: WholeCheck): CommandResult {
  return {
    failed: check.errors > 0,
    json: { schema: 'ferry.check/1', ok: check.errors === 0, ...checkJson(check) },
    print: (screen) => {
      printFindings(screen, check.findings);
      printSummary(screen, check);
    },
  };
}

export function checkJson({ files, platform, manifest, account, findings, errors, warnings }: WholeCheck) {
  return {
    files,
    platform: platform.slug,
    companies: manifest.rows.length,
    credentials: manifest.credentials.length,
    // Of a manifest that cannot be used, nobody shall approve a digest.
    manifestDigest: errors === 0 ? manifestDigest(manifest.rows) : null,
    asked: account?.asked ?? [],
    estimate: account?.estimate ?? null,
    errors,
    warnings,
    findings,
  };
}

export function printSummary(screen: Screen, { manifest, platform, account, errors, warnings }: WholeCheck): void {
  if (account?.asked.length === 0 && account.findings.length === 0) {
    screen.line('Account and other migrations were not looked at: neither service nor database is configured.');
  }
  if (errors > 0) {
    const count = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`;
    screen.line(`${screen.styled('red', '✗')} ${count}: correct the errors and check again`);
    return;
  }
  const { rows, credentials } = manifest;
  const what = `${counted(rows.length, 'company')} of ${platform.name}, ${counted(credentials.length, 'credential')}`;
  screen.line(`${screen.styled('green', '✓')} ${what}: no errors, ${counted(warnings, 'warning')}`);
  if (account) {
    const { lowMs, highMs } = account.estimate;
    screen.line(`  To move them takes ${duration(lowMs)} to ${duration(highMs)} (${basisInWords(account.estimate)})`);
  }
}
