/** Says below the list of migrations what the list cannot show: problems, and what to do about each. */
import { CHECK_WORKERS } from '../../domain/progress/worker-advice';
import { counted, sentence } from '../../domain/text/sentences';
import type { MigrationSummary } from '../../client';
import { ADD_PAYLOAD_KEY } from '../shared/errors';
import type { UnconfirmedKey } from '../../store';
import { printKeysToConfirm } from '../shared/invitations';
import { ledgersBehindTexts } from '../shared/results';
import { otherLedgerAdvice } from '../suggestions/stack-advice';
import type { Output } from '../terminal/output';

export interface ListedLine extends MigrationSummary {
  /** Why no worker can continue the migration; null if one can, none has tried, or the migration was not examined. */
  readonly problem: string | null;
  /** Since when the migration has been on hold, ISO 8601; null if it is not on hold, or that is not known. */
  readonly onHoldSince: string | null;
  /** True if the ledger was restored to an older state, so that the counts can be wrong. */
  readonly ledgerBehind: boolean;
  /** True if Temporal does not have the migration: it was deleted after its end, lost, or never started there. */
  readonly onlyInLedger: boolean;
}

/** The state of a migration that has not ended, although Temporal does not have it. */
export const LOST = 'not in Temporal';

/** The state of a migration that was stored, but that Temporal does not have and no worker has begun. */
export const NOT_STARTED = 'not started';

export interface ListNotes {
  readonly migrations: readonly ListedLine[];
  /** The migrations that Temporal has, but the ledger does not. */
  readonly notInLedger: readonly string[];
  /** The people whose keys support has to confirm. */
  readonly toConfirm: readonly UnconfirmedKey[];
}

export function printListNotes(output: Output, { migrations, notInLedger, toConfirm }: ListNotes): void {
  printMissingKeys(output, migrations);
  printOnlyInLedger(output, migrations);
  printTerminated(output, migrations);
  printLedgersBehind(output, migrations);
  printNotInLedger(output, notInLedger);
  printStuck(output, migrations);
  printKeysToConfirm(output, toConfirm);
}

function printMissingKeys(
  output: Output,
  migrations: readonly Pick<MigrationSummary, 'migrationId' | 'missingKey'>[],
): void {
  const missing = new Set(migrations.flatMap(({ missingKey }) => missingKey ?? []));
  for (const key of missing) {
    const ids = migrations.filter(({ missingKey }) => missingKey === key).map(({ migrationId }) => migrationId);
    output.line(`Payload key ${key} is missing on this machine, so the details of ${ids.join(', ')} cannot be read:`);
    output.line(`  ${ADD_PAYLOAD_KEY}`);
  }
}

function printOnlyInLedger(output: Output, lines: readonly ListedLine[]): void {
  const fromLedger = lines.filter(({ onlyInLedger }) => onlyInLedger);
  const idsOf = (wanted: string) =>
    fromLedger.flatMap(({ state, migrationId }) => (state === wanted ? migrationId : []));
  const lost = idsOf(LOST);
  const notStarted = idsOf(NOT_STARTED);
  const ended = fromLedger.filter(({ state }) => ![LOST, NOT_STARTED].includes(state));
  if (ended[0]) {
    output.line(
      `The list has ${counted(ended.length, 'ended migration')} that Temporal has deleted and the ledger still has (step "-").`,
    );
    output.line(`  To see what was moved, use the report, for example: ferry report ${ended[0].migrationId}`);
  }
  if (lost.length > 0) {
    const these = lost.length === 1 ? 'this migration' : 'these migrations';
    output.line(`The ledger has ${lost.join(', ')}, but Temporal does not.`);
    output.line(
      `  Check that TEMPORAL_ADDRESS names the Temporal of ${these}. If Temporal's database was lost or restored, docs/backup.md says what to do.`,
    );
  }
  if (notStarted.length > 0) {
    const [was, it] = notStarted.length === 1 ? ['was', 'it'] : ['were', 'them'];
    output.line(
      `${notStarted.join(', ')} ${was} stored, but Temporal does not have ${it}, and no worker has begun ${it}.`,
    );
    output.line('  Run the same ferry start or ferry self-service command again.');
  }
}

function printTerminated(output: Output, lines: readonly ListedLine[]): void {
  const ids = lines.flatMap(({ migrationId, endedInTemporal }) => (endedInTemporal ? [migrationId] : []));
  if (ids.length === 0) return;
  const these = ids.length === 1 ? 'this migration' : 'these migrations';
  output.line(`Temporal is no longer running ${ids.join(', ')}, so no company of ${these} moves.`);
  output.line(`  To close ${ids.length === 1 ? 'it' : 'one of them'}, run: ferry sweep --close ${ids[0] ?? ''}`);
}

/** Says which counts can be wrong, because the ledger was restored to an older state. */
function printLedgersBehind(output: Output, lines: readonly ListedLine[]): void {
  const ids = lines.flatMap(({ migrationId, ledgerBehind }) => (ledgerBehind ? [migrationId] : []));
  for (const text of ids.length === 0 ? [] : ledgersBehindTexts(ids)) output.line(text);
}

function printNotInLedger(output: Output, ids: readonly string[]): void {
  if (ids.length === 0) return;
  output.line(`Temporal has ${ids.join(', ')}, but the ledger does not.`);
  output.line(`  ${sentence(otherLedgerAdvice(ids.length))}.`);
}

function printStuck(output: Output, migrations: readonly ListedLine[]): void {
  for (const { migrationId, problem } of migrations)
    if (problem !== null) output.line(`The worker cannot continue ${migrationId}: ${problem}`);
  if (migrations.some(({ problem }) => problem !== null)) output.line(`  ${sentence(CHECK_WORKERS)}`);
}
