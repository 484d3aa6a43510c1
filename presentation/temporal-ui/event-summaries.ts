/**
 * The summaries of decisions and notices in the list of events in the Temporal UI.
 *
 * The codec encrypts summaries, so they can contain names. They contain no reasons, because a reason can be long.
 */
import type { DecisionRecord } from '../../domain/migration/migration-state';
import type { Role } from '../../domain/migration/steps';
import type { NoticeKind } from '../../domain/progress/notices';
import { withoutUnsafeCharacters } from '../../domain/text/untrusted-text';
import { actionText } from '../wording/decisions';

/** The longest summary, in bytes of UTF-8. Temporal accepts 200 bytes in the summary of an activity. */
const MAX_SUMMARY_BYTES = 160;

const MAX_NAME_BYTES = 60;

/** Returns the summary of the activity that records decisions: who decided what, and whether it was refused. */
export function decisionsSummary(records: readonly DecisionRecord[]): string {
  const [first, ...others] = records.map(recordText);
  if (first === undefined) return 'Record decisions';
  if (others.length === 0) return shortened(first, MAX_SUMMARY_BYTES);
  const more = ` (and ${others.length} more)`;
  return shortened(first, MAX_SUMMARY_BYTES - more.length) + more;
}

function recordText({ decision, outcome }: DecisionRecord): string {
  const refused = outcome.applied ? '' : 'refused: ';
  if (decision.kind === 'unreadable') return `${refused}an unreadable message`;
  const by = shortened(withoutUnsafeCharacters(decision.by), MAX_NAME_BYTES);
  return `${refused}${by} (${decision.role}): ${actionText(decision)}`;
}

/** Returns the summary of the activity that sends a notice. */
export function noticeSummary(kind: NoticeKind, waitingFor: readonly Role[]): string {
  const roles = waitingFor.join(' and ');
  switch (kind) {
    case 'stopped':
      return 'Send a notice: the migration has paused itself';
    case 'reminder':
      return `Send a notice: reminder to ${roles}`;
    case 'escalation':
      return `Send a notice: ${roles} ${waitingFor.length === 1 ? 'has' : 'have'} not acted for a long time`;
  }
}

/** Shortens longer text to at most this many bytes of UTF-8, with `...` at its end. Cuts between two characters. */
function shortened(text: string, maxBytes: number): string {
  let bytes = 0;
  let kept = '';
  for (const character of text) {
    bytes += byteLength(character);
    if (bytes > maxBytes - 3) return bytesOf(text) <= maxBytes ? text : `${kept}...`;
    kept += character;
  }
  return text;
}

function bytesOf(text: string): number {
  return [...text].reduce((sum, character) => sum + byteLength(character), 0);
}

function byteLength(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}
