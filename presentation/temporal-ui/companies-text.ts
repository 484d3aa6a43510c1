/** How many companies are where, as Markdown in a client's words: *moved, moving, must reconnect, not moved*. */
import type { Counts } from '../../domain/companies/company-state';
import { finishedCompanies } from '../../domain/companies/company-state';
import { counted } from '../../domain/text/sentences';

const BAR_WIDTH = 30;

/** A bar and a list; nothing while there is no company. */
export function companiesText(counts: Counts): string[] {
  if (counts.total === 0) return [];
  const done = finishedCompanies(counts);
  const filled = Math.round((BAR_WIDTH * done) / counts.total);
  const bar = '#'.repeat(filled) + '.'.repeat(BAR_WIDTH - filled);
  return [
    `\`[${bar}]\` ${done} of ${counted(counts.total, 'company')}`,
    [
      `- moved: ${counts.migrated}`,
      `- moving: ${counts.importing + counts.syncing}`,
      `- not moved yet: ${counts.waiting + counts.outcomeUnknown}`,
      `- must reconnect: ${counts.mustReconnect}`,
      `- not moved, to be looked at: ${counts.failed - counts.mustReconnect}`,
      `- left out: ${counts.skipped + counts.excluded}`,
    ].join('\n'),
  ];
}
