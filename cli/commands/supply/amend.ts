import { NOT_CHECKED } from '../../../domain/companies/company-state';
import {
  amendManifest,
  AmendedMigrationEnded,
  readHeldBack,
  readKnownCompanies,
  type AmendmentResult,
  type HeldBack,
  type StoredMigration,
} from '../../../store';
import { CommandFailed } from '../../shared/errors';
import {
  decide,
  readProgressIfAnswered,
  signatureProblem,
  type DecisionResult,
  type LedgerClient,
} from '../../../client';
import {
  addEncoding,
  HashedKeyMap,
  readManifest,
  type EncodingOption,
  type Manifest,
  type ManifestFiles,
} from '../../manifest';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import type { Role } from '../../../domain/migration/steps';
import type { Platform } from '../../../platforms/platforms';
import { counted } from '../../../domain/text/sentences';
import { addYesOption, type Context, type YesOption } from '../../shared/context';
import { readClientPortal } from '../../connections/client-portal';
import { confirmationCommand, type ConfirmationCommand } from '../../suggestions/confirmation-command';
import { BY_CLIENT, otherReferencesText, referenceArguments } from '../../suggestions/remedy-commands';
import { fileArguments, listAllFindings } from '../../suggestions/file-arguments';
import { findingsJson, type HowToListAll, printFindings, referenceList, invalidFileResult } from '../../shared/results';
import { readOpenMigration, withLedgerClient } from '../../connections/clients';
import { adviceToSign } from '../../suggestions/signing-advice';
import { addActorOptions, actorFrom, type ActorOptions } from '../../shared/decisions';
import { confirmWithdrawal } from '../../shared/withdrawn-sign-offs';
import { supplyLaterText } from '../../starting/started';

const CHECKED_WITHIN_MS = 15_000;
const POLL_EVERY_MS = 100;
const MAX_REFERENCES = 10;

type AmendOptions = ActorOptions & EncodingOption & YesOption;

const startNewMigration = ({ route }: StoredMigration): string =>
  `start a new ${route} migration for these companies, with another --label`;

export function addAmend(context: Context): void {
  const { program, run, terminal } = context;
  const command = addActorOptions(
    addEncoding(
      program
        .command('amend <migration> <manifest>')
        .description(
          'Add companies, correct companies whose move has not begun, or correct the expected number of invoices of a company with incomplete data. In the manifest (CSV or JSON), list only these companies',
        ),
    ),
  );
  addYesOption(command).action((migration: string, manifest: string, options: AmendOptions) =>
    run(() => withLedgerClient(terminal.env, (ferry) => amend(ferry, context, migration, manifest, options))),
  );
}

