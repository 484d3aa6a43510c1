/** `ferry audit --verify`: an exported trail, held to its signatures. Nothing but the file and the public keys is needed. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import type { TrailEntry } from '../../domain/proven-trail';
import { trailVerifier } from '../../domain/proven-trail';
import type { Approver } from '../../domain/signatures';
import { counted } from '../../domain/words';
import { CommandFailed } from '../command-failed';
import type { CommandResult } from '../screen';

interface Unproven {
  readonly line: number;
  readonly decisionId: string;
  readonly why: string;
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
  const objectionTo = trailVerifier(migrationId, approvers);
  const unproven: Unproven[] = [];
  let entries = 0;
  for await (const entry of entriesOf(file)) {
    entries += 1;
    const why = objectionTo(entry);
    if (why !== null) unproven.push({ line: entries, decisionId: entry.decision.decisionId, why });
  }
  return {
    failed: unproven.length > 0,
    json: { schema: 'ferry.audit-verification/1', migrationId, entries, unproven },
    print: (screen) => {
      for (const { line, decisionId, why } of unproven) {
        screen.line(`${screen.styled('red', '✗')} line ${line}, decision ${decisionId}: ${why}`);
      }
      if (unproven.length > 0) return;
      screen.line(
        `${screen.styled('green', '✓')} ${counted(entries, 'entry')}: each that was applied was signed as it stands there`,
      );
      screen.line('That nothing was left out of the file is not proven by this.');
    },
  };
}

async function* entriesOf(file: string): AsyncGenerator<TrailEntry> {
  let line = 0;
  try {
    for await (const text of createInterface({ input: createReadStream(file) })) {
      line += 1;
      if (text.trim() !== '') yield JSON.parse(text) as TrailEntry;
    }
  } catch (error) {
    const why = error instanceof SyntaxError ? `line ${line} is no JSON` : String(error);
    throw new CommandFailed(`${file} cannot be read: ${why}`, 'export it with: ferry audit <migration> --format jsonl');
  }
}
