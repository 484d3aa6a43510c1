import { Option } from 'commander';
import { isRotating, type Platform } from '../../../platforms/platforms';
import { migrationIdOf } from '../../../domain/migration/temporal-names';
import type { DecisionRules } from '../../../domain/migration/plan';
import type { Approver } from '../../../domain/migration/approvers';
import { approversDeadlock } from '../../../domain/decisions/guards';
import { CommandFailed } from '../../shared/errors';
import { waitForPreflight, readRetriedErrors, startMigration } from '../../../client';
import {
  FindingList,
  readManifest,
  identifyFile,
  addFileOptions,
  disposeOf,
  type Manifest,
  type ManifestFiles,
  type Disposal,
  type ShredOption,
  type EncodingOption,
} from '../../manifest';
import { supplyCredentials } from '../../../store';
import type { Terminal } from '../../terminal/terminal';
import type { CommandResult } from '../../terminal/output';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import { dryRun } from '../../starting/check';
import { findingsJson, printFindings, invalidFileResult } from '../../shared/results';
import { addLimitOptions, type LimitOptions } from '../../options/limit-options';
import { fileArguments, startArguments, listAllFindings } from '../../suggestions/file-arguments';
import { BY_CLIENT } from '../../suggestions/remedy-commands';
import { approverOption, platformOption, totalInvoicesOption } from '../../options/options';
import { DEFAULT_BY, type ActorOptions } from '../../shared/decisions';
import {
  credentialsAfterStart,
  noLongerWaitingText,
  printChecked,
  supplyLaterText,
  type StartedMigration,
} from '../../starting/started';
import { askForArguments, DEFAULT_CONTACT } from '../../starting/questions';
import { assertStartable, readLimitOptions, type StartTarget } from '../../starting/start-options';
import { clientPageOf } from '../../connections/client-page';
import { withLedgerClient } from '../../connections/clients';

interface StartOptions extends StartTarget, LimitOptions, ShredOption, EncodingOption, Pick<ActorOptions, 'by'> {
  readonly manifestLater?: true;
  readonly credentials?: string;
  readonly contact: string;
  readonly firstCompany?: string;
  readonly fourEyes?: true;
  readonly requireDigest?: true;
  readonly approver?: readonly Approver[];
  readonly dryRun?: true;
  readonly totalInvoices?: number;
}

/** `ferry start`: checks and stores the manifest, and starts the migration. At a terminal, asks for missing options. */
export function addStart(context: Context): void {
  const { program, run, terminal, output, args } = context;
  const prompts = output.json ? undefined : terminal.prompts;
  const isRequired = prompts === undefined;
  const client = new Option(
    '--client <key>',
    'short name of the client, e.g. acme: lower-case letters, digits and hyphens',
  );
  const command = program
    .command('start [manifest]')
    .description('Start a migration: check and store the manifest (CSV or JSON), and begin step 1')
    .addOption(
      new Option('--manifest-later', 'start without a manifest; the client or support supplies it in step 1').conflicts(
        [...['credentials', 'firstCompany', 'dryRun', 'shred', 'encoding']],
      ),
    )
    .addOption(platformOption().makeOptionMandatory(isRequired))
    .addOption(client.makeOptionMandatory(isRequired))
    .option('--label <word>', 'a word that distinguishes this migration from others of the same client and platform')
    .option('-c, --credentials <file>', 'a separate credential file, matched by company reference')
    .addOption(totalInvoicesOption())
    .option('--first-company <reference>', 'company to move first (default: the first company that can be moved)')
    .option('--contact <text>', 'person or team that the client calls', DEFAULT_CONTACT)
    .option(
      '--by <name>',
      `name of the person who starts the migration and, without --manifest-later, supplies the manifest ${DEFAULT_BY}`,
    )
    .option(
      '--four-eyes',
      'require different people to supply and approve the details, to propose and approve the time, and to approve for the client and for support',
    )
    .option(
      '--require-digest',
      'refuse an approval, or a confirmation with --all, that lacks the digest of what was reviewed; ferry adds the digest if a worker is answering',
    )
    .addOption(approverOption('accept only decisions signed by an approver'))
    .option('--dry-run', 'run all checks without storing or starting anything');
  addLimitOptions(addFileOptions(command)).action(
    async (manifest: string | undefined, options: Partial<StartOptions>) => {
      if (manifest !== undefined && options.manifestLater)
        command.error("error: argument 'manifest' cannot be used with option '--manifest-later'");
      if (isComplete(options)) {
        if (manifest !== undefined) return run(() => start(terminal, manifest, options));
        if (options.manifestLater) return run(() => startWithoutManifest(terminal, options));
      }
      if (!prompts) return command.error("error: missing required argument 'manifest'");
      const isContactGiven = command.getOptionValueSource('contact') === 'cli';
      const known = { ...options, manifest, contact: isContactGiven ? options.contact : undefined };
      await program.parseAsync(await askForArguments(context, prompts, args, known), { from: 'user' });
    },
  );
}

