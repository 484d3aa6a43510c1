/** Parts that the pages of a migration and of a batch run in the Temporal UI share. */
import type { ClientState, Counts } from '../../domain/companies/company-state';
import { CLIENT_STATES, clientCounts, countFinished } from '../../domain/companies/company-state';
import { counted } from '../../domain/text/sentences';

const BAR_WIDTH = 30;

/**
 * Returns a progress bar and the number of companies in each client state, as Markdown; empty if there are no
 * companies.
 */
export function companyLines(counts: Counts): string[] {
  if (counts.total === 0) return [];
  const finished = countFinished(counts);
  const filled = Math.round((BAR_WIDTH * finished) / counts.total);
  const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled);
  const numbers = clientCounts(counts);
  const states = Object.keys(CLIENT_STATES) as ClientState[];
  return [
    `\`[${bar}]\` ${finished} of ${counted(counts.total, 'company')}`,
    states.map((state) => `- ${CLIENT_STATES[state]}: ${numbers[state]}`).join('\n'),
  ];
}

/** Empty lines at the end of a page, because the Temporal UI cuts off the last lines. */
export const BOTTOM_PADDING = Array.from({ length: 6 }, () => '\u00a0').join('\n\n');
