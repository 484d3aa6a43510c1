/** Reads the companies of a migration, in the order of the manifest. A filter can select some of them. */
import { sql, type RawBuilder } from 'kysely';
import type { CompanyState } from '../../domain/companies/company-state';
import type { CredentialState } from '../../domain/companies/credential-state';
import type { Evidence, SyncSchedule } from '../../domain/companies/evidence';
import type { FailureKind } from '../../domain/companies/failures';
import type { Database, Queryable } from '../database/database';
import { inPages } from '../database/pages';
import { LACKS_CREDENTIAL } from './claim';
import { IS_DEFERRED, IS_EXCEPTION, IS_RETRIED } from './exceptions';
import { dependsOnReplaced } from '../migrations/applications';

export interface LedgerCompany {
  readonly row: number;
  readonly reference: string;
  readonly name: string;
  readonly organization: string;
  readonly wave: number | null;
  readonly expectedInvoices: number | null;
  readonly state: CompanyState;
  readonly confirmedAt: Date | null;
  /** Null if the company is not waiting, or if the migration has ended, because credentials are then deleted. */
  readonly credential: CredentialState | null;
  /** When a credential of the company first counted as handed over to the service; null if none did. */
  readonly crossedAt: Date | null;
  /** Time of the last send intent whose credential might have been used; null if there is none. */
  readonly sentAt: Date | null;
  /** True if the company existed at the service before the migration: the client supplied its id. */
  readonly existedBefore: boolean;
  readonly companyId: string | null;
  readonly connectionId: string | null;
  readonly storedName: string | null;
  readonly linkUrl: string | null;
  readonly movedAt: Date | null;
  readonly failure: FailureKind | null;
  readonly failureText: string | null;
  readonly correlationId: string | null;
  readonly evidence: readonly Evidence[] | null;
  readonly syncSchedule: SyncSchedule | null;
  /** The person who excluded or skipped the company. */
  readonly leftOutBy: string | null;
  readonly leftOutReason: string | null;
  /** Why the company is held back, without the names of other clients; null if it is not. */
  readonly heldBack: string | null;
  /**
   * Why the company is held back, with the names of other clients, for support only. Null if the company is not held
   * back, or if the reason contains no such names.
   */
  readonly heldBackDetails: string | null;
  /** Number of times that an import of the company was tried. */
  readonly tries: number;
  /** True if the company is deferred (`IS_DEFERRED`), so retried automatically. False once the migration has ended. */
  readonly deferred: boolean;
  /** When the company is tried again; null if it is not deferred. */
  readonly retryAt: Date | null;
  /**
   * When a decision said that the company's end customer was sent the link to reconnect; null if no reconnection is
   * awaited, or if the migration has ended.
   */
  readonly relinkingSince: Date | null;
  /**
   * True if the application with which the company was connected was replaced later, so that the service can no longer
   * refresh the company's tokens. False once its end customer has reconnected.
   */
  readonly replacedApplication: boolean;
}

export interface CompanyFilter {
  readonly states?: readonly CompanyState[];
  readonly failure?: FailureKind;
  /** True: only companies whose end customer must reconnect. False: only other companies. */
  readonly mustReconnect?: boolean;
  /** Part of the reference, the name or the stored name, ignoring case and accents. */
  readonly search?: string;
  readonly row?: number;
  readonly reference?: string;
  readonly references?: readonly string[];
  readonly wave?: number;
  /** True: only companies that need attention (`IS_EXCEPTION`). False: only other companies. */
  readonly exceptions?: boolean;
  readonly deferred?: true;
  /** Only companies that were last connected with an application that was replaced later. */
  readonly replacedApplication?: true;
  /**
   * Only companies that are tried again and need nothing from anyone, for example after a retry. Does not include
   * deferred companies. Matches none if the migration has ended.
   */
  readonly retried?: true;
  /** Only confirmed, waiting companies that are not held back and have no credential that counts. */
  readonly withoutCredential?: true;
  /** Only waiting companies, confirmed or not, that are not held back and have no credential. */
  readonly credentialMissing?: true;
}

const HAS_ENDED = sql<boolean>`
  exists (select from migrations m where m.id = companies.migration_id and m.state = 'closed')`;

