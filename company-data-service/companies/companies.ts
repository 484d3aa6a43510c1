/** Companies in Postgres. A company is read together with its connections, in one statement. */
import { sql, type RawBuilder } from 'kysely';
import type { Database } from '../database/database';
import type { ConnectionError, ConnectionStatus } from '../database/tables';
import { kindsOf, columnSql, type Columns, conditionSql, orderSql, type FieldSql } from '../query/query-sql';
import type { FieldKindOf } from '../query/fields';
import type { ListRequest, PageBounds, PageItems } from '../query/lists';

/** A connection of a company. Its dates are ISO 8601 strings, in UTC or with another offset. */
export interface Connection {
  readonly id: string;
  readonly company_id: string;
  readonly platform_key: string;
  readonly source_id: string;
  readonly status: ConnectionStatus;
  readonly data_types: readonly string[];
  readonly organization_id: string | null;
  readonly organization_name: string | null;
  /** See `ConnectionTable` in tables.ts. */
  readonly expected_organization: string | null;
  readonly errors: readonly ConnectionError[];
  readonly created_at: string;
  readonly last_sync: string | null;
  readonly authorized_at: string | null;
}

export interface Company {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly description: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly created_at: Date;
  readonly connections: readonly Connection[];
}

/** A condition on a tag, such as `uid=42`. */
export interface TagFilter {
  readonly name: string;
  readonly operator: '=' | '!=' | '~';
  readonly value: string;
}

const WITH_CONNECTIONS = sql`
  companies.*,
  coalesce((
    select json_agg(connection order by connection.created_at, connection.id)
    from connections connection where connection.company_id = companies.id
  ), '[]') as connections`;

export async function findCompany(db: Database, id: string): Promise<Company | undefined> {
  const { rows } = await sql<Company>`select ${WITH_CONNECTIONS} from companies where id = ${id}`.execute(db);
  return rows[0];
}

/** Returns the company of a connection. */
export async function findConnectionCompany(db: Database, connectionId: string): Promise<Company | undefined> {
  const { rows } = await sql<Company>`
    select ${WITH_CONNECTIONS} from companies
    where id = (select company_id from connections where connections.id = ${connectionId})`.execute(db);
  return rows[0];
}

export interface CompanyQuery extends ListRequest {
  readonly accountId: string;
  /** Companies must match all of these. */
  readonly tags: readonly TagFilter[];
}

export async function listCompanies(
  db: Database,
  { accountId, tags, condition, order }: CompanyQuery,
  { limit, offset }: PageBounds,
): Promise<PageItems<Company>> {
  const filter = sql`account_id = ${accountId}
    ${sql.join(
      tags.map((tag) => sql`and ${tagCondition(tag)}`),
      sql` `,
    )} ${condition ? sql`and ${conditionSql(condition, companyFieldSql)}` : sql``}`;
  const [count, page] = await Promise.all([
    sql<{ total: number }>`select count(*)::int as total from companies where ${filter}`.execute(db),
    sql<Company>`
      select ${WITH_CONNECTIONS} from (
        select * from companies where ${filter}
        order by ${orderSql(order, companyFieldSql)} created_at, id limit ${limit} offset ${offset}
      ) companies order by ${orderSql(order, companyFieldSql)} created_at, id`.execute(db),
  ]);
  return { items: page.rows, total: count.rows[0]?.total ?? 0 };
}

const COLUMNS: Columns = {
  id: { kind: 'text', expression: sql`companies.id::text` },
  name: { kind: 'text', expression: sql`companies.name` },
  description: { kind: 'text', expression: sql`companies.description` },
  created: { kind: 'date', expression: sql`companies.created_at` },
  modifiedDate: { kind: 'date', expression: sql`companies.modified_at` },
};

/** The fields by which companies can be filtered and sorted. `tags.uid` is the tag `uid`. */
export const companyFields: FieldKindOf = (field) => (tagIn(field) === undefined ? kindsOf(COLUMNS)(field) : 'text');

const companyFieldSql: FieldSql = (field) => {
  const tag = tagIn(field);
  return tag === undefined ? columnSql(COLUMNS)(field) : sql`(companies.tags ->> ${tag}::text)`;
};

function tagIn(field: string): string | undefined {
  return /^tags\.(.+)$/.exec(field)?.[1];
}

function tagCondition({ name, operator, value }: TagFilter): RawBuilder<boolean> {
  switch (operator) {
    case '=': // This form uses the index.
      return sql`tags @> ${JSON.stringify({ [name]: value })}::jsonb`;
    case '!=':
      return sql`(tags ->> ${name}) is distinct from ${value}`;
    case '~':
      return sql`strpos(lower(tags ->> ${name}), lower(${value})) > 0`;
  }
}

export interface CompanyFields {
  readonly name: string;
  readonly description: string | null;
  readonly tags: Readonly<Record<string, string>>;
}

export async function insertCompany(db: Database, accountId: string, fields: CompanyFields): Promise<Company> {
  const row = await db
    .insertInto('companies')
    .values({ account_id: accountId, ...fields, tags: JSON.stringify(fields.tags) })
    .returningAll()
    .executeTakeFirstOrThrow();
  return { ...row, connections: [] };
}

export async function updateCompany(db: Database, id: string, { tags, ...fields }: Partial<CompanyFields>) {
  const changes = { ...fields, ...(tags && { tags: JSON.stringify(tags) }) };
  if (Object.keys(changes).length === 0) return;
  const modified = { ...changes, modified_at: sql<Date>`clock_timestamp()` };
  await db.updateTable('companies').set(modified).where('id', '=', id).execute();
}

/** Deletes a company with all of its data. */
export async function deleteCompany(transaction: Database, id: string): Promise<void> {
  // Delete the syncs first, because the sync engine also locks them first. Another order could cause a deadlock.
  await transaction.deleteFrom('syncs').where('company_id', '=', id).execute();
  await transaction.deleteFrom('companies').where('id', '=', id).execute();
}

/**
 * Counts the account's companies. Until the transaction ends, other transactions that call this function for the
 * account wait, because two simultaneous creations could otherwise exceed the limit.
 */
export async function lockAndCountCompanies(transaction: Database, accountId: string): Promise<number> {
  await sql`select from accounts where id = ${accountId} for no key update`.execute(transaction);
  return countCompanies(transaction, accountId);
}

export async function countCompanies(db: Database, accountId: string): Promise<number> {
  const { total } = await db
    .selectFrom('companies')
    .select(sql<number>`count(*)::int`.as('total'))
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow();
  return total;
}
