/** The text of single facts about a company in the handover report: its records, ids and syncs. */
import type { SyncSchedule } from '../../domain/companies/evidence';
import { momentText, numberText } from '../../domain/text/sentences';
import type { LedgerCompany } from '../../store';

export function recordsText({ evidence }: Pick<LedgerCompany, 'evidence'>): string {
  return (evidence ?? [])
    .flatMap(({ records, detail }) => (records ? [`${records.dataType}: ${detail}`] : []))
    .join('; ');
}

/** Returns the number of invoices that were found; empty if they were not counted. */
export function invoicesText({ evidence }: Pick<LedgerCompany, 'evidence'>): string {
  const invoices = evidence?.find(({ records }) => records?.dataType === 'invoices')?.records;
  return invoices == null ? '' : numberText(invoices.found);
}

/** Returns the correlation ids of the evidence and of the latest call, each once. */
export function correlationIdsText({
  evidence,
  correlationId,
}: Pick<LedgerCompany, 'evidence' | 'correlationId'>): string {
  const ids = [...(evidence ?? []).map((each) => each.correlationId), correlationId];
  return [...new Set(ids.filter((id) => id != null))].join(', ');
}

type Synced = Pick<LedgerCompany, 'state' | 'replacedApplication' | 'syncSchedule'>;

/** Returns how often the service syncs a company; empty if it does not, or if that is not known. */
export function syncIntervalText(company: Synced): string {
  const schedule = currentSchedule(company);
  if (schedule === null) return '';
  const { everyHours } = schedule;
  if (everyHours === null) return 'only on request';
  const { least, most } = everyHours;
  return least === most ? `${least} h` : `${least} to ${most} h`;
}

/**
 * Returns when the service syncs a company next, or why it cannot; empty if no sync is scheduled or known. The ledger
 * stores only the first sync after the move, so later syncs are not known.
 *
 * @param now ISO 8601, UTC
 * @param format formats a time in ISO 8601
 */
export function nextSyncText(company: Synced, now: string, format: (iso: string) => string): string {
  if (company.state === 'moved' && company.replacedApplication) return 'none: its application was replaced';
  const at = currentSchedule(company)?.nextAt ?? null;
  return at === null || at <= now ? '' : format(at);
}

function currentSchedule({ state, replacedApplication, syncSchedule }: Synced): SyncSchedule | null {
  return state === 'moved' && !replacedApplication ? syncSchedule : null;
}

export function dateText(date: Date | null): string {
  return date === null ? '' : momentText(date.toISOString());
}
