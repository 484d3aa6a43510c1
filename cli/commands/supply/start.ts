import { Option } from 'commander';
import type { Preflight } from '../../../domain/migration/migration-state';
import type { Platform } from '../../../platforms/platforms';
import { isRotating } from '../../../platforms/platforms';
import { migrationIdOf } from '../../../domain/migration/temporal-names';
import type { Approver } from '../../../domain/migration/signatures';
import { CommandFailed } from '../../shared/command-failed';
import { detailsChecked, readOutages, startMigration } from '../../../client';
import type { Disposal, Manifest, ShredOption } from '../../manifest';
import { addShred, disposeOf, identifyFile, readManifest } from '../../manifest';
import { supplyCredentials } from '../../../store';
import type { CommandResult, Terminal } from '../../terminal';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import { dryRun } from '../../starting/dry-run';
import { findingsJson, printFindings, printPreflight } from '../../shared/finding-list';
import type { LimitOptions } from '../../shared/limit-options';
import { addLimits } from '../../shared/limit-options';
import { approverOption, platformOption, totalInvoicesOption } from '../../shared/options';
import type { SenderOptions } from '../../shared/sender';
import { BY_DEFAULT } from '../../shared/sender';
import { askedArguments, DEFAULT_CONTACT } from '../../starting/questions';
import type { Startable } from '../../starting/startable';
import { assertStartable, limitsRead } from '../../starting/startable';
import { withLedgerClient } from '../../shared/with-ferry';

interface StartOptions extends Startable, LimitOptions, ShredOption, Pick<SenderOptions, 'by'> {
  readonly credentials?: string;
  readonly contact: string;
  readonly firstCompany?: string;
  readonly fourEyes?: true;
  readonly digestObligatory?: true;
  readonly approver?: readonly Approver[];
  readonly dryRun?: true;
  readonly totalInvoices?: number;
}

/** `ferry start`: checks the manifest, stores it, and starts the migration. On a terminal it asks for what is missing. */
export function addStart(context: Context): void {
  const { program, run, terminal, output, args } = context;
  const prompts = output.json ? undefined : terminal.prompts;
  const needed = prompts === undefined;
  const client = new Option('--client <key>', 'the client, by a key of letters, digits and hyphens');
  const command = program
    .command(needed ? 'start <manifest>' : 'start [manifest]')
    .description('Start a migration: check the manifest (CSV or JSON), store it, begin with step 1')
    .addOption(platformOption().makeOptionMandatory(needed))
    .addOption(client.makeOptionMandatory(needed))
    .option('--label <word>', 'tells several migrations of one client and platform apart')
    .option('-c, --credentials <file>', 'a second file, with the credentials by reference')
    .addOption(totalInvoicesOption())
    .option('--first-company <reference>', 'the company that proves the way (default: the first that can be moved)')
    .option('--contact <text>', 'whom the client calls', DEFAULT_CONTACT)
    .option('--by <name>', `who supplies the manifest ${BY_DEFAULT}`)
    .option('--four-eyes', 'who supplied or proposed something may not approve it, nor one person sign in both roles')
    .option('--digest-obligatory', 'approvals have to carry the digest of what was seen, as those of ferry do')
    .addOption(approverOption())
    .option('--dry-run', 'make all checks, and stop before anything is stored or started');
  addLimits(addShred(command)).action(async (manifest: string | undefined, options: Partial<StartOptions>) => {
    if (isWhole(options) && manifest !== undefined) return run(() => start(terminal, manifest, options));
    if (!prompts) throw new Error('commander has let a command through that lacks something');
    const isTyped = command.getOptionValueSource('contact') === 'cli';
    const { contact, ...typed } = options;
    const asked = { manifest, ...typed, ...(isTyped && contact !== undefined ? { contact } : {}) };
    await program.parseAsync(await askedArguments(context, prompts, args, asked), { from: 'user' });
  });
}

function isWhole(options: Partial<StartOptions>): options is StartOptions {
  return options.platform !== undefined && options.client !== undefined;
}

