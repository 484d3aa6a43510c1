import { limitLines } from '../../../domain/planning/limit-texts';
import type { LimitsChange } from '../../../domain/planning/limits';
import { isRotating } from '../../../platforms/platforms';
import { migrationIdOf } from '../../../domain/migration/temporal-names';
import { counted, sentence } from '../../../domain/text/sentences';
import { startSelfService, type LedgerClient, type SelfServiceStart } from '../../../client';
import type { CommandResult, Output } from '../../terminal/output';
import { addEncoding, type EncodingOption } from '../../manifest';
import { checkAll, dryRun, printSummary, type CheckOutcome } from '../../starting/check';
import { findingsJson, printFindings } from '../../shared/results';
import { addLimitOptions, type LimitOptions } from '../../options/limit-options';
import { startArguments, listAllFindings } from '../../suggestions/file-arguments';
import { platformOption, totalInvoicesOption } from '../../options/options';
import { DEFAULT_BY, type ActorOptions } from '../../shared/decisions';
import {
  printStarted,
  refusalOf,
  SELF_SERVICE_SCHEMA,
  selfServiceResult,
  supplyCommand,
  withLatestOutcome,
} from '../../starting/self-service-result';
import { credentialsAfterStart } from '../../starting/started';
import { assertStartable, readLimitOptions, type StartTarget } from '../../starting/start-options';
import { addYesOption, confirm, type Context, type YesOption } from '../../shared/context';
import { watchMigration } from '../../reporting/watch';
import { DEFAULT_CONTACT } from '../../starting/questions';
import { clientPageOf } from '../../connections/client-page';
import { withLedgerClient } from '../../connections/clients';

interface SelfServiceOptions extends StartTarget, LimitOptions, YesOption, EncodingOption, Pick<ActorOptions, 'by'> {
  readonly credentials?: string;
  readonly contact: string;
  readonly totalInvoices?: number;
  readonly dryRun?: true;
  readonly detach?: true;
}

/** `ferry self-service`: lets a client move its own connections, from the check of the manifest to the last company. */
export function addSelfService(context: Context): void {
  const command = context.program
    .command('self-service <manifest>')
    .description(
      'Move your own connections without the six steps: check the manifest, start, and watch until the migration ends or you must act',
    )
    .addOption(platformOption('self-service'))
    .requiredOption('--client <key>', 'your short name, e.g. acme: lower-case letters, digits and hyphens')
    .option('--label <word>', 'a word that distinguishes this migration from others of the same client and platform')
    .option('-c, --credentials <file>', 'a separate credential file, matched by company reference')
    .addOption(totalInvoicesOption())
    .option('--contact <text>', 'person or team to call', DEFAULT_CONTACT)
    .option('--by <name>', `name of the person who confirms that nothing else uses the tokens ${DEFAULT_BY}`)
    .option('--detach', 'return as soon as the migration has started, without watching it')
    .option('--dry-run', 'run all checks without storing or starting anything');
  addLimitOptions(addEncoding(addYesOption(command)), 'self-service').action(
    (manifest: string, options: SelfServiceOptions) => context.run(() => selfService(context, manifest, options)),
  );
}

async function selfService(context: Context, file: string, options: SelfServiceOptions): Promise<CommandResult> {
  const { output, terminal } = context;
  assertStartable(options, 'self-service', startArguments(file, options));
  const { client, platform, label, credentials, encoding, totalInvoices: recordsInTotal } = options;
  const files = { manifest: file, credentials, encoding };
  const limits = readLimitOptions(options);
  const migrationId = migrationIdOf(client, platform.slug, label);
  const request = { files, platform, route: 'self-service', limits, migrationId, recordsInTotal } as const;
  if (options.dryRun) return dryRun(terminal.env, { ...request, command: 'self-service' });

  const check = await checkAll(terminal.env, request);
  if (check.findings.errors > 0) return invalidManifest(check);
  if (!(await confirmStart(context, check, options))) return notStarted();
  return withLedgerClient(terminal.env, async (ferry, followStack) => {
    const started = await start(ferry, check, options, limits);
    const clientPage = await clientPageOf(terminal.env, ferry, migrationId);
    const isWatched = started.preflight !== null && !options.detach;
    if (!output.json && !output.quiet) printStarted(output, check, started, { by: options.by, clientPage, isWatched });
    const watched = { ferry, followStack };
    const end = isWatched ? await watchMigration(context, watched, migrationId, { untilDecision: true }) : null;
    const latest = await withLatestOutcome(ferry, started);
    const refusedSince = latest === started ? null : refusalOf(latest);
    return selfServiceResult(check, { ...latest, by: options.by, clientPage, refusedSince }, end);
  });
}