/** A deferred company of a migration that has not ended. */
const WILL_BE_RETRIED = sql<boolean>`(${IS_DEFERRED} and not ${HAS_ENDED})`;

/** The state of a waiting company's credential. `c`, `m` and `v` have the meaning that `LACKS_CREDENTIAL` requires. */
const CREDENTIAL = sql<CredentialState | null>`
  case when state = 'waiting' then (
    select case when v.row is null then 'missing' when ${LACKS_CREDENTIAL} then 'too-early' else 'supplied' end
    from migrations m
    cross join (values (companies.confirmed_at)) as c (confirmed_at)
    left join credentials v on v.migration_id = companies.migration_id and v.row = companies.row
    where m.id = companies.migration_id and m.state <> 'closed') end`;

/**
 * The condition that a company was tried before, is not deferred, and is tried again without anyone supplying anything.
 * Not true once the migration has ended.
 */
const WILL_BE_TRIED_AGAIN = sql<boolean>`
  (${IS_RETRIED} and confirmed_at is not null and ${CREDENTIAL} = 'supplied')`;

const WITHOUT_CREDENTIAL = sql<boolean>`
  (state = 'waiting' and held_back is null and confirmed_at is not null and ${CREDENTIAL} <> 'supplied')`;

const CREDENTIAL_MISSING = sql<boolean>`(state = 'waiting' and held_back is null and ${CREDENTIAL} = 'missing')`;

const MUST_RECONNECT = sql<boolean>`(failure is not distinct from 'reauthorization-required')`;

/** Yields companies in manifest order. Reads them in pages, because a migration can have any number of companies. */
export async function* readCompanies(
  db: Database,
  migrationId: string,
  filter: CompanyFilter = {},
): AsyncGenerator<LedgerCompany> {
  const PAGE = 1_000;
  const pages = inPages('row', PAGE, (after) =>
    companiesOf(db, migrationId, filter).where('row', '>', after).limit(PAGE).execute(),
  );
  for await (const page of pages) yield* page;
}

/** The fields of a company with which the rows of a client's file are compared. */
export interface KnownCompany {
  readonly row: number;
  readonly reference: string;
  readonly organization: string;
  /** True if a credential is stored, or if the company is no longer waiting. */
  readonly hasCredential: boolean;
}

/** Yields the companies in manifest order. Reads them in pages, and only with the columns that a comparison needs. */
export async function* readKnownCompanies(db: Database, migrationId: string): AsyncGenerator<KnownCompany> {
  const PAGE = 5_000;
  const known = db
    .selectFrom('companies')
    .select([
      'row',
      'reference',
      'organization',
      sql<boolean>`(state <> 'waiting' or exists (
        select from credentials v where v.migration_id = companies.migration_id and v.row = companies.row))`.as(
        'hasCredential',
      ),
    ])
    .where('migration_id', '=', migrationId)
    .orderBy('row')
    .limit(PAGE);
  for await (const page of inPages('row', PAGE, (after) => known.where('row', '>', after).execute())) yield* page;
}

/**
 * Reads one page of the companies that match the filter, and counts all companies that match, at the same moment:
 * companies change while they are moved.
 */
export async function readCompanyPage(
  db: Database,
  migrationId: string,
  filter: CompanyFilter,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): Promise<{ readonly companies: readonly LedgerCompany[]; readonly matching: number }> {
  const snapshot = db.transaction().setIsolationLevel('repeatable read').setAccessMode('read only');
  return snapshot.execute(async (tx) => {
    const { matching } = await tx
      .selectFrom('companies')
      .select(sql<number>`count(*)`.as('matching'))
      .where(matches(migrationId, filter))
      .executeTakeFirstOrThrow();
    const companies = await companiesOf(tx, migrationId, filter).offset(offset).limit(limit).execute();
    return { companies, matching };
  });
}