function isComplete(options: Partial<StartOptions>): options is StartOptions {
  return options.platform !== undefined && options.client !== undefined;
}

/**
 * Returns the decision rules, after checking that the migration can be started with these options.
 *
 * @param suppliedBy the person who supplies the manifest; null if that is not known yet
 * @param file the arguments that read the manifest; undefined without a manifest
 * @throws CommandFailed
 */
function decisionRulesOf(options: StartOptions, suppliedBy: string | null, file: string | undefined): DecisionRules {
  assertStartable(options, 'managed', file);
  const decisions = {
    fourEyes: options.fourEyes ?? false,
    requireDigest: options.requireDigest ?? false,
    approvers: options.approver ?? null,
  };
  const deadlock = approversDeadlock(decisions, suppliedBy);
  if (deadlock !== null)
    throw new CommandFailed(deadlock, 'nothing was started; add an approver for support with --approver');
  return decisions;
}

async function startWithoutManifest({ env }: Terminal, options: StartOptions): Promise<CommandResult> {
  const decisions = decisionRulesOf(options, null, undefined);
  const { client, platform, label, contact, by, totalInvoices: recordsInTotal } = options;
  const limits = readLimitOptions(options);
  return withLedgerClient(env, async (ferry) => {
    const migrationId = await startMigration(ferry, {
      ...{ client, platform, label, contact, limits, decisions, by, recordsInTotal, firstCompany: null },
    });
    const preflight = await waitForPreflight(ferry, migrationId);
    const retriedErrors = preflight ? [] : await readRetriedErrors(ferry, migrationId);
    const clientPage = await clientPageOf(env, ferry, migrationId);
    return startedWithoutManifest({ migrationId, preflight, retriedErrors, clientPage, ...decisions }, platform);
  });
}

function startedWithoutManifest(started: StartedMigration & DecisionRules, platform: Platform): CommandResult {
  const { migrationId, preflight, retriedErrors, clientPage, approvers } = started;
  const supply = `ferry manifest ${migrationId} manifest.csv`;
  return {
    json: {
      ...{ schema: 'ferry.start/1', started: true, migrationId, companies: 0, credentialsStored: 0 },
      ...{ preflight, retrying: retriedErrors, clientPage },
      ...findingsJson(new FindingList()),
    },
    printQuietly: (output) => output.line(migrationId),
    print: (output) => {
      output.line(`${output.styled('green', '✓')} ${migrationId}: started without a manifest (${platform.name})`);
      printChecked(output, platform, started);
      output.line(
        '  If you run the portal, the client can supply the manifest there. To invite a person at the client, run:',
      );
      output.line(`    ferry invite ${migrationId} --name "name of the person"`);
      output.line('  Or supply the manifest for the client with:');
      // Without `BY_CLIENT` if decisions must be signed, because support cannot sign as the client.
      output.line(`    ${approvers === null ? `${supply} ${BY_CLIENT}` : supply}`);
      if (clientPage !== null) output.line(`  Client's page: ${clientPage}`);
      output.line(`  See what to do next with: ferry show ${migrationId}`);
    },
  };
}

