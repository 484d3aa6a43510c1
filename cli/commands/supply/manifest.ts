import type { Preflight } from '../../../domain/migration/preflight-result';
import { MAX_MANIFEST_COMPANIES } from '../../../domain/migration/decision-fields';
import type { Platform } from '../../../platforms/platforms';
import { counted } from '../../../domain/text/sentences';
import { supplyManifest, waitForPreflight, type DecisionResult, type LedgerClient } from '../../../client';
import { CommandFailed } from '../../shared/errors';
import { addEncoding, readManifest, type EncodingOption, type Manifest, type ManifestFiles } from '../../manifest';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import type { Context } from '../../shared/context';
import { readOpenMigration, withLedgerClient } from '../../connections/clients';
import { actorFrom, addActorOptions, markOf, type ActorOptions } from '../../shared/decisions';
import { findingsJson, printFindings, printPreflight, invalidFileResult } from '../../shared/results';
import { fileArguments, listAllFindings, withCheckedFile } from '../../suggestions/file-arguments';
import { signingAdvice } from '../../suggestions/signing-advice';
import { supplyLaterText } from '../../starting/started';

type ManifestOptions = ActorOptions & EncodingOption;

/** `ferry manifest`: supplies the manifest of a migration that was started without one, or replaces it in step 1. */
export function addManifest({ program, run, terminal, output }: Context): void {
  addActorOptions(
    addEncoding(
      program
        .command('manifest <migration> <manifest>')
        .description('Supply or replace the manifest (CSV or JSON) before support has accepted the details'),
    ),
  ).action((migration: string, file: string, options: ManifestOptions) =>
    run(() => withLedgerClient(terminal.env, (ferry) => supply(ferry, output, migration, file, options))),
  );
}

async function supply(
  ferry: LedgerClient,
  output: Output,
  migrationId: string,
  file: string,
  options: ManifestOptions,
): Promise<CommandResult> {
  const actor = actorFrom(options);
  const { migration, platform } = await readOpenMigration(
    ferry,
    migrationId,
    () => 'start a new migration, with another --label',
  );
  if (migration.route === 'self-service')
    throw new CommandFailed(
      'the manifest of a self-service migration is supplied at its start',
      `to add or correct companies, run: ferry amend ${migrationId} ${fileArguments(file, options)}`,
    );
  const files = { manifest: file, encoding: options.encoding };
  const manifest = await readManifest(files, platform, migration.route, new Date(), {
    isSupplied: () => false,
    command: `ferry credentials ${migrationId} credentials.csv`,
  });
  const { findings, totals } = manifest;
  const { companies } = totals;
  if (findings.errors > 0) {
    const nothing = `${counted(findings.errors, 'error')}: nothing was changed`;
    return invalidFileResult({ schema: 'ferry.manifest/1' }, findings, listAllFindings(files, platform), nothing);
  }
  if (companies > MAX_MANIFEST_COMPANIES)
    throw new CommandFailed(
      `the manifest has ${counted(companies, 'company')}; ferry manifest accepts at most ${counted(MAX_MANIFEST_COMPANIES, 'company')}`,
      'nothing was changed; pass this manifest to ferry start, with another --label',
    );
  output.note(`Storing ${counted(companies, 'row')} ...`);
  const { rows, digest: manifestDigest } = manifest;
  const decision = await supplyManifest(ferry, migrationId, { rows, manifestDigest, companies, ...actor });
  if (decision.outcome === 'applied') output.note('Waiting for a worker to check the rows (up to 15 s) ...');
  const preflight = decision.outcome === 'applied' ? await waitForPreflight(ferry, migrationId) : null;
  const advice = await signingAdvice(ferry, migrationId, actor, decision, 'manifestSupplied');
  return result(migrationId, { files, manifest, platform, decision, preflight, advice });
}

interface Supplied {
  readonly files: ManifestFiles;
  readonly manifest: Manifest;
  readonly platform: Platform;
  readonly decision: DecisionResult;
  /** Null if the manifest was refused, or has not been checked yet. */
  readonly preflight: Preflight | null;
  /** The advice about a missing signature; null if the decision was not refused for one. */
  readonly advice: string | null;
}

function result(
  migrationId: string,
  { files, manifest, platform, decision, preflight, advice }: Supplied,
): CommandResult {
  const { findings, totals, withCredential } = manifest;
  const isApplied = decision.outcome === 'applied';
  return {
    failed: decision.outcome === 'refused',
    json: {
      schema: 'ferry.manifest/1',
      ...{ migrationId, companies: totals.companies, decision, preflight },
      ...findingsJson(findings),
    },
    ...(isApplied ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      printFindings(output, findings, listAllFindings(files, platform));
      if (!isApplied) {
        output.line(`${markOf(output, decision)} ${migrationId}: ${decision.text}`);
        if (advice !== null) output.line(`  ${advice}`);
        return;
      }
      output.line(`${output.styled('green', '✓')} ${migrationId}: ${decision.text}`);
      if (preflight) printPreflight(output, withCheckedFile(preflight, files, platform));
      else output.line(`  ${output.styled('yellow', 'The manifest has not been checked yet.')}`);
      if (withCredential > 0) {
        const why = 'because ferry manifest stores only the companies';
        output.line(
          `  Not stored: ${counted(withCredential, 'credential')}, ${why}. ${supplyLaterText(platform, migrationId, fileArguments(files.manifest, files))}`,
        );
      }
      output.line(`  See what to do next with: ferry show ${migrationId}`);
    },
  };
}
