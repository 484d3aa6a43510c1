/**
 * Supplies credentials: seals credentials that arrive in plain text, and stores the sealed boxes. Credentials that come
 * with a decision are staged, and do not count before the ledger has recorded the decision as applied.
 */
import { sql } from 'kysely';
import { isObtainedTooEarly } from '../../domain/companies/credential-state';
import { inChunks, type Stream } from '../../domain/text/streams';
import { createSealer, sealCredential, type Secret } from '../../security';
import type { Database } from '../database/database';
import { analyzeCredentials } from '../database/statistics';
import { delayRecording, isUnrecorded } from '../migrations/audit-trail';
import { acceptsCredential, insertInUse, type StagingDecision } from './staged-credentials';
import { limitStagedCredentials } from './staging-limits';
import type { CredentialFields } from './vault';
import { readSealingKey } from './vault-keys';

/** A credential before it is sealed. */
export interface SuppliedCredential {
  /** The client's reference for the company. */
  readonly reference: string;
  readonly fields: Secret<CredentialFields>;
  /** When the client's application last received the credential. ISO 8601. */
  readonly obtainedAt: string;
}

/** A credential that was not obtained after the confirmation. Both times are ISO 8601, UTC. */
export interface TooEarly {
  readonly reference: string;
  readonly obtainedAt: string;
  /** Null if the client has not confirmed that syncing is off for the company. */
  readonly confirmedAt: string | null;
}

/** A credential that the client has sealed with the migration key. */
export interface SealedCredential {
  /** The client's reference for the company. */
  readonly reference: string;
  /** ISO 8601 in UTC, with milliseconds. The box is bound to it. */
  readonly obtainedAt: string;
  readonly sealed: Buffer;
}

/** The references of the supplied credentials, by outcome. */
export interface SupplyResult {
  readonly stored: readonly string[];
  /** Not stored, because the migration has no company with this reference. */
  readonly unknown: readonly string[];
  /** Not stored, because the state of the company does not allow it, or the decision has already been recorded. */
  readonly wrongState: readonly string[];
  /**
   * Not stored, because the platform rotates tokens and the credential was not obtained after the confirmation. Until
   * the confirmation, the client's application can refresh the token, which makes the credential unusable.
   */
  readonly obtainedTooEarly: readonly TooEarly[];
}

/**
 * Seals and stores the credentials that `ferry start` supplies for companies that are waiting to be moved. These
 * credentials are not staged, because they belong to no decision that must be recorded first. Replaces a credential
 * that was supplied earlier for the same company.
 *
 * @param provider fingerprint of the provider that must have signed the public key; undefined if the signature is not
 * checked
 * @throws {VaultClosed | VaultKeyMismatch | VaultKeyNotSigned | VaultKeyAltered}
 */
export async function supplyCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential>,
  suppliedBy: string,
  provider?: string,
): Promise<SupplyResult> {
  const rule = { supersedes: false, decisionId: null, provider, isLimited: false } as const;
  return sealAndStore(db, migrationId, credentials, suppliedBy, rule);
}

/**
 * Seals credentials, unless the client has sealed them, and stores them apart from the credentials in use. They do not
 * count before the ledger has recorded the decision as applied (`acceptStaged`). If the ledger refuses the decision,
 * they are deleted (`discardStaged`). Nothing can be staged for a decision that has already been recorded.
 *
 * @throws {VaultClosed | VaultKeyMismatch | VaultKeyNotSigned | VaultKeyAltered | StagingFull}
 */
export async function stageCredentials(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential | SealedCredential>,
  suppliedBy: string,
  { decisionId, replaces, provider, isLimited = false }: StagingDecision & StagingOptions,
): Promise<SupplyResult> {
  const rule = { supersedes: replaces, decisionId, provider, isLimited };
  return sealAndStore(db, migrationId, credentials, suppliedBy, rule);
}

interface StagingOptions extends TrustedProvider {
  /** True if the amount that the person can stage is limited: see `staging-limits.ts`. Default: false. */
  readonly isLimited?: boolean;
}

interface TrustedProvider {
  /** Fingerprint of the provider that must have signed the public key. Absent: not checked. */
  readonly provider?: string | undefined;
}

interface SupplyRule extends TrustedProvider {
  /** True if the credential replaces a credential that the service might have accepted. */
  readonly supersedes: boolean;
  /** The decision that the credential waits for; null if the credential is not staged. */
  readonly decisionId: string | null;
  readonly isLimited: boolean;
}

type GrowingSupplyResult = { readonly [Each in keyof SupplyResult]: SupplyResult[Each][number][] };

export function emptySupplyResult(): GrowingSupplyResult {
  return { stored: [], unknown: [], wrongState: [], obtainedTooEarly: [] };
}

export function addSupplyResult(to: GrowingSupplyResult, added: SupplyResult): void {
  to.stored.push(...added.stored);
  to.unknown.push(...added.unknown);
  to.wrongState.push(...added.wrongState);
  to.obtainedTooEarly.push(...added.obtainedTooEarly);
}

