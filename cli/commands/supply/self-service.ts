import type { LimitsChange } from '../../../domain/planning/limits';
import { isRotating } from '../../../platforms/platforms';
import { migrationIdOf } from '../../../domain/migration/temporal-names';
import { counted } from '../../../domain/text/sentences';
import type { LedgerClient, SelfServiceStarted } from '../../../client';
import { startSelfService } from '../../../client';
import type { CommandResult, Output } from '../../terminal';
import type { WholeCheck } from './check';
import { checkWhole, printSummary } from './check';
import type { Context } from '../../shared/context';
import { dryRun } from '../../starting/dry-run';
import { findingsJson, printFindings, printPreflight } from '../../shared/finding-list';
import type { LimitOptions } from '../../shared/limit-options';
import { addLimits } from '../../shared/limit-options';
import { nextCommands } from '../../shared/next-commands';
import { platformOption, totalInvoicesOption } from '../../shared/options';
import type { SenderOptions } from '../../shared/sender';
import { BY_DEFAULT } from '../../shared/sender';
import type { Startable } from '../../starting/startable';
import { assertStartable, limitsRead } from '../../starting/startable';
import type { YesOption } from '../../shared/confirm';
import { confirm } from '../../shared/confirm';
import type { Watched } from '../view/watch';
import { watched } from '../view/watch';
import { withLedgerClient } from '../../shared/with-ferry';

interface SelfServiceOptions extends Startable, LimitOptions, YesOption, Pick<SenderOptions, 'by'> {
  readonly credentials?: string;
  readonly contact: string;
  readonly totalInvoices?: number;
  readonly dryRun?: true;
  readonly detach?: true;
}

/** `ferry self-service`: a client moves its connections itself, from the check of the manifest to the last company. */
export function addSelfService(context: Context): void {
  const command = context.program
    .command('self-service <manifest>')
    .description('Move your connections yourself, without the six steps: check the manifest, move, watch to the end')
    .addOption(platformOption('self-service'))
    .requiredOption('--client <key>', 'you, by a key of letters, digits and hyphens')
    .option('--label <word>', 'tells several migrations of one client and platform apart')
    .option('-c, --credentials <file>', 'a second file, with the credentials by reference')
    .addOption(totalInvoicesOption())
    .option('--contact <text>', 'whom to call', 'the solutions team')
    .option('--by <name>', `who confirms that nothing else uses the tokens ${BY_DEFAULT}`)
    .option('--yes', 'start without asking')
    .option('--detach', 'do not watch: come back when it has started')
    .option('--dry-run', 'make all checks, and stop before anything is stored or started');
  addLimits(command).action((manifest: string, options: SelfServiceOptions) =>
    context.run(() => selfService(context, manifest, options)),
  );
}

async function selfService(context: Context, file: string, options: SelfServiceOptions): Promise<CommandResult> {
  const { output, terminal } = context;
  assertStartable(options, 'self-service');
  const { client, platform, label, credentials } = options;
  const files = { manifest: file, ...(credentials === undefined ? {} : { credentials }) };
  const limits = limitsRead(options);
  const migrationId = migrationIdOf(client, platform.slug, label);
  const total = options.totalInvoices === undefined ? {} : { recordsInTotal: options.totalInvoices };
  const request = { files, platform, route: 'self-service', limits, migrationId, ...total } as const;
  if (options.dryRun) return dryRun(terminal.env, { ...request, command: 'self-service' });

  const check = await checkWhole(terminal.env, request);
  if (check.findings.errors > 0) return refused(check);
  if (!(await isConfirmed(context, check, options))) return notStarted();
  return withLedgerClient(terminal.env, async (ferry) => {
    const started = await start(ferry, check, options, limits);
    if (!output.json && !output.quiet) printStarted(output, check, started);
    const canBeWatched = started.preflight !== null && !options.detach;
    const end = canBeWatched ? await watched(context, ferry, migrationId, { untilDecision: true }) : null;
    return selfServiceResult(check, started, end);
  });
}

