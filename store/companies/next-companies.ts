/** The companies that go next, and what they lack: what somebody wants to know before a window opens. */
import { sql } from 'kysely';
import type { NextCompanies } from '../../domain/progress/go-nogo';
import type { Database } from '../database/database';
import { one } from '../database/database';
import { LACKS_CREDENTIAL } from './claimable';

export interface NextCompaniesReadiness {
  readonly next: NextCompanies;
  /** Of all that wait, so many the account does not have yet. */
  readonly toCreate: number;
}

/** Of the lowest wave that waits; those that a check holds back do not go. */
export async function readNextCompanies(db: Database, migrationId: string): Promise<NextCompaniesReadiness> {
  const ready = await one(
    db,
    sql<Omit<NextCompanies, 'oldestCredentialAt'> & { oldestAt: Date | null; toCreate: number }>`
    with ready as (
      select c.wave, c.company_id, c.confirmed_at, v.obtained_at,
        ${LACKS_CREDENTIAL} as lacks_credential,
        c.wave is not distinct from first_value(c.wave) over (order by c.wave nulls last) as goes_next
      from companies c
      join migrations m on m.id = c.migration_id
      left join credentials v on v.migration_id = c.migration_id and v.row = c.row
      where c.migration_id = ${migrationId} and c.state = 'waiting' and c.held_back is null
    )
    select
      min(wave) filter (where goes_next) as wave,
      count(*) filter (where goes_next) as companies,
      count(*) filter (where goes_next and confirmed_at is null) as unconfirmed,
      count(*) filter (where goes_next and confirmed_at is not null and lacks_credential) as "withoutCredential",
      min(obtained_at) filter (where goes_next and not lacks_credential) as "oldestAt",
      count(*) filter (where company_id is null) as "toCreate"
    from ready`,
  );
  const { oldestAt, toCreate, ...next } = ready;
  return { next: { ...next, oldestCredentialAt: oldestAt?.toISOString() ?? null }, toCreate };
}
