/** Checks everything that a migration needs before it is started: the files, the account, and other migrations. */
import { counted, duration, rangeText, spanText } from '../../domain/text/sentences';
import type { Estimate } from '../../domain/planning/estimate';
import { shownWindows } from '../../domain/planning/limit-texts';
import type { LimitsChange, MigrationLimits } from '../../domain/planning/limits';
import type { Platform } from '../../platforms/platforms';
import { estimateBasisText } from '../../presentation/wording/client-page';
import { readManifest, type FindingList, type Manifest, type ManifestFiles } from '../manifest';
import { listAllFindings, startArguments } from '../suggestions/file-arguments';
import { findingsJson, printFindings } from '../shared/results';
import type { CommandResult, Output } from '../terminal/output';
import { localTime } from '../terminal/times';
import { checkAccount, CHECKED_SOURCES, defaultRoute, type AccountCheck, type CheckedPlan } from './account-check';

export interface CheckOutcome {
  readonly files: ManifestFiles;
  readonly platform: Platform;
  readonly manifest: Manifest;
  /** Null if only the files were checked. */
  readonly account: AccountCheck | null;
  readonly findings: FindingList;
  /** The limits that were specified for the migration. */
  readonly limits: LimitsChange;
}

export interface CheckRequest extends CheckedPlan {
  readonly files: ManifestFiles;
  /** True to check only the files. */
  readonly offline?: boolean | undefined;
}

export async function checkAll(env: NodeJS.ProcessEnv, request: CheckRequest): Promise<CheckOutcome> {
  const { files, platform, route = defaultRoute(platform), offline, limits = {} } = request;
  const manifest = await readManifest(files, platform, route);
  const account = offline ? null : await checkAccount(env, request, files.manifest, manifest);
  return { files, platform, manifest, account, limits, findings: manifest.findings };
}

export function checkJson(outcome: CheckOutcome) {
  const { files, platform, manifest, account, findings } = outcome;
  const { errors, warnings } = findings;
  return {
    files,
    platform: platform.slug,
    companies: manifest.totals.companies,
    credentials: manifest.withCredential,
    // Omits the digest if any error was found, because the manifest must then not be approved.
    manifestDigest: errors === 0 ? manifest.digest : null,
    asked: account?.asked ?? [],
    notChecked: notChecked(outcome),
    estimate: account?.estimate ?? null,
    errors,
    warnings,
    ...findingsJson(findings),
  };
}

/** Returns what was not checked. Without the account or other migrations, dependents are never checked. */
function notChecked({ files, manifest, account }: CheckOutcome) {
  return [
    ...CHECKED_SOURCES.filter((source) => !account?.asked.includes(source)),
    ...(account?.areDependentsUnchecked ? ['dependents' as const] : []),
    ...(isMatchingUnchecked(files, manifest) ? ['credentials' as const] : []),
  ];
}

/** Returns whether the separate credentials were not matched with the companies, because the manifest has errors. */
const isMatchingUnchecked = (files: ManifestFiles, { areCredentialsMatched }: Manifest): boolean =>
  files.credentials !== undefined && !areCredentialsMatched;

function notCheckedText({ notConfigured }: AccountCheck): string | null {
  if (notConfigured.length === 0) return null;
  if (notConfigured.length > 1)
    return 'The account and other migrations were not checked: neither the service (COMPANY_DATA_URL) nor the database (DATABASE_URL) is configured.';
  return notConfigured.includes('account')
    ? 'The account was not checked: the service (COMPANY_DATA_URL) is not configured.'
    : 'Other migrations were not checked: the database (DATABASE_URL) is not configured.';
}

export function printSummary(output: Output, outcome: CheckOutcome): void {
  const { files, manifest, platform, account, findings, limits } = outcome;
  const { errors, warnings } = findings;
  const notChecked = account === null ? null : notCheckedText(account);
  if (notChecked !== null) output.line(notChecked);
  // Without a company, the file must be corrected or replaced first, and the suggested command would only say so.
  if (account?.areDependentsUnchecked && manifest.totals.companies > 0) {
    output.line(
      "Not checked: whether another client's companies depend on the registered application, because ferry check does not know the client. To check this, run:",
    );
    output.line(`  ${dryRunCommand(files, platform)}`);
  }
  if (errors > 0) {
    if (isMatchingUnchecked(files, manifest))
      output.line(
        `The rows of ${files.credentials} were checked, but not matched with the companies. They are matched once the manifest has no errors.`,
      );
    const count = `${counted(errors, 'error')} and ${counted(warnings, 'warning')}`;
    const them = errors === 1 ? 'the error' : 'the errors';
    output.line(`${output.styled('red', '✗')} ${count}. Correct ${them} and check again.`);
    return;
  }
  const { totals, withCredential } = manifest;
  const what = `${counted(totals.companies, `${platform.name} company`)}, ${counted(withCredential, 'credential')}`;
  const isComplete = findings.listed.every(({ code }) => code !== 'not-asked');
  const mark = isComplete ? output.styled('green', '✓') : output.styled('yellow', '!');
  const reservation = isComplete ? '' : ', but not everything could be checked: see the warnings';
  output.line(`${mark} ${what}: no errors, ${counted(warnings, 'warning')}${reservation}`);
  if (account) {
    const { lowMs, highMs } = account.estimate;
    output.line(
      `  Estimated duration: ${rangeText(duration(lowMs), duration(highMs))} (${estimateBasisText(account.estimate)})`,
    );
    if (limits.windows !== undefined && limits.windows.length > 0)
      output.line(`  ${inWindowsText(limits.windows, account.estimate)}`);
  }
}

/** Returns the command that makes all checks for one client, with a placeholder for the client's name. */
function dryRunCommand({ manifest, ...read }: ManifestFiles, platform: Platform): string {
  const start = defaultRoute(platform) === 'managed' ? 'start' : 'self-service';
  return `ferry ${start} ${startArguments(manifest, read)} --platform ${platform.slug} --client "short name" --dry-run`;
}

/** Says when the last move would end, given the windows. The estimated duration excludes the time between windows. */
function inWindowsText(windows: MigrationLimits['windows'], { ends }: Estimate): string {
  const end =
    ends === null
      ? 'could end more than a year from now'
      : `would end ${spanText(localTime(ends.earliest), localTime(ends.latest))}`;
  return `Moves begin only ${shownWindows(windows)}. If the migration started now, the last move ${end}.`;
}

/** Runs `ferry start` or `ferry self-service` with `--dry-run`: makes all checks and starts nothing. */
export async function dryRun(
  env: NodeJS.ProcessEnv,
  request: CheckRequest & { readonly command: 'start' | 'self-service'; readonly migrationId: string },
): Promise<CommandResult> {
  const { command, migrationId } = request;
  const check = await checkAll(env, request);
  return {
    failed: check.findings.errors > 0,
    json: { schema: `ferry.${command}/1`, started: false, dryRun: true, migrationId, ...checkJson(check) },
    print: (output) => {
      printFindings(output, check.findings, listAllFindings(check.files, check.platform));
      printSummary(output, check);
      output.line(`  Dry run of ${migrationId}: nothing was stored or started`);
    },
  };
}
