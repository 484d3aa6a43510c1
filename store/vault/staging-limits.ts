/**
 * Limits the amount of data that people stage for decisions, and deletes data that was staged for decisions that were
 * never recorded. Staged credentials and manifests take effect only after a decision about them is recorded. Without
 * limits, a person could therefore fill the disk without deciding anything.
 */
import { sql } from 'kysely';
import { oneRow, type Database, type Queryable } from '../database/database';

/** Thrown when a person, or all people of a migration, have staged too much. Nothing is then stored. */
export class StagingFull extends Error {
  override readonly name = 'StagingFull';
}

const MB = 1024 * 1024;
/** Bytes of sealed credentials that one person can stage: a fixed part, and a part for each company. */
const [CREDENTIAL_BYTES, CREDENTIAL_BYTES_PER_COMPANY] = [16 * MB, 4 * 1024];
/** Bytes of the parts of a manifest that one person can stage. 100,000 rows usually take 20 MB. */
const MANIFEST_BYTES = 64 * MB;
/** All people of a migration together can stage this many times the limit of one person. */
const TOTAL_FACTOR = 2;

interface Staging {
  readonly decisionId: string;
  readonly suppliedBy: string;
}

interface Staged {
  readonly byPerson: number;
  readonly inTotal: number;
  readonly limit: number;
}

/**
 * Asserts that the credentials that are staged for a migration are within the limits. If the person has staged too
 * much, first deletes the credentials that they have staged for other decisions. Call this in the transaction that has
 * staged credentials.
 *
 * @throws {StagingFull}
 */
export async function limitStagedCredentials(tx: Queryable, migrationId: string, staging: Staging): Promise<void> {
  const { decisionId, suppliedBy } = staging;
  const measure = (): Promise<Staged> =>
    oneRow<Staged>(tx)`
        select coalesce(sum(octet_length(sealed)) filter (where supplied_by = ${suppliedBy}), 0)::float8 as "byPerson",
          coalesce(sum(octet_length(sealed)), 0)::float8 as "inTotal",
          ${CREDENTIAL_BYTES}::float8 + ${CREDENTIAL_BYTES_PER_COMPANY}::float8
            * (select count(*) from companies where migration_id = ${migrationId}) as "limit"
        from staged_credentials where migration_id = ${migrationId}`;
  let staged = await measure();
  if (staged.byPerson > staged.limit) {
    await sql`
      delete from staged_credentials
      where migration_id = ${migrationId} and supplied_by = ${suppliedBy} and decision_id <> ${decisionId}`.execute(tx);
    staged = await measure();
  }
  assertWithin(staged);
}

/**
 * Asserts that the manifests that are staged for a migration are within the limits. Call this in the transaction that
 * has staged a part of a manifest.
 *
 * @throws {StagingFull}
 */
export async function limitStagedManifests(tx: Queryable, migrationId: string, suppliedBy: string): Promise<void> {
  const staged = await oneRow<Staged>(tx)`
      select coalesce(sum(bytes) filter (where supplied_by = ${suppliedBy}), 0)::float8 as "byPerson",
        coalesce(sum(bytes), 0)::float8 as "inTotal", ${MANIFEST_BYTES}::float8 as "limit"
      from staged_manifests where migration_id = ${migrationId}`;
  assertWithin(staged);
}

function assertWithin({ byPerson, inTotal, limit }: Staged): void {
  if (byPerson > limit || inTotal > TOTAL_FACTOR * limit)
    throw new StagingFull('too much supplied data is waiting for a decision');
}

/** Deletes data that was staged more than a day ago and about which no decision has been recorded. */
export async function deleteOldStaged(db: Database): Promise<void> {
  await sql`delete from staged_manifests where staged_at < clock_timestamp() - interval '1 day'`.execute(db);
  await sql`delete from staged_credentials where supplied_at < clock_timestamp() - interval '1 day'`.execute(db);
  await sql`
    delete from sealed_applications s
    where s.supplied_at < clock_timestamp() - interval '1 day' and not exists (
      select from decisions d where d.migration_id = s.migration_id and d.decision_id = s.decision_id)`.execute(db);
}
