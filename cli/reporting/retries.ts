/** Describes work that has failed and is retried, in words. */
import type { LedgerClient, MigrationClient, Retry } from '../../client';
import { companyIdsIn, inSupportWords } from '../../domain/companies/call-words';
import { readReferences } from '../../store';

/**
 * Returns a text for each retry: the call that failed, its company, the reason and the time of the next attempt.
 * Without a ledger, the text says "a company" instead of the company's reference.
 *
 * @param timeText formats a time that is given in ISO 8601
 */
export async function retryTexts(
  ferry: MigrationClient | LedgerClient,
  migrationId: string,
  retries: readonly Retry[],
  timeText: (iso: string) => string,
): Promise<readonly string[]> {
  const ids = retries.flatMap(({ error }) => companyIdsIn(error));
  const references = ferry.db ? await readReferences(ferry.db, migrationId, ids) : new Map<string, string>();
  return retries.map(({ error, nextAttempt }) => {
    const what = inSupportWords(error, (id) => references.get(id) ?? null);
    if (nextAttempt === 'running') return `${what}; the next attempt is running`;
    return nextAttempt === null ? what : `${what}; next attempt at ${timeText(nextAttempt)}`;
  });
}