/** Shows what it does, and asks whoever sits there. */
async function isConfirmed(
  { output, terminal }: Context,
  { findings, manifest, platform }: WholeCheck,
  options: SelfServiceOptions,
): Promise<boolean> {
  if (output.json) return true;
  printFindings(output, findings);
  const { totals, withCredential } = manifest;
  const into =
    totals.named === 0 ? 'each becomes a company of your account' : `${totals.named} go into companies you have named`;
  output.line(`${counted(totals.companies, 'company')} of ${platform.name}: ${into}.`);
  output.line(`${counted(withCredential, 'credential')}: sealed here, used once, then destroyed.`);
  output.line(
    isRotating(platform)
      ? `${platform.name} changes its tokens: those in your own application die as each company is moved.`
      : 'From its move on only the service may use the token of a company.',
  );
  output.line('By starting you confirm for every company that nothing else syncs, refreshes or revokes its token.');
  return confirm({ output, terminal }, options, 'Start?');
}

function start(
  ferry: LedgerClient,
  { manifest: { rows, credentials, digest }, platform }: WholeCheck,
  { client, label, contact, by, totalInvoices }: SelfServiceOptions,
  limits: LimitsChange,
): Promise<SelfServiceStarted> {
  const request = {
    client,
    platform,
    ...(label === undefined ? {} : { label }),
    rows,
    manifestDigest: digest,
    contact,
    by,
    limits,
    ...(totalInvoices === undefined ? {} : { recordsInTotal: totalInvoices }),
  };
  return startSelfService(ferry, request, credentials);
}

const SCHEMA = 'ferry.self-service/1';

function refused(check: WholeCheck): CommandResult {
  const { findings } = check;
  return {
    failed: true,
    json: { schema: SCHEMA, started: false, ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings);
      printSummary(output, check);
      output.line('  Nothing was stored, nothing was started');
    },
  };
}

function notStarted(): CommandResult {
  return {
    failed: true,
    json: { schema: SCHEMA, started: false },
    print: (output) => output.line('Nothing was stored, nothing was started'),
  };
}

/** Before it is watched. */
function printStarted(output: Output, { manifest }: WholeCheck, started: SelfServiceStarted): void {
  const { migrationId } = started;
  output.line(`${output.styled('green', '✓')} ${migrationId}: started`);
  if (started.preflight) printPreflight(output, started.preflight);
  else if (started.heldUp.length > 0) output.line(`  It is not checked yet: ${started.heldUp.join('; ')}`);
  else output.line('  No worker has answered yet; start one, or everything with: ferry up');
  const left = manifest.withCredential - started.stored;
  if (left > 0) {
    const command = `ferry credentials ${migrationId} FILE --as client`;
    output.line(`  ${counted(left, 'credential')} not stored yet; supply them later with: ${command}`);
  }
}

function selfServiceResult(
  { files, manifest, findings }: WholeCheck,
  { migrationId, stored, preflight, heldUp }: SelfServiceStarted,
  end: Watched | null,
): CommandResult {
  const next = end ? nextCommands(end.progress) : [];
  return {
    failed: preflight === null || (end !== null && end.progress.state !== 'completed'),
    json: {
      schema: SCHEMA,
      started: true,
      migrationId,
      companies: manifest.totals.companies,
      credentialsStored: stored,
      preflight,
      heldUp,
      state: end?.progress.state ?? null,
      waitingFor: end?.progress.waitingFor ?? null,
      counts: end?.progress.counts ?? null,
      next,
      ...findingsJson(findings),
    },
    printQuietly: (output) => output.line(migrationId),
    print: (output) => {
      if (!end) return output.line(`  See how far it is with: ferry watch ${migrationId}`);
      end.print(output);
      const holding = files.credentials ?? files.manifest;
      if (stored > 0) output.line(`  ${holding} still holds credentials readable: destroy it when you are done`);
      for (const { command } of next) output.line(`  ${command}`);
      output.line(`  The report: ferry report ${migrationId}`);
    },
  };
}
