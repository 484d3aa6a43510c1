/**
 * The vault stores sealed credentials until their companies have moved or the migration ends.
 *
 * Each migration has its own key pair. `ferry credentials` seals credentials with the public key, and cannot open them.
 * The private key is stored wrapped (encrypted) by a master key and by the vault's own secret, which workers keep outside
 * Postgres, so a copy of the database is not sufficient to open credentials.
 *
 * A sealed credential is bound to its migration and row, so a copy in another row cannot be opened. Its row is deleted
 * when its company has moved. When the migration ends, `destroyVault` erases the vault's secret and deletes the rest.
 * Postgres may keep copies of deleted rows, in its files, log and backups, but from then on nobody can open them.
 */
import { sql } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import { COMPANY_STATES } from '../../domain/companies/company-state';
import type { Stream } from '../../domain/text/streams';
import { inChunks } from '../../domain/text/streams';
import { remediesFor } from '../../domain/companies/remedies';
import type { KeyProvider } from '../../security';
import { createOpener, seal, Secret } from '../../security';
import type { Database, Queryable } from '../database/database';
import { readKey, unwrapKey, VaultClosed } from './vault-keys';

export type CredentialFields = Readonly<Record<string, string>>;

/** A credential before it is sealed. */
export interface SuppliedCredential {
  /** The client's reference for the company. */
  readonly reference: string;
  readonly fields: Secret<CredentialFields>;
  /** When the client's application last received the credential. ISO 8601. */
  readonly obtainedAt: string;
}

/** The references of the supplied credentials, by outcome. */
export interface SupplyResult {
  readonly stored: readonly string[];
  /** Not stored, because the migration has no company with this reference. */
  readonly unknown: readonly string[];
  /** Not stored, because the state of the company does not allow it. */
  readonly wrongState: readonly string[];
  /**
   * Not stored, because the platform rotates tokens and the credential was not obtained after the confirmation. The
   * client's application might have used the token since, which invalidates it.
   */
  readonly obtainedTooEarly: readonly string[];
}

/**
 * Seals and stores credentials of companies that are waiting to be moved. A newer credential replaces an older one.
 *
 * @throws {VaultClosed}
 * @throws {VaultKeyMismatch} when the stored public key is invalid
 */
export async function supplyCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential>,
  suppliedBy: string,
): Promise<SupplyResult> {
  return sealAndStore(db, migrationId, credentials, suppliedBy, { states: ['waiting'], supersedes: false });
}

/**
 * Seals and stores new credentials of companies that were not moved or whose outcome is unknown. The companies keep
 * their state until a decision to retry them with the new credentials.
 *
 * @throws {VaultClosed}
 * @throws {VaultKeyMismatch} when the stored public key is invalid
 */
export async function replaceCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential>,
  suppliedBy: string,
): Promise<SupplyResult> {
  const states = COMPANY_STATES.filter((state) =>
    remediesFor({ ...ANY_FAILURE, state }).includes('replace-credential'),
  );
  return sealAndStore(db, migrationId, credentials, suppliedBy, { states, supersedes: true });
}

/** Placeholders, because only the state decides whether a credential can be replaced. */
const ANY_FAILURE = { failure: null, linkUrl: null, heldBack: null, deferred: false };

interface SupplyRule {
  /** States in which a company accepts the credential. */
  readonly states: readonly CompanyState[];
  /** True if the credential replaces a credential that the service might have accepted. */
  readonly supersedes: boolean;
}

const GROUP_SIZE = 1_000;

async function sealAndStore(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential>,
  suppliedBy: string,
  rule: SupplyRule,
): Promise<SupplyResult> {
  const supplied = { stored: [], unknown: [], wrongState: [], obtainedTooEarly: [] } as Record<
    keyof SupplyResult,
    string[]
  >;
  for await (const group of inChunks(credentials, GROUP_SIZE)) {
    const outcome = await sealAndStoreGroup(db, migrationId, group, suppliedBy, rule);
    for (const each of ['stored', 'unknown', 'wrongState', 'obtainedTooEarly'] as const)
      supplied[each].push(...outcome[each]);
  }
  return supplied;
}

