/** Parts of the pages of a migration and of a batch run in the Temporal UI. */
import { CLIENT_STATES, type ClientState } from '../../domain/companies/company-state';
import { clientCounts, type Counts } from '../../domain/companies/counts';
import { oneLine, outOf, numberText } from '../../domain/text/sentences';
import { escapedMarkdown } from '../../domain/text/untrusted-text';

const BAR_WIDTH = 30;

/** Maximum lengths, in characters, of names and references, and of other text. Longer text is cut off. */
export const MAX_NAME_LENGTH = 60;
export const MAX_TEXT_LENGTH = 1_000;

/** Shortens text that people or the service wrote, and escapes it. */
export function untrustedText(text: string, maxLength: number): string {
  return escapedMarkdown(oneLine(text, maxLength));
}

/**
 * Returns a progress bar of the moved companies, and the number of other companies in each state, as Markdown; empty if
 * there are no companies.
 *
 * @param words the words for the states; by default `CLIENT_STATES`
 * @param hasEnded true if the migration has ended
 */
export function companyLines(
  counts: Counts,
  words: Readonly<Record<ClientState, string>> = CLIENT_STATES,
  hasEnded = false,
): string[] {
  const { total, moved } = counts;
  if (total === 0) return [];
  // Rounded down, so that the bar is full only if all have moved.
  const filled = Math.floor((BAR_WIDTH * moved) / total);
  const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled);
  const numbers = clientCounts(counts, hasEnded);
  const others = (Object.keys(CLIENT_STATES) as ClientState[]).filter(
    (state) => state !== 'moved' && numbers[state] > 0,
  );
  const lines = others.map((state) => `- ${words[state]}: ${numberText(numbers[state])}`);
  return [`\`[${bar}]\` ${outOf(moved, total, 'company')} moved`, ...(lines.length > 0 ? [lines.join('\n')] : [])];
}

/** Empty lines at the end of a page, because the Temporal UI cuts off the last lines. */
export const BOTTOM_PADDING = Array.from({ length: 6 }, () => '\u00a0').join('\n\n');
