/** Verifies the signatures of an exported audit trail. Needs only the file and the approvers' public keys. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TrailEnd } from '../../domain/decisions/audit-trail';
import { trailEndProblem, isTrailEnd, isTrailEntry, createTrailVerifier } from '../../domain/decisions/audit-trail';
import { createLedgerProof, isLedgerLine } from '../../domain/decisions/ledger-proof';
import type { Approver } from '../../domain/migration/signatures';
import { counted } from '../../domain/text/sentences';
import { CommandFailed } from '../shared/errors';
import type { CommandResult, Output } from '../terminal';
import { localTime } from '../terminal/times';

interface Unproven {
  readonly line: number;
  /** Null if the line is not a decision. */
  readonly decisionId: string | null;
  readonly why: string;
}

interface Verification {
  readonly entries: number;
  readonly unproven: readonly Unproven[];
  /** The signed last line; null if the file has none. */
  readonly end: TrailEnd | null;
  /**
   * True if the file contains the ledger's confirmations and release, so that they could be compared with the signed
   * decisions.
   */
  readonly hasLedger: boolean;
}

/**
 * Verifies an exported audit trail.
 *
 * @param file an export of `ferry audit --format jsonl`
 * @throws CommandFailed if no approvers are given, or the file cannot be read
 */
export async function verifyTrail(
  file: string,
  migrationId: string,
  approvers: readonly Approver[],
): Promise<CommandResult> {
  if (approvers.length === 0) {
    throw new CommandFailed(
      'verifying a trail requires the public keys of the approvers',
      'pass each key with --approver; take it from a source that you trust, because keys that came with the trail prove nothing',
    );
  }
  const { entries, unproven, end, hasLedger } = await verify(file, migrationId, approvers);
  return {
    failed: unproven.length > 0,
    json: { schema: 'ferry.audit-verification/1', migrationId, entries, unproven, end },
    print: (output) => {
      for (const { line, decisionId, why } of unproven) {
        const what = decisionId === null ? '' : `, decision ${decisionId}`;
        output.line(`${output.styled('red', '✗')} line ${line}${what}: ${why}`);
      }
      if (unproven.length === 0) printVerified(output, { entries, end, hasLedger });
    },
  };
}

async function verify(file: string, migrationId: string, approvers: readonly Approver[]): Promise<Verification> {
  const problemOf = createTrailVerifier(migrationId, approvers);
  const unproven: Unproven[] = [];
  const digest = createHash('sha256');
  const proof = createLedgerProof();
  let hasLedger = false;
  let end: TrailEnd | null = null;
  let entries = 0;
  for await (const { line, text, value } of readLines(file)) {
    if (end) unproven.push({ line, decisionId: null, why: 'it comes after the end of the trail' });
    else if (isTrailEntry(value)) {
      entries += 1;
      digest.update(`${text}\n`);
      const why = problemOf(value);
      if (why === null) proof.add(value.decision, { applied: value.applied, at: value.at });
      else unproven.push({ line, decisionId: value.decision.decisionId, why });
    } else if (isTrailEnd(value)) {
      end = value.end;
      const why = trailEndProblem(value, { migrationId, entries, sha256: digest.digest('hex') }, approvers);
      if (why !== null) unproven.push({ line, decisionId: null, why });
    } else if (isLedgerLine(value) && !hasLedger) {
      hasLedger = true;
      digest.update(`${text}\n`);
      for (const why of proof.differences(value.ledger)) unproven.push({ line, decisionId: null, why });
    } else unproven.push({ line, decisionId: null, why: 'it is not an audit trail entry' });
  }
  return { entries, unproven, end, hasLedger };
}

function printVerified(output: Output, { entries, end, hasLedger }: Omit<Verification, 'unproven'>): void {
  const mark = output.styled('green', '✓');
  output.line(`${mark} ${counted(entries, 'entry')}: the signature of every applied decision matches its record`);
  if (hasLedger)
    output.line(
      `${mark} signed decisions support every confirmation, and every permission to move companies, in the ledger`,
    );
  if (end) {
    const by = `${end.exportedBy} exported and signed the trail on ${localTime(end.exportedAt)}`;
    output.line(`${mark} ${by}: nothing has been changed, added or removed since then`);
    return;
  }
  output.line(
    'The export itself is not signed, so refused decisions, times and outcomes could have been changed, and entries could have been removed.',
  );
}

interface TrailLine {
  readonly line: number;
  readonly text: string;
  readonly value: unknown;
}

async function* readLines(file: string): AsyncGenerator<TrailLine> {
  let line = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== '') yield { line, text, value: JSON.parse(text) as unknown };
    }
  } catch (error) {
    const why = error instanceof SyntaxError ? `line ${line} is not JSON` : String(error);
    throw new CommandFailed(`${file} cannot be read: ${why}`, 'export the audit trail again, with --format jsonl');
  }
}