async function start(terminal: Terminal, manifestFile: string, options: StartOptions): Promise<CommandResult> {
  const decisions = decisionRulesOf(options, options.by, startArguments(manifestFile, options));
  const { env } = terminal;
  const { client, platform, label, contact, by, credentials, encoding, totalInvoices: recordsInTotal } = options;
  const files = { manifest: manifestFile, credentials, encoding };
  const limits = readLimitOptions(options);
  if (options.dryRun) {
    const migrationId = migrationIdOf(client, platform.slug, label);
    return dryRun(env, { command: 'start', route: 'managed', files, platform, limits, migrationId, recordsInTotal });
  }
  const original = await identifyFile(credentials ?? manifestFile);
  const manifest = await readManifest(files, platform);
  const { findings } = manifest;
  if (findings.errors > 0) {
    const json = { schema: 'ferry.start/1', started: false } as const;
    const nothing = `${counted(findings.errors, 'error')}: nothing was stored or started`;
    return invalidFileResult(json, findings, listAllFindings(files, platform), nothing);
  }
  const firstCompany = await assertInManifest(manifest, options.firstCompany);
  return withLedgerClient(env, async (ferry) => {
    const migrationId = await startMigration(ferry, {
      ...{ client, platform, label, contact, limits, decisions, by, firstCompany, recordsInTotal },
      ...{ rows: manifest.rows, manifestDigest: manifest.digest },
    });
    const preflight = await waitForPreflight(ferry, migrationId);
    // Stores no credentials if the platform rotates tokens, because credentials from before syncing was disabled stop
    // working.
    const canStore = preflight !== null && !isRotating(platform) && manifest.withCredential > 0;
    const credentialFile = credentials ?? manifestFile;
    const supply = `supply the credentials with: ferry credentials ${migrationId} ${fileArguments(credentialFile, options)}`;
    const read = credentialsAfterStart(manifest.credentials, migrationId, supply);
    const stored = canStore
      ? (await supplyCredentials(ferry.db, migrationId, read, by, ferry.providerFingerprint)).stored.length
      : 0;
    const retriedErrors = preflight ? [] : await readRetriedErrors(ferry, migrationId);
    const isEverythingStored = stored > 0 && stored === manifest.withCredential;
    const disposal =
      isEverythingStored || options.shred
        ? await disposeOf(original, isEverythingStored, options, terminal)
        : undefined;
    const clientPage = await clientPageOf(env, ferry, migrationId);
    const started = { migrationId, manifest, platform, stored, preflight, retriedErrors, disposal, clientPage };
    return startResult({ ...started, files, credentials: fileArguments(credentialFile, options) });
  });
}

async function assertInManifest({ rows }: Manifest, reference: string | undefined): Promise<string | null> {
  if (reference === undefined) return null;
  for await (const row of rows) if (row.reference === reference) return reference;
  throw new CommandFailed(
    `the manifest has no company ${reference}`,
    'specify the reference of a company in the manifest',
  );
}

interface Started extends StartedMigration {
  readonly manifest: Manifest;
  readonly platform: Platform;
  readonly stored: number;
  /** The outcome for the credential file. Defined only with `--shred`, or if every credential in it was stored. */
  readonly disposal: Disposal | undefined;
  readonly files: ManifestFiles;
  /** The arguments of `ferry credentials` that read the file with the credentials. */
  readonly credentials: string;
}

function startResult(request: Started): CommandResult {
  const { migrationId, manifest, platform, stored, preflight, retriedErrors, disposal, clientPage } = request;
  const { totals, findings, withCredential } = manifest;
  return {
    failed: disposal?.failed ?? false,
    json: {
      schema: 'ferry.start/1',
      started: true,
      migrationId,
      companies: totals.companies,
      credentialsStored: stored,
      shredded: disposal?.shredded ?? false,
      preflight,
      retrying: retriedErrors,
      clientPage,
      ...findingsJson(findings),
    },
    printQuietly: (output) => output.line(migrationId),
    print: (output) => {
      printFindings(output, findings, listAllFindings(request.files, platform));
      const what = counted(totals.companies, `${platform.name} company`);
      output.line(`${output.styled('green', '✓')} ${migrationId}: started with ${what}`);
      printChecked(output, platform, request);
      if (stored < withCredential) output.line(`  Not stored: ${notStoredText(request, withCredential - stored)}`);
      disposal?.print(output);
      if (clientPage !== null) output.line(`  Client's page: ${clientPage}`);
      output.line(`  See what to do next with: ferry show ${migrationId}`);
    },
  };
}

function notStoredText({ migrationId, platform, preflight, credentials }: Started, count: number): string {
  const left = counted(count, 'credential');
  const later = supplyLaterText(platform, migrationId, credentials);
  if (isRotating(platform)) return `${left}, because tokens must be obtained after the confirmation. ${later}`;
  if (preflight === null) return `${left}, because the supplied details must be checked first. ${later}`;
  // A decision, for example to leave out a company, can arrive while the details are being checked.
  return `${left}, ${noLongerWaitingText(migrationId, count)}`;
}
