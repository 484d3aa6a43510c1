/** `ferry audit --verify`: an exported trail, held to its signatures. Nothing but the file and the public keys is needed. */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TrailEnd } from '../../domain/decisions/audit-trail';
import { trailEndProblem, isTrailEnd, isTrailEntry, createTrailVerifier } from '../../domain/decisions/audit-trail';
import type { Approver } from '../../domain/migration/signatures';
import { counted } from '../../domain/text/sentences';
import { CommandFailed } from '../shared/command-failed';
import type { CommandResult, Output } from '../terminal';
import { localTime } from '../terminal/times';

interface Unproven {
  readonly line: number;
  /** Null: it is about the file as a whole. */
  readonly decisionId: string | null;
  readonly why: string;
}

interface Verification {
  readonly entries: number;
  readonly unproven: readonly Unproven[];
  /** Who has signed the file as a whole; null: nobody. */
  readonly end: TrailEnd | null;
}

/** @param file as `ferry audit --format jsonl` writes it */
export async function verifyTrail(
  file: string,
  migrationId: string,
  approvers: readonly Approver[],
): Promise<CommandResult> {
  if (approvers.length === 0) {
    throw new CommandFailed(
      'no public keys are given to verify the trail with',
      'name each approver with --approver, from where you trust it: keys that come with the trail prove nothing',
    );
  }
  const { entries, unproven, end } = await verified(file, migrationId, approvers);
  return {
    failed: unproven.length > 0,
    json: { schema: 'ferry.audit-verification/1', migrationId, entries, unproven, end },
    print: (output) => {
      for (const { line, decisionId, why } of unproven) {
        const what = decisionId === null ? '' : `, decision ${decisionId}`;
        output.line(`${output.styled('red', '✗')} line ${line}${what}: ${why}`);
      }
      if (unproven.length === 0) printProven(output, entries, end);
    },
  };
}

async function verified(file: string, migrationId: string, approvers: readonly Approver[]): Promise<Verification> {
  const objectionTo = createTrailVerifier(migrationId, approvers);
  const unproven: Unproven[] = [];
  const digest = createHash('sha256');
  let end: TrailEnd | null = null;
  let entries = 0;
  for await (const { line, text, value } of linesOf(file)) {
    if (end) unproven.push({ line, decisionId: null, why: 'it stands below the end of the trail' });
    else if (isTrailEntry(value)) {
      entries += 1;
      digest.update(`${text}\n`);
      const why = objectionTo(value);
      if (why !== null) unproven.push({ line, decisionId: value.decision.decisionId, why });
    } else if (isTrailEnd(value)) {
      end = value.end;
      const why = trailEndProblem(value, { migrationId, entries, sha256: digest.digest('hex') }, approvers);
      if (why !== null) unproven.push({ line, decisionId: null, why });
    } else unproven.push({ line, decisionId: null, why: 'it is no entry of a trail' });
  }
  return { entries, unproven, end };
}

function printProven(output: Output, entries: number, end: TrailEnd | null): void {
  const mark = output.styled('green', '✓');
  output.line(`${mark} ${counted(entries, 'entry')}: each that was applied was signed as it stands there`);
  if (end) {
    const by = `${end.exportedBy} exported them on ${localTime(end.exportedAt)}`;
    output.line(`${mark} ${by}, and has signed for the whole: nothing was altered, added or left out since`);
    return;
  }
  output.line(
    'Nobody has signed for the whole: what is not signed (refusals, when, with which answer), and that nothing was left out, is not proven.',
  );
}

interface Line {
  readonly line: number;
  readonly text: string;
  readonly value: unknown;
}

async function* linesOf(file: string): AsyncGenerator<Line> {
  let line = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file), crlfDelay: Infinity })) {
      line += 1;
      if (text.trim() !== '') yield { line, text, value: JSON.parse(text) as unknown };
    }
  } catch (error) {
    const why = error instanceof SyntaxError ? `line ${line} is no JSON` : String(error);
    throw new CommandFailed(`${file} cannot be read: ${why}`, 'export it with: ferry audit <migration> --format jsonl');
  }
}