async function amend(
  ferry: LedgerClient,
  context: Context,
  migrationId: string,
  file: string,
  options: AmendOptions,
): Promise<CommandResult> {
  const { output } = context;
  const actor = actorFrom(options);
  const { migration, platform } = await readOpenMigration(ferry, migrationId, startNewMigration);
  const supplied = new HashedKeyMap();
  for await (const { reference, hasCredential } of readKnownCompanies(ferry.db, migrationId))
    if (hasCredential) supplied.set(reference, 1);
  const files = { manifest: file, encoding: options.encoding };
  const manifest = await readManifest(files, platform, migration.route, new Date(), {
    isSupplied: (reference) => supplied.get(reference) > 0,
    command: `ferry credentials ${migrationId} credentials.csv`,
  });
  const { findings } = manifest;
  const howToListAll = listAllFindings(files, platform);
  if (findings.errors > 0) {
    const json = { schema: 'ferry.amend/1', added: [], corrected: [] } as const;
    return invalidFileResult(json, findings, howToListAll, `${counted(findings.errors, 'error')}: nothing was changed`);
  }
  // Checks the signature before storing the rows, because a refused decision would leave them held back.
  const problem = await signatureProblem(ferry, migration, 'manifestAmended', { added: 0, corrected: 0, ...actor });
  if (problem !== null) {
    const advice = await adviceToSign(ferry, migrationId, actor, { problem, message: 'manifestAmended' });
    throw new CommandFailed(problem, `nothing was changed; ${advice}`);
  }
  const progress = await readProgressIfAnswered(ferry, migrationId);
  await confirmWithdrawal(context, options, migrationId, progress, 'if rows are new or have changed, ');
  output.note(`Storing ${counted(manifest.totals.companies, 'row')} ...`);
  const amended = await storeRows(ferry, migration, manifest);
  const { added, corrected, recounted } = amended;
  // Rows can also be unchecked because an earlier amendment was interrupted before it notified the migration.
  const hasUnchecked = (await readHeldBack(ferry.db, migrationId)).some(isUnchecked);
  if (hasUnchecked) output.note('Waiting for a worker to check the rows (up to 15 s) ...');
  // A corrected number of invoices needs no check, but the audit trail must say who corrected it.
  const decision =
    hasUnchecked || recounted.length > 0
      ? await decide(ferry, migrationId, 'manifestAmended', {
          added: added.length,
          corrected: corrected.length + recounted.length,
          ...actor,
        })
      : null;
  const held =
    decision?.outcome === 'applied'
      ? await waitForCheck(ferry, migrationId)
      : await readHeldBack(ferry.db, migrationId);
  const portal = await readClientPortal(ferry, migrationId);
  const changed = migration.route === 'managed' ? [...new Set([...added, ...corrected])] : [];
  return amendResult(
    {
      ...migration,
      confirmation: changed.length === 0 ? null : await confirmationCommand(ferry.db, { migrationId, portal }, changed),
      howToListAll,
      supplyLater: supplyLaterIn(migration, platform, files),
    },
    manifest,
    amended,
    decision,
    held.map(heldBackFor(actor.role)),
  );
}

/** Says how to supply the credentials in the file, which an amendment does not store. */
function supplyLaterIn({ id, route }: StoredMigration, platform: Platform, files: ManifestFiles): string {
  const file = fileArguments(files.manifest, files);
  // In self-service, the start has confirmed that syncing is off, so the credentials in the file count.
  return route === 'self-service'
    ? `Supply the file with: ferry credentials ${id} ${file}`
    : supplyLaterText(platform, id, file);
}

async function storeRows(
  ferry: LedgerClient,
  migration: StoredMigration,
  { rows }: Manifest,
): Promise<AmendmentResult> {
  try {
    return await amendManifest(ferry.db, { migrationId: migration.id, rows });
  } catch (error) {
    if (error instanceof AmendedMigrationEnded)
      throw new CommandFailed(error.message, startNewMigration(migration), { cause: error });
    throw error;
  }
}

type ShownHeldBack = Pick<HeldBack, 'reference' | 'heldBack'>;

/** Returns what a role may see: the text for the client does not name other clients. */
const heldBackFor =
  (role: Role) =>
  ({ reference, heldBack, heldBackDetails }: HeldBack): ShownHeldBack => ({
    reference,
    heldBack: role === 'support' ? (heldBackDetails ?? heldBack) : heldBack,
  });

const isUnchecked = ({ heldBack: why }: ShownHeldBack): boolean => why === NOT_CHECKED;

/** Waits up to 15 s until a worker has checked all rows. Returns the companies that are held back. */
async function waitForCheck(ferry: LedgerClient, migrationId: string): Promise<readonly HeldBack[]> {
  const deadline = Date.now() + CHECKED_WITHIN_MS;
  for (;;) {
    const held = await readHeldBack(ferry.db, migrationId);
    if (!held.some(isUnchecked) || Date.now() >= deadline) return held;
    await new Promise((resolve) => setTimeout(resolve, POLL_EVERY_MS));
  }
}

