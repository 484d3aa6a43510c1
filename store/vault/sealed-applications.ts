/**
 * Client secrets that clients have sealed for the application of their migration. A worker opens one once its decision
 * is recorded, and registers the application with the service.
 */
import { sql } from 'kysely';
import type { Queryable } from '../database/database';

/** The client's application, with its sealed client secret. */
export interface SealedApplication {
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
  readonly sealed: Buffer;
}

/** Stores a sealed client secret, which counts once the decision has been recorded as applied. Idempotent. */
export async function stageApplication(
  db: Queryable,
  migrationId: string,
  decisionId: string,
  { clientId, environment, sealed }: SealedApplication,
): Promise<void> {
  await db
    .insertInto('sealed_applications')
    .values({ migration_id: migrationId, decision_id: decisionId, client_id: clientId, environment, sealed })
    .onConflict((conflict) =>
      conflict.columns(['migration_id', 'decision_id']).doUpdateSet({ client_id: clientId, environment, sealed }),
    )
    .execute();
}

/**
 * Returns the application that the latest accepted decision supplied, if its client secret is sealed and not registered
 * yet; otherwise null. The decision's own words count: a box that was stored for another application is ignored.
 */
export async function readUnregisteredApplication(
  db: Queryable,
  migrationId: string,
): Promise<(SealedApplication & { readonly decisionId: string }) | null> {
  const { rows } = await sql<SealedApplication & { readonly decisionId: string }>`
    select s.decision_id as "decisionId", s.client_id as "clientId", s.environment, s.sealed
    from (
      select decision_id, content from decisions
      where migration_id = ${migrationId} and applied and verified and content ->> 'kind' = 'application-supplied'
      order by position desc limit 1) d
    join sealed_applications s on s.migration_id = ${migrationId} and s.decision_id = d.decision_id
      and s.client_id = d.content ->> 'clientId' and s.environment = d.content ->> 'environment'`.execute(db);
  return rows[0] ?? null;
}

/** Deletes a sealed client secret, because it is useless or its decision was refused. */
export async function discardSealedApplication(db: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await db
    .deleteFrom('sealed_applications')
    .where('migration_id', '=', migrationId)
    .where('decision_id', '=', decisionId)
    .execute();
}

/** Deletes the sealed client secrets of all recorded decisions, because the latest one is registered. */
export async function discardSealedApplications(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    delete from sealed_applications s using decisions d
    where s.migration_id = ${migrationId} and d.migration_id = s.migration_id and d.decision_id = s.decision_id`.execute(
    db,
  );
}
