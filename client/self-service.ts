/** A client's own start: its credentials come with it, and are sealed as soon as they can be. */
import type { Stream } from '../domain/text/streams';
import type { Preflight } from '../domain/migration/migration-state';
import type { SuppliedCredential } from '../store';
import { supplyCredentials } from '../store';
import { decide } from './decide';
import { progressIfAnswered, readOutages } from './progress';
import type { LedgerClient } from './open';
import type { StartRequest } from './start';
import { detailsChecked, startMigration } from './start';

export interface SelfServiceStarted {
  readonly migrationId: string;
  /** Credentials that were sealed and stored. */
  readonly stored: number;
  /** Null: no worker has looked at it yet, so that nothing could be sealed. */
  readonly preflight: Preflight | null;
  /** Why not, as far as it says so. */
  readonly heldUp: readonly string[];
}

/**
 * Starts a migration of the self-service route, which confirms every company of it in the name of `by`, and supplies the
 * credentials once a worker has opened the vault.
 *
 * @throws MigrationExists
 * @throws OrganizationTaken
 */
export async function startSelfService(
  ferry: LedgerClient,
  request: Omit<StartRequest, 'route' | 'firstCompany' | 'decisions'>,
  credentials: Stream<SuppliedCredential>,
): Promise<SelfServiceStarted> {
  const { by } = request;
  const migrationId = await startMigration(ferry, { ...request, route: 'self-service', firstCompany: null });
  const preflight = await checkedInTime(ferry, migrationId);
  if (!preflight) return { migrationId, stored: 0, preflight, heldUp: await readOutages(ferry, migrationId) };
  const { stored } = await supplyCredentials(ferry.db, migrationId, credentials, by);
  if (stored.length > 0) {
    await decide(ferry, migrationId, 'credentialsSupplied', { companies: stored.length, role: 'client', by });
  }
  return { migrationId, stored: stored.length, preflight, heldUp: [] };
}

/** For as long as a worker is at it: an account may have very many companies. Null: none is, or something keeps failing. */
async function checkedInTime(ferry: LedgerClient, migrationId: string): Promise<Preflight | null> {
  for (;;) {
    const preflight = await detailsChecked(ferry, migrationId);
    if (preflight) return preflight;
    if ((await readOutages(ferry, migrationId)).length > 0) return null;
    if (!(await progressIfAnswered(ferry, migrationId))) return null;
  }
}
