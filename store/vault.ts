/**
 * The vault: where credentials lie sealed until they are used, and are then destroyed.
 *
 * Whoever supplies credentials seals them with the migration's public key and cannot open them again. Only a worker,
 * whose key provider unwraps the private key, can. Each is bound to its migration and row, so that rows cannot be
 * exchanged.
 */
import { sql } from 'kysely';
import type { CompanyState } from '../domain/company-state';
import type { FailureKind } from '../domain/failures';
import type { KeyProvider } from '../security';
import { createVaultKey, open, seal, Secret } from '../security';
import type { Database } from './database';

export type CredentialFields = Readonly<Record<string, string>>;

export interface SealedCredential {
  readonly reference: string;
  readonly fields: Secret<CredentialFields>;
  /** When the client's application last received it. ISO 8601. */
  readonly obtainedAt: string;
}

/** What became of supplied credentials, by reference. */
export interface Supplied {
  readonly stored: number;
  /** The migration has no such company. */
  readonly unknown: readonly string[];
  /** Its credential is in use or has been used: it is not replaced. */
  readonly crossed: readonly string[];
  /** Its company is not confirmed as disabled yet, or was confirmed after this was obtained. It may be dead by then. */
  readonly tooEarly: readonly string[];
}

/** Thrown when a migration has no vault: its workflow has not opened one yet, or it has been destroyed. */
export class VaultClosed extends Error {
  override readonly name = 'VaultClosed';
}

/** Gives the migration its key pair, unless it has one. Only a worker can: it wraps the private key. */
export async function openVault(db: Database, keys: KeyProvider, migrationId: string): Promise<void> {
  const existing = await readKey(db, migrationId);
  if (existing?.vault_public_key) return;
  const { publicKey, privateKey } = await createVaultKey();
  const { keyId, wrapped } = await keys.wrap(privateKey);
  await db
    .updateTable('migrations')
    .set({ vault_public_key: publicKey, vault_key_id: keyId, vault_wrapped_key: wrapped })
    .where('id', '=', migrationId)
    .where('vault_public_key', 'is', null)
    .where('vault_destroyed_at', 'is', null)
    .execute();
}

/**
 * Seals credentials and stores them: each of a company that is still waiting, replacing an older one, or of one whose
 * credential was no good, which is opened again.
 *
 * @throws VaultClosed
 */
export async function supplyCredentials(
  db: Database,
  migrationId: string,
  credentials: readonly SealedCredential[],
  suppliedBy: string,
): Promise<Supplied> {
  const key = await readKey(db, migrationId);
  if (!key?.vault_public_key) throw new VaultClosed(`migration ${migrationId} has no open vault`);
  const publicKey = key.vault_public_key;
  const rows = await rowsOf(db, migrationId, credentials);
  const unknown: string[] = [];
  const crossed: string[] = [];
  const tooEarly: string[] = [];
  const sealed: { row: number; reference: string; sealed: string; obtained_at: string }[] = [];
  for (const { reference, fields, obtainedAt } of credentials) {
    const company = rows.get(reference);
    if (!company) unknown.push(reference);
    else if (!takesCredential(company)) crossed.push(reference);
    else if (key.rotating && (!company.confirmed_at || new Date(obtainedAt) < company.confirmed_at))
      tooEarly.push(reference);
    else {
      const box = await seal(
        publicKey,
        Buffer.from(JSON.stringify(fields.reveal())),
        boundTo(migrationId, company.row),
      );
      sealed.push({ row: company.row, reference, sealed: box.toString('base64'), obtained_at: obtainedAt });
    }
  }
  const stored = await storeSealed(db, migrationId, sealed, suppliedBy);
  // Their companies were claimed while this was being sealed.
  crossed.push(...sealed.filter(({ row }) => !stored.has(row)).map(({ reference }) => reference));
  return { stored: stored.size, unknown, crossed, tooEarly };
}

