/** What was decided on its way to the audit trail: in pieces that Temporal takes, however much came at once. */
import type { Recorded } from '../migration/migration-state';

/** Characters of JSON. Temporal takes 2 MB in one payload, a character has 3 bytes at most, and messages may be as long as this. */
const LONGEST_PIECE = 300_000;

/** As much of it, in its order, as is handed on at once: one at least. */
export function nextAuditBatch(unrecorded: readonly Recorded[]): readonly Recorded[] {
  let length = 0;
  let count = 0;
  for (const recorded of unrecorded) {
    length += JSON.stringify(recorded).length;
    if (count > 0 && length > LONGEST_PIECE) break;
    count += 1;
  }
  return unrecorded.slice(0, count);
}