interface Amended {
  /** Confirms that syncing is off for the added and corrected companies; null if no confirmation is needed. */
  readonly confirmation: ConfirmationCommand | null;
  readonly howToListAll: HowToListAll;
  /** Says how to supply the credentials in the file. */
  readonly supplyLater: string;
}

function amendResult(
  { id: migrationId, route, released, confirmation, howToListAll, supplyLater }: StoredMigration & Amended,
  { findings, withCredential }: Manifest,
  { added, recounted, unchanged, tooLate, ...amended }: AmendmentResult,
  decision: DecisionResult | null,
  held: readonly ShownHeldBack[],
): CommandResult {
  const changed = new Set([...added, ...amended.corrected]);
  const corrected = [...amended.corrected, ...recounted];
  const heldBack = held.filter(({ reference }) => changed.has(reference));
  const failed = tooLate.length > 0 || heldBack.length > 0 || decision?.outcome === 'refused';
  return {
    failed,
    json: {
      schema: 'ferry.amend/1',
      migrationId,
      added,
      corrected,
      unchanged,
      tooLate,
      heldBack,
      decision,
      ...findingsJson(findings),
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      printFindings(output, findings, howToListAll);
      const mark = failed ? output.styled('red', '✗') : output.styled('green', '✓');
      output.line(
        `${mark} ${migrationId}: ${counted(added.length, 'company')} added, ${corrected.length} corrected, ${unchanged} unchanged`,
      );
      if (tooLate.length > 0) {
        output.line(
          `  ${counted(tooLate.length, 'company')} not corrected: ${referenceList(tooLate, MAX_REFERENCES)}. A company cannot be corrected after its move has begun, or after it was left out. If a company was not moved because it has fewer records than expected, you can still correct its expected number of invoices, but nothing else.`,
        );
      }
      if (decision?.outcome === 'refused') output.line(`  refused: ${decision.text}`);
      if (decision?.outcome === 'recorded') output.line(`  ${decision.text}`);
      for (const { reference, heldBack: why } of heldBack.slice(0, MAX_REFERENCES)) {
        output.line(`  ${output.styled('yellow', 'held back:')} ${reference}: ${why}`);
      }
      if (heldBack.length > MAX_REFERENCES) output.line(`  and ${heldBack.length - MAX_REFERENCES} more held back`);
      // The check of a refused amendment does not begin.
      if (heldBack.some(isUnchecked) && decision?.outcome !== 'refused')
        output.line(
          '  A running worker checks the companies that are not checked yet. If it takes longer, run: ferry doctor',
        );
      if (!heldBack.every(isUnchecked))
        output.line(`  To see what to do about companies that are held back, run: ferry exceptions ${migrationId}`);
      if (withCredential > 0) {
        const why = 'because ferry amend stores only the companies';
        output.line(`  Not stored: ${counted(withCredential, 'credential')}, ${why}. ${supplyLater}`);
      }
      if (recounted.length > 0) {
        const numbers = recounted.length === 1 ? 'number' : 'numbers';
        const isStep5 = route === 'managed' && released === 'first-company';
        const when = isStep5 ? 'run in step 6 (in step 5, only the first company can be retried)' : 'run';
        output.line(`  To check the records again, with the corrected expected ${numbers} of invoices, ${when}:`);
        const retry = `ferry retry ${migrationId} ${referenceArguments(recounted)}`;
        // In self-service, only the client can retry companies.
        const command = route === 'self-service' ? `${retry} ${BY_CLIENT}` : retry;
        printCommand(output, { command, others: otherReferencesText(command, recounted) });
      }
      if (confirmation !== null) {
        output.line('  Once syncing is off for the added and corrected companies, the client confirms it with:');
        printCommand(output, confirmation);
      }
    },
  };
}

function printCommand(output: Output, { command, others }: ConfirmationCommand): void {
  output.line(`    ${command}`);
  if (others !== null) output.line(`      ${others}`);
}