async function storeSealed(
  db: Database,
  migrationId: string,
  sealed: readonly object[],
  suppliedBy: string,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ row: number }>`
    with supplied as (
      select * from jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb) as s (
        row integer, sealed text, obtained_at timestamptz)
    ), taking as (
      select c.migration_id, c.row from companies c
      join supplied s on s.row = c.row
      where c.migration_id = ${migrationId}
        and (c.state = 'waiting' or (c.state = 'failed' and c.failure = any(${[...REPLACEABLE]}::text[])))
      for update of c
    ), opened_again as (
      update companies c set state = 'waiting', failure = null, failure_text = null, not_before = null, evidence = null
      from taking where c.migration_id = taking.migration_id and c.row = taking.row and c.state = 'failed'
    )
    insert into credentials as v (migration_id, row, sealed, obtained_at, supplied_by)
    select taking.migration_id, taking.row, decode(supplied.sealed, 'base64'), supplied.obtained_at, ${suppliedBy}
    from taking join supplied on supplied.row = taking.row
    on conflict (migration_id, row) do update
    set sealed = excluded.sealed, obtained_at = excluded.obtained_at, supplied_by = excluded.supplied_by,
      supplied_at = now(), crossed_at = null
    returning v.row`.execute(db);
  return new Set(rows.map(({ row }) => row));
}

/** Failures of the credential itself: nothing of it is in use, and a good one opens the company again. */
const REPLACEABLE: ReadonlySet<string> = new Set<FailureKind>([
  'reauthorization-required',
  'wrong-organization',
  'credential-unreadable',
]);

function takesCredential({
  state,
  failure,
}: {
  readonly state: CompanyState;
  readonly failure: FailureKind | null;
}): boolean {
  return state === 'waiting' || (state === 'failed' && failure !== null && REPLACEABLE.has(failure));
}

/** Opens sealed credentials of one migration; it asks the key provider once, whatever their number. */
export interface VaultReader {
  open(row: number, sealed: Buffer): Promise<Secret<CredentialFields>>;
}

/**
 * @throws VaultClosed
 * @throws whatever the key provider throws when it lacks the key
 */
export async function readVault(db: Database, keys: KeyProvider, migrationId: string): Promise<VaultReader> {
  const key = await readKey(db, migrationId);
  if (!key?.vault_wrapped_key || !key.vault_key_id) {
    throw new VaultClosed(`migration ${migrationId} has no open vault`);
  }
  const privateKey = await keys.unwrap(key.vault_key_id, key.vault_wrapped_key);
  return {
    open: async (row, sealed) => {
      const plain = await open(privateKey, sealed, boundTo(migrationId, row));
      return new Secret(JSON.parse(plain.toString('utf8')) as CredentialFields);
    },
  };
}

/** Destroys what opens the migration's credentials, and the credentials that are left. */
export async function destroyVault(db: Database, migrationId: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    await tx.deleteFrom('credentials').where('migration_id', '=', migrationId).execute();
    await tx
      .updateTable('migrations')
      .set({
        vault_public_key: null,
        vault_key_id: null,
        vault_wrapped_key: null,
        vault_destroyed_at: sql<Date>`coalesce(vault_destroyed_at, clock_timestamp())`,
      })
      .where('id', '=', migrationId)
      .execute();
  });
}

/** Additional data of the sealing: what a credential is good for. */
function boundTo(migrationId: string, row: number): Buffer {
  return Buffer.from(`${migrationId}/${row}`);
}

async function readKey(db: Database, migrationId: string) {
  return db
    .selectFrom('migrations')
    .select(['rotating', 'vault_public_key', 'vault_key_id', 'vault_wrapped_key'])
    .where('id', '=', migrationId)
    .executeTakeFirst();
}

async function rowsOf(db: Database, migrationId: string, credentials: readonly SealedCredential[]) {
  const references = credentials.map(({ reference }) => reference);
  const rows = await db
    .selectFrom('companies')
    .select(['reference', 'row', 'state', 'failure', 'confirmed_at'])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`reference = any(${references})`)
    .execute();
  return new Map(rows.map((row) => [row.reference, row]));
}
