/**
 * Staged credentials: credentials that were supplied with a decision that the ledger has not recorded yet. When the
 * ledger records the decision as applied, they come into use. When the decision is refused, they are deleted.
 */
import { sql, type RawBuilder } from 'kysely';
import { COMPANY_STATES } from '../../domain/companies/company-state';
import { acceptedSupplies } from '../../domain/companies/credential-state';
import { credentialsDigest } from '../../domain/supply/sealed-digest';
import { allRows, oneRow, type Queryable } from '../database/database';
import { inPages } from '../database/pages';
import { analyzeCredentials } from '../database/statistics';
import { WAS_TRIED } from '../companies/exceptions';

const GROUP_SIZE = 1_000;

/** The decision that supplies credentials. */
export interface StagingDecision {
  readonly decisionId: string;
  /**
   * False for credentials of companies that are waiting to be moved. True for new credentials of companies that were
   * not moved, whose outcome is unknown, or that wait for another try.
   */
  readonly replaces: boolean;
}

/** Builds the condition that a company accepts a credential; the same rule as `acceptedSupplies`. */
export function acceptsCredential(replaces: boolean) {
  if (!replaces) return sql<boolean>`(state = 'waiting')`;
  const states = COMPANY_STATES.filter((state) =>
    acceptedSupplies({ state, heldBack: null, tries: 0 }).includes('replaceCredential'),
  );
  return sql<boolean>`(state = any(${states}::text[]) or ${WAS_TRIED})`;
}

/** Builds the statement that stores sealed credentials as the credentials in use. */
export function insertInUse(boxes: RawBuilder<unknown>) {
  return sql`
    insert into credentials as v (migration_id, row, sealed, obtained_at, supplied_by, supersedes)
    select migration_id, row, sealed, obtained_at, supplied_by, supersedes from ${boxes}
    on conflict (migration_id, row) do update
    set sealed = excluded.sealed, obtained_at = excluded.obtained_at, supplied_by = excluded.supplied_by,
      supplied_at = now(), crossed_at = null, supersedes = v.supersedes or excluded.supersedes
    returning v.row`;
}

/**
 * Puts the credentials that were staged for a decision into use. Omits credentials of companies whose state no longer
 * allows this. Call this in the transaction that records the decision as applied.
 *
 * @returns the number of credentials that are now in use
 */
export async function acceptStaged(
  tx: Queryable,
  migrationId: string,
  { decisionId, replaces }: StagingDecision,
): Promise<number> {
  const { rows } = await sql<{ row: number }>`
    with accepting as (
      select s.* from staged_credentials s
      join companies c on c.migration_id = s.migration_id and c.row = s.row
      where s.migration_id = ${migrationId} and s.decision_id = ${decisionId} and s.supersedes = ${replaces}
        and ${acceptsCredential(replaces)}
      for update of c
    ) ${insertInUse(sql`accepting`)}`.execute(tx);
  if (rows.length > 0) await analyzeCredentials(tx);
  await discardStaged(tx, migrationId, decisionId);
  return rows.length;
}

/**
 * Says whether credentials of a decision are missing. `accepted`: some are missing, and companies without a staged
 * credential accept one, or the ledger has no companies. `not-accepted`: some are missing, but no such company accepts
 * one: the companies have moved or were left out, or the ledger has lost their rows.
 */
export type MissingCredentials = 'none' | 'accepted' | 'not-accepted';

/**
 * Returns whether credentials of a decision are missing.
 *
 * @param supply `areUsable` is false if the staged credentials do not match the decision. `references` names the
 *   companies of the decision. `supplied` is their number, for a decision that states only the number
 */
export async function findMissingCredentials(
  tx: Queryable,
  migrationId: string,
  { decisionId, replaces }: StagingDecision,
  supply: { readonly areUsable: boolean } & (
    | { readonly references: readonly string[] }
    | { readonly supplied: number }
  ),
): Promise<MissingCredentials> {
  const references = 'references' in supply ? supply.references : null;
  const supplied = 'supplied' in supply ? supply.supplied : null;
  const { missing } = await oneRow<{ missing: MissingCredentials }>(tx)`
    with staged as (
      select row from staged_credentials
      where migration_id = ${migrationId} and decision_id = ${decisionId} and supersedes = ${replaces}
        and ${supply.areUsable})
    select case
      when (select count(*) from staged) >= ${supplied}::integer then 'none'
      when exists (
        select from companies
        where migration_id = ${migrationId} and ${acceptsCredential(replaces)}
          and (${references}::text[] is null or reference = any(${references}::text[]))
          and row not in (select row from staged)) then 'accepted'
      when ${supplied}::integer is null then 'none'
      when exists (select from companies where migration_id = ${migrationId}) then 'not-accepted'
      else 'accepted' end as missing`;
  return missing;
}

/**
 * Returns the digest of the credentials that are staged for a decision (`domain/supply/sealed-digest.ts`). The sender
 * puts this digest into the decision. The transaction that records the decision computes the digest again, and refuses
 * the decision if the digests differ. During this transaction, no more credentials can be staged for the decision.
 */
export async function readStagedDigest(
  db: Queryable,
  migrationId: string,
  { decisionId, replaces }: StagingDecision,
): Promise<string> {
  const { rows } = await sql<{ reference: string; obtained_at: Date; boxHash: string }>`
    select c.reference, s.obtained_at, encode(sha256(s.sealed), 'hex') as "boxHash"
    from staged_credentials s
    join companies c on c.migration_id = s.migration_id and c.row = s.row
    where s.migration_id = ${migrationId} and s.decision_id = ${decisionId} and s.supersedes = ${replaces}`.execute(db);
  return credentialsDigest(rows.map(({ obtained_at, ...row }) => ({ ...row, obtainedAt: obtained_at.toISOString() })));
}

/** Counts the staged credentials of a decision whose companies already have a credential, which they would replace. */
export async function countReplacing(
  db: Queryable,
  migrationId: string,
  { decisionId, replaces }: StagingDecision,
): Promise<number> {
  const { companies } = await oneRow<{ companies: number }>(db)`
    select count(*)::integer as companies
    from staged_credentials s join credentials c on c.migration_id = s.migration_id and c.row = s.row
    where s.migration_id = ${migrationId} and s.decision_id = ${decisionId} and s.supersedes = ${replaces}`;
  return companies;
}

/** A credential that is staged for a decision. */
export interface StagedCredential {
  readonly row: number;
  readonly reference: string;
  readonly obtainedAt: Date;
  readonly sealed: Buffer;
}

/** Reads the credentials that are staged for a decision, in the order of the manifest, a group at a time. */
export function readStaged(
  db: Queryable,
  migrationId: string,
  { decisionId, replaces }: StagingDecision,
): AsyncGenerator<readonly StagedCredential[]> {
  return inPages('row', GROUP_SIZE, async (after) => {
    return allRows<StagedCredential>(db)`
      select s.row, c.reference, s.obtained_at as "obtainedAt", s.sealed
      from staged_credentials s
      join companies c on c.migration_id = s.migration_id and c.row = s.row
      where s.migration_id = ${migrationId} and s.decision_id = ${decisionId} and s.supersedes = ${replaces}
        and s.row > ${after}
      order by s.row limit ${GROUP_SIZE}`;
  });
}

/** Deletes the credentials that were staged for a decision. */
export async function discardStaged(tx: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await tx
    .deleteFrom('staged_credentials')
    .where('migration_id', '=', migrationId)
    .where('decision_id', '=', decisionId)
    .execute();
}