async function start(terminal: Terminal, manifestFile: string, options: StartOptions): Promise<CommandResult> {
  assertStartable(options, 'managed');
  const { env } = terminal;
  const { client, platform, label, credentials } = options;
  const files = { manifest: manifestFile, ...(credentials === undefined ? {} : { credentials }) };
  const limits = limitsRead(options);
  const total = options.totalInvoices === undefined ? {} : { recordsInTotal: options.totalInvoices };
  if (options.dryRun) {
    const migrationId = migrationIdOf(client, platform.slug, label);
    return dryRun(env, { command: 'start', route: 'managed', files, platform, limits, migrationId, ...total });
  }
  const holding = await identifyFile(credentials ?? manifestFile);
  const manifest = await readManifest(files, platform);
  if (manifest.findings.errors > 0) return refusedManifest(manifest);
  const firstCompany = await knownCompany(manifest, options.firstCompany);
  return withLedgerClient(env, async (ferry) => {
    const migrationId = await startMigration(ferry, {
      client,
      platform,
      ...(label === undefined ? {} : { label }),
      rows: manifest.rows,
      manifestDigest: manifest.digest,
      contact: options.contact,
      limits,
      decisions: {
        fourEyes: options.fourEyes ?? false,
        digestObligatory: options.digestObligatory ?? false,
        approvers: options.approver ?? null,
      },
      by: options.by,
      firstCompany,
      ...total,
    });
    const preflight = await detailsChecked(ferry, migrationId);
    // Credentials of a rotating platform, obtained before the freeze, do not count: they are not even stored.
    const storable = preflight !== null && !isRotating(platform) && manifest.withCredential > 0;
    const stored = storable
      ? (await supplyCredentials(ferry.db, migrationId, manifest.credentials, options.by)).stored.length
      : 0;
    const heldUp = preflight ? [] : await readOutages(ferry, migrationId);
    const isAllStored = stored > 0 && stored === manifest.withCredential;
    const disposal =
      isAllStored || options.shred ? await disposeOf(holding, isAllStored, options, terminal) : undefined;
    return started({ migrationId, manifest, platform, stored, preflight, heldUp, disposal });
  });
}

function refusedManifest({ findings }: Manifest): CommandResult {
  return {
    failed: true,
    json: { schema: 'ferry.start/1', started: false, ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings);
      output.line(
        `${output.styled('red', '✗')} ${counted(findings.errors, 'error')}: nothing was stored, nothing was started`,
      );
    },
  };
}

async function knownCompany({ rows }: Manifest, reference: string | undefined): Promise<string | null> {
  if (reference === undefined) return null;
  for await (const row of rows) if (row.reference === reference) return reference;
  throw new CommandFailed(`the manifest has no company ${reference}`, 'name one by its reference');
}

interface Started {
  readonly migrationId: string;
  readonly manifest: Manifest;
  readonly platform: Platform;
  readonly stored: number;
  /** Null: not checked yet. */
  readonly preflight: Preflight | null;
  /** Why not. */
  readonly heldUp: readonly string[];
  /** Of the file with the credentials; undefined: it was not time for that. */
  readonly disposal: Disposal | undefined;
}

function started(request: Started): CommandResult {
  const { migrationId, manifest, platform, stored, preflight, heldUp, disposal } = request;
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
      heldUp,
      ...findingsJson(findings),
    },
    printQuietly: (output) => output.line(migrationId),
    print: (output) => {
      printFindings(output, findings);
      const what = `${counted(totals.companies, 'company')} of ${platform.name}`;
      output.line(`${output.styled('green', '✓')} ${migrationId}: started with ${what}`);
      if (!preflight) {
        const why =
          heldUp.length > 0 ? heldUp.join('; ') : 'no worker answers; start one, or everything with: ferry up';
        output.line(`  ${output.styled('yellow', 'Its details are not checked yet:')} ${why}`);
      } else printPreflight(output, preflight);
      if (stored < withCredential) {
        const why = isRotating(platform) ? 'they count only once syncing is disabled' : 'nobody could seal them yet';
        const left = counted(withCredential - stored, 'credential');
        output.line(`  ${left} not stored: ${why}; supply them later with: ferry credentials`);
      }
      disposal?.print(output);
      output.line(`  See what comes next with: ferry show ${migrationId}`);
    },
  };
}
