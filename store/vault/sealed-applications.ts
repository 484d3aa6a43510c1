/**
 * Client secrets that clients have sealed for the application of their migration. Once the decision that supplies the
 * application is recorded, a worker opens the client secret and registers the application with the service.
 */
import { sql } from 'kysely';
import { applicationDigest, hashOfBox } from '../../domain/supply/sealed-digest';
import type { Database, Queryable } from '../database/database';
import { delayRecording, isUnrecorded } from '../migrations/audit-trail';

/** The client's application, with its sealed client secret. */
export interface SealedApplication {
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
  readonly sealed: Buffer;
}

/**
 * Stores a sealed client secret, which must not be used before the decision has been recorded as applied. Does nothing
 * if the decision is recorded already. Idempotent.
 */
export async function stageApplication(
  db: Database,
  migrationId: string,
  decisionId: string,
  { clientId, environment, sealed }: SealedApplication,
): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await delayRecording(tx, migrationId);
    await sql`
      insert into sealed_applications (migration_id, decision_id, client_id, environment, sealed)
      select ${migrationId}, ${decisionId}, ${clientId}, ${environment}, ${sealed}::bytea
      where ${isUnrecorded(migrationId, decisionId)}
      on conflict (migration_id, decision_id) do update
      set client_id = excluded.client_id, environment = excluded.environment, sealed = excluded.sealed`.execute(tx);
  });
}

/** Returns the digest of the application that is staged for a decision; null if there is none. */
export async function readStagedApplicationDigest(
  db: Queryable,
  migrationId: string,
  decisionId: string,
): Promise<string | null> {
  const row = await db
    .selectFrom('sealed_applications')
    .select(['client_id', 'environment', 'sealed'])
    .where('migration_id', '=', migrationId)
    .where('decision_id', '=', decisionId)
    .executeTakeFirst();
  if (!row) return null;
  const { client_id: clientId, environment, sealed } = row;
  return sealedApplicationDigest({ clientId, environment, sealed });
}

/** Returns the digest that a decision about this application must contain. */
export function sealedApplicationDigest({
  clientId,
  environment,
  sealed,
}: Omit<SealedApplication, 'environment'> & { readonly environment: string }): string {
  return applicationDigest({ clientId, environment, boxHash: hashOfBox(sealed) });
}

/**
 * Returns the application that the latest applied decision supplied, if its client secret is sealed and not registered
 * yet; otherwise null. Ignores a client secret that was stored for another application than the decision's, or that
 * does not match the digest in the decision.
 */
export async function readUnregisteredApplication(
  db: Queryable,
  migrationId: string,
): Promise<(SealedApplication & { readonly decisionId: string }) | null> {
  const { rows } = await sql<SealedApplication & { readonly decisionId: string; readonly signed: string | null }>`
    select s.decision_id as "decisionId", s.client_id as "clientId", s.environment, s.sealed,
      d.content ->> 'sealedDigest' as signed
    from (
      select decision_id, content from decisions
      where migration_id = ${migrationId} and applied and verified and content ->> 'kind' = 'application-supplied'
      order by position desc limit 1) d
    join sealed_applications s on s.migration_id = ${migrationId} and s.decision_id = d.decision_id
      and s.client_id = d.content ->> 'clientId' and s.environment = d.content ->> 'environment'`.execute(db);
  const [found] = rows;
  if (!found) return null;
  const { signed, ...application } = found;
  return signed === null || signed === sealedApplicationDigest(application) ? application : null;
}

/** Deletes a sealed client secret, because it cannot be registered or its decision was refused. */
export async function discardSealedApplication(db: Queryable, migrationId: string, decisionId: string): Promise<void> {
  await db
    .deleteFrom('sealed_applications')
    .where('migration_id', '=', migrationId)
    .where('decision_id', '=', decisionId)
    .execute();
}

/** Deletes the client secrets of recorded decisions, once the application of the latest one is registered. */
export async function discardSealedApplications(db: Queryable, migrationId: string): Promise<void> {
  await sql`
    delete from sealed_applications s using decisions d
    where s.migration_id = ${migrationId} and d.migration_id = s.migration_id and d.decision_id = s.decision_id`.execute(
    db,
  );
}
