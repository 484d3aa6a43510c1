/** Stores portal requests as the portal does, and waits for their answers. */
import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { bytesToSign } from '../../../domain/migration/signatures';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import type { RequestAnswer } from '../../../portal/contract';
import { RequestAnswerSchema } from '../../../portal/contract';
import type { SigningKey } from '../../../security';
import type { Database } from '../../../store';
import { createInvitation } from '../../../store';
import { until } from '../../support/async';

/** A person who has redeemed an invitation. */
export interface Guest {
  readonly db: Database;
  readonly invitation: string;
  readonly migrationId: string;
}

/** @param key a key that support has confirmed; null for a viewer */
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

/** Returns a decision as the browser sends it. `fields` replace the person's fields. */
export function signedDecision(key: SigningKey, migrationId: string, message: DecisionMessage, fields: object) {
  const content = {
    ...{ decisionId: randomUUID(), role: 'client' as const, by: key.by, signedAt: new Date().toISOString() },
    ...fields,
  };
  const value = key.sign(bytesToSign(migrationId, { message, content }));
  return { ...content, signature: { publicKey: key.publicKey, value } };
}

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