function companiesOf(db: Queryable, migrationId: string, filter: CompanyFilter) {
  return db
    .selectFrom('companies')
    .select(({ eb }) => [
      'row',
      'reference',
      'name',
      'organization',
      'wave',
      'expected_invoices as expectedInvoices',
      'state',
      'confirmed_at as confirmedAt',
      CREDENTIAL.as('credential'),
      'crossed_at as crossedAt',
      sql<Date | null>`greatest(authorization_sent_at, earlier_sent_at)`.as('sentAt'),
      eb('named', 'is not', null).$castTo<boolean>().as('existedBefore'),
      'company_id as companyId',
      'connection_id as connectionId',
      'stored_name as storedName',
      'link_url as linkUrl',
      'moved_at as movedAt',
      'failure',
      'failure_text as failureText',
      'correlation_id as correlationId',
      'evidence',
      'sync_schedule as syncSchedule',
      'left_out_by as leftOutBy',
      'left_out_reason as leftOutReason',
      'held_back as heldBack',
      'held_back_details as heldBackDetails',
      'tries',
      WILL_BE_RETRIED.as('deferred'),
      sql<Date | null>`case when ${WILL_BE_RETRIED} then not_before end`.as('retryAt'),
      sql<Date | null>`case when not ${HAS_ENDED} then relinking_since end`.as('relinkingSince'),
      dependsOnReplaced(migrationId).as('replacedApplication'),
    ])
    .where(matches(migrationId, filter))
    .orderBy('row');
}

function matches(migrationId: string, filter: CompanyFilter): RawBuilder<boolean> {
  const { states, failure, mustReconnect, search, row, reference, references, wave, exceptions, deferred } = filter;
  const { withoutCredential, credentialMissing, retried, replacedApplication } = filter;
  const all = [
    sql`migration_id = ${migrationId}`,
    ...(states === undefined ? [] : [sql`state = any(${states})`]),
    ...(failure === undefined ? [] : [sql`failure = ${failure}`]),
    ...(mustReconnect === undefined ? [] : [sql`${MUST_RECONNECT} = ${mustReconnect}`]),
    ...(search === undefined ? [] : [containing(search)]),
    ...(row === undefined ? [] : [sql`row = ${row}`]),
    ...(reference === undefined ? [] : [sql`reference = ${reference}`]),
    ...(references === undefined ? [] : [sql`reference = any(${references})`]),
    ...(wave === undefined ? [] : [sql`wave = ${wave}`]),
    ...(exceptions === undefined ? [] : [exceptions ? IS_EXCEPTION : sql`(${IS_EXCEPTION}) is not true`]),
    ...(deferred === undefined ? [] : [WILL_BE_RETRIED]),
    ...(replacedApplication === undefined ? [] : [dependsOnReplaced(migrationId)]),
    ...(retried === undefined ? [] : [WILL_BE_TRIED_AGAIN]),
    ...(withoutCredential === undefined ? [] : [WITHOUT_CREDENTIAL]),
    ...(credentialMissing === undefined ? [] : [CREDENTIAL_MISSING]),
  ];
  return sql`(${sql.join(all, sql` and `)})`;
}

/** Matches the text in references, names and stored names, ignoring case and accents. Escapes wildcards. */
function containing(text: string): RawBuilder<boolean> {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  const wanted = withoutAccents(sql`${pattern}::text`);
  // Normalizes a column only if it has characters other than ASCII, because normalizing is slow.
  const matches = (column: 'reference' | 'name' | 'stored_name'): RawBuilder<boolean> => sql`(
    ${sql.ref(column)} ilike ${wanted} or (octet_length(${sql.ref(column)}) > char_length(${sql.ref(column)})
      and ${withoutAccents(sql.ref(column))} ilike ${wanted}))`;
  return sql`(${matches('reference')} or ${matches('name')} or ${matches('stored_name')})`;
}

/** Builds the SQL that removes the accents from a text. In the normal form NFD, accents are separate characters. */
function withoutAccents(text: RawBuilder<unknown>): RawBuilder<string> {
  return sql`regexp_replace(normalize(${text}, nfd), '[\\u0300-\\u036f]', '', 'g')`;
}

/** Reads the first company that matches the filter; undefined if there is none. */
export async function findCompany(
  db: Database,
  migrationId: string,
  filter: CompanyFilter,
): Promise<LedgerCompany | undefined> {
  for await (const company of readCompanies(db, migrationId, filter)) return company;
  return undefined;
}
