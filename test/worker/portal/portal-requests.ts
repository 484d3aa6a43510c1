/** Stores portal requests as the portal does, waits for their answers, and reads the data that the portal shows. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { bytesToSign } from '../../../domain/migration/signatures';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { RequestAnswerSchema, type RequestAnswer } from '../../../portal/contract/requests';
import { MigrationViewSchema, type MigrationView } from '../../../portal/contract/migration-view';
import { createSigningKey, parseSigningKey, Secret, type SigningKey } from '../../../security';
import { createInvitation, readTrail, type Database } from '../../../store';
import { until } from '../../support/async';
import type { Orchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';

export const CLEO = parseSigningKey(new Secret(createSigningKey('Cleo')));
/** A key with Cleo's name that does not belong to Cleo. */
export const CLIO = parseSigningKey(new Secret(createSigningKey('Cleo')));

/** A person who has redeemed an invitation. */
export interface Guest {
  readonly db: Database;
  readonly invitation: string;
  readonly migrationId: string;
}

/**
 * Creates an invitation that its person has already redeemed.
 *
 * @param key a key that support has confirmed; null for a viewer
 */
export async function invited(
  db: Database,
  migrationId: string,
  person: string,
  key: SigningKey | null,
): Promise<Guest> {
  const role = key === null ? 'viewer' : 'client';
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { id } = await createInvitation(db, {
    ...{ migrationId, person, role, email: null, createdBy: 'Sam', expiresAt },
  });
  await sql`
    update portal_invitations set redeemed_at = now(), public_key = ${key?.publicKey ?? null}, key_confirmed_at = now() where id = ${id}`.execute(
    db,
  );
  return { db, invitation: id, migrationId };
}

/** Starts a migration, and invites Cleo to it. */
export async function startWithGuest(
  orchestrator: Orchestrator,
  client: string,
  credentials: readonly string[] = [`sbx-ok-1.${client}`],
) {
  const { db } = orchestrator.ferry;
  const migration = await startTestMigration(orchestrator, client, credentials);
  await migration.until(({ preflight }) => preflight !== null);
  return { db, migration, guest: await invited(db, migration.id, 'Cleo', CLEO) };
}

/** Returns a decision as the browser sends it. `fields` add to the default fields or replace them. */
export function signedDecision(key: SigningKey, migrationId: string, message: DecisionMessage, fields: object) {
  const content = {
    ...{ decisionId: randomUUID(), role: 'client' as const, by: key.by, signedAt: new Date().toISOString() },
    ...fields,
  };
  const value = key.sign(bytesToSign(migrationId, { message, content }));
  return { ...content, signature: { publicKey: key.publicKey, value } };
}

/** Returns the body of a request to decide. */
export const decision = (
  { id }: { readonly id: string },
  message: DecisionMessage,
  fields: object,
  key: SigningKey = CLEO,
) => ({ message, decision: signedDecision(key, id, message, fields) });

export async function submit({ db, invitation, migrationId }: Guest, kind: string, body: object): Promise<string> {
  const id = randomUUID();
  const text = JSON.stringify(body);
  await sql`
    insert into portal_requests (id, invitation_id, migration_id, kind, body, bytes)
    values (${id}, ${invitation}, ${migrationId}, ${kind}, ${text}::jsonb, ${text.length})`.execute(db);
  return id;
}

export async function readAnswer(db: Database, id: string): Promise<RequestAnswer | null> {
  const row = await db.selectFrom('portal_requests').select('answer').where('id', '=', id).executeTakeFirstOrThrow();
  return row.answer === null ? null : RequestAnswerSchema.parse(row.answer);
}

/** Stores a request, and waits for its answer. */
export async function ask(guest: Guest, kind: string, body: object): Promise<RequestAnswer> {
  const id = await submit(guest, kind, body);
  let answer: RequestAnswer | null = null;
  await until(async () => (answer = await readAnswer(guest.db, id)) !== null);
  if (answer === null) throw new Error('there is no answer');
  return answer;
}

/** Returns the view that a worker has written for the page; null if there is none yet. */
export async function readView(db: Database, migrationId: string): Promise<MigrationView | null> {
  const row = await db
    .selectFrom('portal_views')
    .select('view')
    .where('migration_id', '=', migrationId)
    .executeTakeFirst();
  return row?.view == null ? null : MigrationViewSchema.parse(row.view);
}

/** Returns the kinds of the decisions in the audit trail. */
export async function recordedKinds(db: Database, migrationId: string): Promise<readonly string[]> {
  const kinds: string[] = [];
  for await (const record of readTrail(db, migrationId)) kinds.push(record.decision.kind);
  return kinds;
}
