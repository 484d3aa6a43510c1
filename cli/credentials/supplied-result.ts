/** The result of supplying or replacing the credentials of a file. */
import type { DecisionResult } from '../../client';
import { isPartial } from '../../domain/migration/partial-outcome';
import { counted, outOf } from '../../domain/text/sentences';
import type { SupplyResult } from '../../store';
import type { Disposal } from '../manifest';
import { findingsJson, printFindings } from '../shared/results';
import { PRINT_NOTHING, type CommandResult, type Output } from '../terminal/output';
import type { CheckedFile } from './credential-file';
import { printRefused, type RefusedGroup } from './refused-credentials';

/** Returns whether the file had credentials, and all of them were stored. */
export function isEverythingStored({ stored, obtainedTooEarly, wrongState, unknown }: SupplyResult): boolean {
  return stored.length > 0 && obtainedTooEarly.length + wrongState.length + unknown.length === 0;
}

/** The references, grouped by outcome. `decision` is null if no decision was sent, or if it is reported separately. */
interface Supplied extends SupplyResult {
  readonly decision: DecisionResult | null;
  /** The advice about a refusal; null if there is none. */
  readonly advice: string | null;
  /** True if the ledger uses fewer credentials than were stored. The text of the decision then says how many. */
  readonly isPartlyUsed: boolean;
  /**
   * Number of companies that already had a credential. Absent for a command whose purpose is to replace credentials.
   */
  readonly replacing?: number;
}

/** Returns which credentials of a file were stored, and what has become of the file. */
export function suppliedResult(
  migrationId: string,
  { findings }: CheckedFile,
  { decision, advice, isPartlyUsed, replacing = 0, ...supplied }: Supplied,
  disposal: Disposal,
  refused: readonly RefusedGroup[],
): CommandResult {
  const { stored } = supplied;
  const isComplete = isEverythingStored(supplied) && !isPartlyUsed;
  return {
    failed: !isComplete || disposal.failed,
    json: {
      schema: 'ferry.credentials/1',
      migrationId,
      ...supplied,
      obtainedTooEarly: supplied.obtainedTooEarly.map(({ reference }) => reference),
      tooEarly: supplied.obtainedTooEarly,
      shredded: disposal.shredded,
      ...(decision === null
        ? {}
        : { decision: { schema: 'ferry.decision/1', migrationId, message: 'credentialsSupplied', ...decision } }),
      ...findingsJson(findings),
    },
    ...(isComplete && decision?.outcome !== 'recorded' ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      printFindings(output, findings, null);
      if (decision !== null || !isPartlyUsed)
        output.line(storedText(output, migrationId, { ...supplied, decision, replacing }));
      if (advice !== null) output.line(`  ${advice}`);
      if (!isComplete && decision?.outcome === 'recorded')
        output.line(
          `  ${stored.length === 1 ? 'The stored credential is' : 'The stored credentials are'} used once the decision takes effect; ${decision.text}`,
        );
      printRefused(output, refused);
      disposal.print(output);
    },
  };
}

function storedText(
  output: Output,
  migrationId: string,
  { decision, replacing = 0, ...supplied }: Omit<Supplied, 'advice' | 'isPartlyUsed'>,
): string {
  const { stored } = supplied;
  if (decision?.outcome === 'refused')
    return `${output.styled('red', '✗ refused:')} ${migrationId}: ${decision.text}; no credential was stored`;
  if (decision && isPartial(decision)) return `${output.styled('red', '✗')} ${migrationId}: ${decision.text}`;
  if (!isEverythingStored(supplied)) {
    const { obtainedTooEarly, wrongState, unknown } = supplied;
    const total = stored.length + obtainedTooEarly.length + wrongState.length + unknown.length;
    if (stored.length === 0) return `${output.styled('red', '✗')} ${migrationId}: no credential was stored:`;
    return `${output.styled('yellow', '!')} ${migrationId}: ${outOf(stored.length, total, 'credential')} sealed and stored:`;
  }
  const text = `${migrationId}: ${counted(stored.length, 'credential')} sealed and stored`;
  if (decision?.outcome !== 'recorded')
    return `${output.styled('green', '✓')} ${text}${replacedText(stored.length, replacing)}`;
  const use = `${stored.length === 1 ? 'It is' : 'They are'} used once the decision takes effect`;
  return `${output.styled('yellow', '…')} ${text}. ${use}; ${decision.text}`;
}

/** Says how many of the stored credentials replace one that was supplied earlier; empty if none does. */
function replacedText(stored: number, replacing: number): string {
  if (replacing === 0) return '';
  if (replacing === stored) return stored === 1 ? '; it replaced an earlier one' : '; they replaced the earlier ones';
  return replacing === 1
    ? '; 1 replaced an earlier one'
    : `; ${replacing.toLocaleString('en-US')} replaced earlier ones`;
}
