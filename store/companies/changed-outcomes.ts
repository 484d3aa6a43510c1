/** Companies whose outcome has changed since the handover was signed off. */
import type { Approval } from '../../domain/migration/migration-state';
import type { ChangedCompanies, ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';
import { allRows, type Database } from '../database/database';

/** A migration, with its approvals. `Progress` is one. */
interface SignedOff {
  readonly migrationId: string;
  readonly steps: readonly { readonly approvals: readonly Approval[] }[];
}

/**
 * Finds, for each sign-off that still counts, the companies that have got their present outcome since, for example
 * because their end customer has reconnected. The outcome can be the same as before. `moved_at` does not show all of
 * them, because a company that has moved before keeps the time of its first move. An outcome that is older than the
 * column `outcome_at` is as old as the claim or the sync that led to it. The sign-off has the time of Temporal, and the
 * outcome that of the database, so their clocks must agree.
 *
 * @param progress `steps`: the approvals that still count
 * @returns the sign-offs with changes, in the order of the approvals
 */
export async function readChangedSinceSignOff(
  db: Database,
  { migrationId, steps }: SignedOff,
): Promise<readonly ChangedSinceSignOff[]> {
  const signOffs = steps.flatMap(({ approvals }) => approvals.filter(({ step }) => step === 'complete-migration'));
  if (signOffs.length === 0) return [];
  const found = await allRows<ChangedCompanies & { readonly index: number }>(db)`
    select s.index::integer, o.state, count(*) as companies,
      (array_agg(c.reference order by c.row))[1:5] as "references"
    from unnest(${signOffs.map(({ at }) => at)}::timestamptz[]) with ordinality s (at, index)
    join companies c on c.migration_id = ${migrationId} and coalesce(c.outcome_at, greatest(c.claimed_at, c.sync_started_at)) > s.at
    cross join lateral (values (case
      when c.state = 'moved' then 'moved'
      when c.state = 'failed' and c.failure = 'reauthorization-required' then 'must-reconnect'
      when c.state = 'failed' then 'not-moved'
      when c.state in ('skipped', 'excluded') then 'left-out'
      when c.state = 'outcome-unknown' then 'not-moved-yet' end)) o (state)
    where o.state is not null
    group by s.index, o.state
    order by s.index, min(c.row)`;
  return signOffs.flatMap(({ role, by, at }, position) => {
    const changed = found.flatMap(({ index, ...each }) => (index === position + 1 ? [each] : []));
    return changed.length === 0 ? [] : [{ role, by, at, changed }];
  });
}