async function sealAndStoreGroup(
  db: Database,
  migrationId: string,
  credentials: readonly SuppliedCredential[],
  suppliedBy: string,
  rule: SupplyRule,
): Promise<SupplyResult> {
  const key = await readKey(db, migrationId);
  if (!key?.vault_public_key) throw new VaultClosed(`migration ${migrationId} has no open vault`);
  const publicKey = key.vault_public_key;
  const rows = await rowsOf(db, migrationId, credentials);
  const unknown: string[] = [];
  const wrongState: string[] = [];
  const obtainedTooEarly: string[] = [];
  const sealed: { row: number; reference: string; sealed: string; obtained_at: string }[] = [];
  for (const { reference, fields, obtainedAt } of credentials) {
    const company = rows.get(reference);
    if (!company) unknown.push(reference);
    else if (!rule.states.includes(company.state)) wrongState.push(reference);
    else if (key.rotating && (!company.confirmed_at || new Date(obtainedAt) < company.confirmed_at))
      obtainedTooEarly.push(reference);
    else {
      const box = await seal(
        publicKey,
        Buffer.from(JSON.stringify(fields.reveal())),
        bindingOf(migrationId, company.row),
      );
      sealed.push({ row: company.row, reference, sealed: box.toString('base64'), obtained_at: obtainedAt });
    }
  }
  const stored = await storeSealed(db, migrationId, sealed, suppliedBy, rule);
  const isStored = ({ row }: { readonly row: number }): boolean => stored.has(row);
  // The state of these companies changed while their credentials were being sealed.
  wrongState.push(...sealed.filter((each) => !isStored(each)).map(({ reference }) => reference));
  return { stored: sealed.filter(isStored).map(({ reference }) => reference), unknown, wrongState, obtainedTooEarly };
}

async function storeSealed(
  db: Database,
  migrationId: string,
  sealed: readonly object[],
  suppliedBy: string,
  { states, supersedes }: SupplyRule,
): Promise<ReadonlySet<number>> {
  const { rows } = await sql<{ row: number }>`
    with supplied as (
      select * from jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb) as s (
        row integer, sealed text, obtained_at timestamptz)
    ), accepting as (
      select c.migration_id, c.row from companies c
      join supplied s on s.row = c.row
      where c.migration_id = ${migrationId} and c.state = any(${[...states]}::text[])
      for update of c
    )
    insert into credentials as v (migration_id, row, sealed, obtained_at, supplied_by, supersedes)
    select accepting.migration_id, accepting.row, decode(supplied.sealed, 'base64'), supplied.obtained_at, ${suppliedBy},
      ${supersedes}
    from accepting join supplied on supplied.row = accepting.row
    on conflict (migration_id, row) do update
    set sealed = excluded.sealed, obtained_at = excluded.obtained_at, supplied_by = excluded.supplied_by,
      supplied_at = now(), crossed_at = null, supersedes = v.supersedes or excluded.supersedes
    returning v.row`.execute(db);
  return new Set(rows.map(({ row }) => row));
}

/** Opens sealed credentials of one migration. */
export interface VaultReader {
  /** @throws {SealBroken} when the credential was altered, or was sealed for another migration or row */
  open(row: number, sealed: Buffer): Promise<Secret<CredentialFields>>;
}

/**
 * Unwraps the migration's private key once, and returns a reader that opens its credentials.
 *
 * @throws {VaultClosed}
 * @throws {UnknownMasterKey} when the provider does not have the master key that wrapped the private key
 * @throws {VaultSecretMissing} when the vault's secret was lost
 * @throws {VaultSecretElsewhere} when the provider does not have the place where the vault's secret is stored
 * @throws {WrappedKeyBroken} when the stored private key was altered
 * @throws {VaultKeyMismatch} when the stored public key does not belong to the private key
 */
export async function readVault(db: Queryable, keys: KeyProvider, migrationId: string): Promise<VaultReader> {
  const open = await createOpener(await unwrapKey(db, keys, migrationId));
  return {
    open: async (row, sealed) => {
      const plain = await open(sealed, bindingOf(migrationId, row));
      return new Secret(JSON.parse(plain.toString('utf8')) as CredentialFields);
    },
  };
}

/** Returns the additional authenticated data that binds a sealed credential to its migration and row. */
function bindingOf(migrationId: string, row: number): Buffer {
  return Buffer.from(`${migrationId}/${row}`);
}

async function rowsOf(db: Database, migrationId: string, credentials: readonly SuppliedCredential[]) {
  const references = credentials.map(({ reference }) => reference);
  const rows = await db
    .selectFrom('companies')
    .select(['reference', 'row', 'state', 'confirmed_at'])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`reference = any(${references})`)
    .execute();
  return new Map(rows.map((row) => [row.reference, row]));
}
