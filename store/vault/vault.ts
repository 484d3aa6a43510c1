/**
 * The vault: where credentials lie sealed until they are used, and are then destroyed.
 *
 * Whoever supplies credentials seals them with the migration's public key and cannot open them again. Only a worker,
 * whose key provider unwraps the private key, can. Each is bound to its migration and row, so that rows cannot be
 * exchanged.
 */
import { sql } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import { COMPANY_STATES } from '../../domain/companies/company-state';
import type { Stream } from '../../domain/text/groups';
import { inGroups } from '../../domain/text/groups';
import { remediesFor } from '../../domain/companies/remedies';
import type { KeyProvider } from '../../security';
import { createVaultKey, openerFor, seal, Secret } from '../../security';
import type { Database } from '../database/database';

export type CredentialFields = Readonly<Record<string, string>>;

export interface SealedCredential {
  readonly reference: string;
  readonly fields: Secret<CredentialFields>;
  /** When the client's application last received it. ISO 8601. */
  readonly obtainedAt: string;
}

/** What became of supplied credentials, by reference. */
export interface Supplied {
  readonly stored: readonly string[];
  /** The migration has no such company. */
  readonly unknown: readonly string[];
  /** Its company is not where it takes a credential in this way: it has gone on, or has not come so far. */
  readonly elsewhere: readonly string[];
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
 * Seals credentials and stores them: each of a company that is still waiting, replacing an older one.
 *
 * @throws VaultClosed
 */
export async function supplyCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SealedCredential>,
  suppliedBy: string,
): Promise<Supplied> {
  return sealAndStore(db, migrationId, credentials, suppliedBy, { states: ['waiting'], supersedes: false });
}

/**
 * Seals credentials and stores them in the place of those of companies that were not moved. They stay what they are
 * until somebody has decided that they are moved with these.
 *
 * @throws VaultClosed
 */
export async function replaceCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SealedCredential>,
  suppliedBy: string,
): Promise<Supplied> {
  const states = COMPANY_STATES.filter((state) => remediesFor({ ...ANY, state }).includes('replace-credential'));
  return sealAndStore(db, migrationId, credentials, suppliedBy, { states, supersedes: true });
}

/** Which credential was at fault does not matter: support decides. */
const ANY = { failure: null, linkUrl: null, heldBack: null };

interface Taking {
  /** Companies in these states take a credential. */
  readonly states: readonly CompanyState[];
  readonly supersedes: boolean;
}

const SEALED_AT_ONCE = 1_000;

async function sealAndStore(
  db: Database,
  migrationId: string,
  credentials: Stream<SealedCredential>,
  suppliedBy: string,
  taking: Taking,
): Promise<Supplied> {
  const supplied = { stored: [], unknown: [], elsewhere: [], tooEarly: [] } as Record<keyof Supplied, string[]>;
  for await (const group of inGroups(credentials, SEALED_AT_ONCE)) {
    const became = await sealAndStoreGroup(db, migrationId, group, suppliedBy, taking);
    for (const each of ['stored', 'unknown', 'elsewhere', 'tooEarly'] as const) supplied[each].push(...became[each]);
  }
  return supplied;
}

async function sealAndStoreGroup(
  db: Database,
  migrationId: string,
  credentials: readonly SealedCredential[],
  suppliedBy: string,
  taking: Taking,
): Promise<Supplied> {
  const key = await readKey(db, migrationId);
  if (!key?.vault_public_key) throw new VaultClosed(`migration ${migrationId} has no open vault`);
  const publicKey = key.vault_public_key;
  const rows = await rowsOf(db, migrationId, credentials);
  const unknown: string[] = [];
  const elsewhere: string[] = [];
  const tooEarly: string[] = [];
  const sealed: { row: number; reference: string; sealed: string; obtained_at: string }[] = [];
  for (const { reference, fields, obtainedAt } of credentials) {
    const company = rows.get(reference);
    if (!company) unknown.push(reference);
    else if (!taking.states.includes(company.state)) elsewhere.push(reference);
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
  const taken = await storeSealed(db, migrationId, sealed, suppliedBy, taking);
  const isStored = ({ row }: { readonly row: number }): boolean => taken.has(row);
  // Their companies went on while this was being sealed.
  elsewhere.push(...sealed.filter((each) => !isStored(each)).map(({ reference }) => reference));
  return { stored: sealed.filter(isStored).map(({ reference }) => reference), unknown, elsewhere, tooEarly };
}

async function storeSealed(
  db: Database,
  migrationId: string,
  sealed: readonly object[],
  suppliedBy: string,
  { states, supersedes }: Taking,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ row: number }>`
    with supplied as (
      select * from jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb) as s (
        row integer, sealed text, obtained_at timestamptz)
    ), taking as (
      select c.migration_id, c.row from companies c
      join supplied s on s.row = c.row
      where c.migration_id = ${migrationId} and c.state = any(${[...states]}::text[])
      for update of c
    )
    insert into credentials as v (migration_id, row, sealed, obtained_at, supplied_by, supersedes)
    select taking.migration_id, taking.row, decode(supplied.sealed, 'base64'), supplied.obtained_at, ${suppliedBy},
      ${supersedes}
    from taking join supplied on supplied.row = taking.row
    on conflict (migration_id, row) do update
    set sealed = excluded.sealed, obtained_at = excluded.obtained_at, supplied_by = excluded.supplied_by,
      supplied_at = now(), crossed_at = null, supersedes = v.supersedes or excluded.supersedes
    returning v.row`.execute(db);
  return new Set(rows.map(({ row }) => row));
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
  if (!key?.vault_public_key || !key.vault_wrapped_key || !key.vault_key_id) {
    throw new VaultClosed(`migration ${migrationId} has no open vault`);
  }
  const privateKey = await keys.unwrap(key.vault_key_id, key.vault_wrapped_key);
  const open = await openerFor({ publicKey: key.vault_public_key, privateKey });
  return {
    open: async (row, sealed) => {
      const plain = await open(sealed, boundTo(migrationId, row));
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
    .select(['reference', 'row', 'state', 'confirmed_at'])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`reference = any(${references})`)
    .execute();
  return new Map(rows.map((row) => [row.reference, row]));
}