function confirmStart(
  { output, terminal }: Context,
  check: CheckOutcome,
  options: SelfServiceOptions,
): Promise<boolean> {
  const { manifest, platform } = check;
  if (!output.json && !(output.quiet && options.yes)) printStart(output, check);
  const handedOver = `${credentialsText(manifest)} will be handed over to the service`;
  const after = isRotating(platform)
    ? ', and the tokens will stop working in your own application if the service receives a refresh token'
    : '';
  return confirm({ output, terminal }, options, { question: 'Start?', consequence: `${handedOver}${after}` });
}

/** Returns the credentials that a start hands over: those in the files, or else those that are supplied later. */
function credentialsText({ withCredential }: CheckOutcome['manifest']): string {
  return withCredential === 0 ? 'credentials that you supply later' : counted(withCredential, 'credential');
}

function printStart(output: Output, { files, findings, manifest, platform, limits }: CheckOutcome): void {
  printFindings(output, findings, listAllFindings(files, platform));
  const { totals } = manifest;
  output.line(`${counted(totals.companies, `${platform.name} company`)}: ${destinationText(totals)}.`);
  for (const line of limitLines(limits, 'self-service')) output.line(`${sentence(line)}.`);
  output.line(
    `${sentence(credentialsText(manifest))} will be encrypted on your machine and handed over to the service. When the migration ends, Tokenferry's encrypted copies are destroyed.`,
  );
  output.line(
    isRotating(platform)
      ? `${platform.name}: the service uses a refresh token as soon as it receives it. From then on, the company's tokens do not work in your own application.`
      : 'Once a company has been moved, only the service may use its token.',
  );
  output.line(
    'By starting, you confirm for every company that nothing else syncs with, refreshes or revokes its token.',
  );
}

function destinationText({ companies, existing }: CheckOutcome['manifest']['totals']): string {
  const each = companies === 1 ? 'for this company' : 'for each';
  if (existing === 0) return `${each}, the service creates a new company in your account`;
  if (existing === companies) return `${each}, the service uses the existing company that you specified`;
  const specified = existing === 1 ? 'company' : 'companies';
  const others = companies - existing === 1 ? 'the other' : 'each of the others';
  return `for ${existing.toLocaleString('en-US')} of these, the service uses the existing ${specified} that you specified; for ${others}, it creates a new company`;
}

function start(
  ferry: LedgerClient,
  { manifest: { rows, credentials, digest }, platform, files }: CheckOutcome,
  { client, label, contact, by, totalInvoices }: SelfServiceOptions,
  limits: LimitsChange,
): Promise<SelfServiceStart> {
  const request = {
    ...{ client, platform, label, rows, contact, by, limits },
    ...{ manifestDigest: digest, recordsInTotal: totalInvoices },
  };
  const migrationId = migrationIdOf(client, platform.slug, label);
  const supply = `supply the credentials with: ${supplyCommand(files, migrationId, by)}`;
  return startSelfService(ferry, request, credentialsAfterStart(credentials, migrationId, supply));
}

function invalidManifest(check: CheckOutcome): CommandResult {
  const { findings } = check;
  return {
    failed: true,
    json: { schema: SELF_SERVICE_SCHEMA, started: false, ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings, listAllFindings(check.files, check.platform));
      printSummary(output, check);
      output.line('  Nothing was stored or started');
    },
  };
}

function notStarted(): CommandResult {
  return {
    failed: true,
    json: { schema: SELF_SERVICE_SCHEMA, started: false },
    print: (output) => output.line('Nothing was stored or started'),
  };
}