const GROUP_SIZE = 1_000;

async function sealAndStore(
  db: Database,
  migrationId: string,
  credentials: Stream<SuppliedCredential | SealedCredential>,
  suppliedBy: string,
  rule: SupplyRule,
): Promise<SupplyResult> {
  const supplied = emptySupplyResult();
  for await (const group of inChunks(credentials, GROUP_SIZE)) {
    addSupplyResult(supplied, await sealAndStoreGroup(db, migrationId, group, suppliedBy, rule));
  }
  return supplied;
}

async function sealAndStoreGroup(
  db: Database,
  migrationId: string,
  credentials: readonly (SuppliedCredential | SealedCredential)[],
  suppliedBy: string,
  rule: SupplyRule,
): Promise<SupplyResult> {
  const key = await readSealingKey(db, migrationId, rule.provider);
  const seal = createSealer(key.publicKey, migrationId);
  const rows = await rowsOf(
    db,
    migrationId,
    credentials.map(({ reference }) => reference),
    rule,
  );
  const unknown: string[] = [];
  const wrongState: string[] = [];
  const obtainedTooEarly: TooEarly[] = [];
  const sealed: { row: number; reference: string; sealed: string; obtained_at: string }[] = [];
  for (const credential of credentials) {
    const { reference } = credential;
    const obtainedAt = new Date(credential.obtainedAt);
    const company = rows.get(reference);
    if (!company) unknown.push(reference);
    else if (!company.accepts) wrongState.push(reference);
    else if (key.rotating && isObtainedTooEarly(obtainedAt, company.confirmed_at))
      obtainedTooEarly.push({
        ...{ reference, obtainedAt: obtainedAt.toISOString() },
        confirmedAt: company.confirmed_at?.toISOString() ?? null,
      });
    else {
      const box = 'sealed' in credential ? credential.sealed : sealCredential(seal, migrationId, credential);
      const [row, obtained_at] = [company.row, obtainedAt.toISOString()];
      sealed.push({ row, reference, sealed: box.toString('base64'), obtained_at });
    }
  }
  const stored = await storeSealed(db, migrationId, sealed, suppliedBy, rule);
  const isStored = ({ row }: { readonly row: number }): boolean => stored.has(row);
  // The state of these companies changed while their credentials were being sealed, or the decision has been recorded.
  wrongState.push(...sealed.filter((each) => !isStored(each)).map(({ reference }) => reference));
  return { stored: sealed.filter(isStored).map(({ reference }) => reference), unknown, wrongState, obtainedTooEarly };
}

async function storeSealed(
  db: Database,
  migrationId: string,
  sealed: readonly object[],
  suppliedBy: string,
  { supersedes, decisionId, isLimited }: SupplyRule,
): Promise<ReadonlySet<number>> {
  const accepting = sql`
    with supplied as (
      select * from jsonb_to_recordset(${JSON.stringify(sealed)}::jsonb) as s (
        row integer, sealed text, obtained_at timestamptz)
    ), accepting as (
      select c.migration_id, c.row from companies c
      join supplied s on s.row = c.row
      where c.migration_id = ${migrationId} and ${acceptsCredential(supersedes)}
      for update of c
    ), boxes as (
      select accepting.migration_id, accepting.row, decode(supplied.sealed, 'base64') as sealed, supplied.obtained_at,
        ${suppliedBy}::text as supplied_by, ${supersedes}::boolean as supersedes
      from accepting join supplied on supplied.row = accepting.row
    )`;
  if (decisionId === null) {
    const { rows } = await sql<{ row: number }>`${accepting} ${insertInUse(sql`boxes`)}`.execute(db);
    await analyzeCredentials(db);
    return new Set(rows.map(({ row }) => row));
  }
  return db.transaction().execute(async (tx) => {
    await delayRecording(tx, migrationId);
    const { rows } = await sql<{ row: number }>`${accepting}
      insert into staged_credentials as v (migration_id, row, sealed, obtained_at, supplied_by, supersedes, decision_id)
      select boxes.*, ${decisionId}::text from boxes where ${isUnrecorded(migrationId, decisionId)}
      on conflict (migration_id, row, decision_id) do update
      set sealed = excluded.sealed, obtained_at = excluded.obtained_at, supplied_by = excluded.supplied_by,
        supplied_at = excluded.supplied_at
      returning v.row`.execute(tx);
    if (isLimited) await limitStagedCredentials(tx, migrationId, { decisionId, suppliedBy });
    return new Set(rows.map(({ row }) => row));
  });
}

async function rowsOf(db: Database, migrationId: string, references: readonly string[], { supersedes }: SupplyRule) {
  const rows = await db
    .selectFrom('companies')
    .select(['reference', 'row', 'confirmed_at', acceptsCredential(supersedes).as('accepts')])
    .where('migration_id', '=', migrationId)
    .where(sql<boolean>`reference = any(${references})`)
    .execute();
  return new Map(rows.map((row) => [row.reference, row]));
}
