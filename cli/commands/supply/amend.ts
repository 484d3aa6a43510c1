import type { AmendmentResult, HeldBack, StoredMigration } from '../../../store';
import { amendManifest, ManifestClosed, NOT_CHECKED, readHeldBack } from '../../../store';
import { CommandFailed } from '../../shared/command-failed';
import type { Answer, LedgerClient } from '../../../client';
import { decide } from '../../../client';
import type { Manifest } from '../../manifest';
import { ManifestDigest, readManifest } from '../../manifest';
import type { CommandResult, Output } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import { findingsJson, printFindings } from '../../shared/finding-list';
import { openMigrationOf } from '../../shared/open-migration';
import type { SenderOptions } from '../../shared/sender';
import { addSender, senderOf } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

const CHECKED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;
const NAMED_AT_MOST = 10;

/** Once a migration has ended. */
const latecomers = ({ route }: StoredMigration): string =>
  `start a new migration for latecomers: ferry ${route === 'managed' ? 'start' : 'self-service'} FILE --label WORD`;

/** `ferry amend`: adds companies to a migration, or corrects those whose move has not begun. */
export function addAmend({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('amend <migration> <manifest>')
      .description(
        'Add companies, or correct those whose move has not begun: a manifest (CSV or JSON) of just these rows',
      ),
  ).action((migration: string, manifest: string, options: SenderOptions) =>
    run(() => withLedgerClient(terminal.env, (ferry) => amend(ferry, migration, manifest, options))),
  );
}

async function amend(
  ferry: LedgerClient,
  migrationId: string,
  file: string,
  options: SenderOptions,
): Promise<CommandResult> {
  const sender = senderOf(options);
  const { migration, platform } = await openMigrationOf(ferry, migrationId, latecomers);
  const manifest = await readManifest({ manifest: file }, platform, migration.route);
  if (manifest.findings.errors > 0) return refusedRows(manifest);
  const amended = await stored(ferry, migration, manifest);
  const { added, corrected } = amended;
  // What an earlier amendment stored, and never came to say, is checked now.
  const unchecked = (await readHeldBack(ferry.db, migrationId)).some(isUnchecked);
  const answer = unchecked
    ? await decide(ferry, migrationId, 'manifestAmended', {
        added: added.length,
        corrected: corrected.length,
        ...sender,
      })
    : null;
  const held =
    answer?.became === 'applied' ? await afterCheck(ferry, migrationId) : await readHeldBack(ferry.db, migrationId);
  return whatBecame(migration, manifest, amended, answer, held);
}

async function stored(ferry: LedgerClient, migration: StoredMigration, { rows }: Manifest): Promise<AmendmentResult> {
  try {
    return await amendManifest(ferry.db, { migrationId: migration.id, rows, createDigest: () => new ManifestDigest() });
  } catch (error) {
    if (error instanceof ManifestClosed)
      throw new CommandFailed(error.message, latecomers(migration), { cause: error });
    throw error;
  }
}

const isUnchecked = ({ heldBack: why }: HeldBack): boolean => why === NOT_CHECKED;

/** What is still held back once a worker has checked everything, or after a while. */
async function afterCheck(ferry: LedgerClient, migrationId: string): Promise<readonly HeldBack[]> {
  const until = Date.now() + CHECKED_WITHIN_MS;
  for (;;) {
    const held = await readHeldBack(ferry.db, migrationId);
    if (!held.some(isUnchecked) || Date.now() >= until) return held;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

function refusedRows({ findings }: Manifest): CommandResult {
  return {
    failed: true,
    json: { schema: 'ferry.amend/1', added: [], corrected: [], ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings);
      output.line(`${output.styled('red', '✗')} ${counted(findings.errors, 'error')}: nothing was changed`);
    },
  };
}

function whatBecame(
  { id: migrationId, route }: StoredMigration,
  { findings }: Manifest,
  { added, corrected, unchanged, tooLate }: AmendmentResult,
  answer: Answer | null,
  held: readonly HeldBack[],
): CommandResult {
  const changed = new Set([...added, ...corrected]);
  const ours = held.filter(({ reference }) => changed.has(reference));
  return {
    failed: tooLate.length > 0 || ours.length > 0,
    json: {
      schema: 'ferry.amend/1',
      migrationId,
      added,
      corrected,
      unchanged,
      tooLate,
      heldBack: ours,
      decision: answer,
      ...findingsJson(findings),
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      printFindings(output, findings);
      const mark = output.styled('green', '✓');
      output.line(
        `${mark} ${migrationId}: ${counted(added.length, 'company')} added, ${corrected.length} corrected, ${unchanged} as before`,
      );
      printNamed(output, 'not corrected, their move has begun or they were left out:', tooLate);
      if (answer !== null && answer.became !== 'applied') output.line(`  ${answer.text}`);
      for (const { reference, heldBack: why } of ours.slice(0, NAMED_AT_MOST)) {
        output.line(`  ${output.styled('yellow', 'held back:')} ${reference}: ${why}`);
      }
      if (ours.length > NAMED_AT_MOST) output.line(`  and ${ours.length - NAMED_AT_MOST} more held back`);
      if (changed.size > 0 && route === 'managed') {
        output.line(`  Confirm them once syncing is disabled: ferry confirm-sync-disabled ${migrationId} REFERENCE...`);
      }
    },
  };
}

function printNamed(output: Output, what: string, references: readonly string[]): void {
  if (references.length === 0) return;
  const more = references.length > NAMED_AT_MOST ? ` and ${references.length - NAMED_AT_MOST} more` : '';
  output.line(
    `  ${counted(references.length, 'company')} ${what} ${references.slice(0, NAMED_AT_MOST).join(', ')}${more}`,
  );
}
