/** The portal's database role. It may only connect and call the functions of the schema `tokenferry_portal`. */
import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';
import { CompiledQuery, sql, type RawBuilder } from 'kysely';
import { DatabaseError } from 'pg';
import type { Secret } from '../../security';
import { oneRow, SCHEMA, type Database, type Queryable } from '../database/database';
import { withClient } from '../database/inspection';

const PORTAL_SCHEMA = 'tokenferry_portal';

/**
 * Maximum number of connections of the role. It is lower than the maximum of Postgres (100 by default), so that the
 * portal cannot take all connections from the workers.
 */
const MAX_CONNECTIONS = 50;

/** Thrown when the role is not specified or cannot be created, or when it has more rights than the portal may have. */
export class PortalRoleRefused extends Error {
  override readonly name = 'PortalRoleRefused';

  /**
   * @param message what is wrong
   * @param advice what to do, for people who choose the role in PORTAL_DATABASE_URL
   * @param remedy what to change in Postgres so that this role can be used; null if nothing has to be changed there
   */
  constructor(
    message: string,
    readonly advice: string,
    readonly remedy: string | null,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/**
 * Creates the role of `PORTAL_DATABASE_URL` if it does not exist, and grants it the functions of the portal. Does not
 * change the password of an existing role.
 *
 * @param url the portal's database, with the name and the password of its role
 * @returns the role's name, and whether it was created
 * @throws {PortalRoleRefused}
 */
export async function grantPortalRole(
  db: Database,
  url: Secret,
): Promise<{ readonly name: string; readonly isNew: boolean }> {
  const { name, password } = roleOf(url);
  return db.transaction().execute(async (tx) => {
    await sql`select pg_advisory_xact_lock(hashtext('tokenferry portal role'))`.execute(tx);
    const { rows: existing } = await sql`select from pg_roles where rolname = ${name}`.execute(tx);
    const isNew = existing.length === 0;
    // Send only a verifier of the password, because the server can write statements to its log.
    if (isNew)
      await runQuoted(
        tx,
        sql`format('create role %I login connection limit %s password %L', ${name}::text, ${MAX_CONNECTIONS}::int,
          ${verifierOf(password)}::text)`,
      ).catch((error: unknown) => {
        throw error instanceof DatabaseError && error.code === INSUFFICIENT_PRIVILEGE
          ? mayNotCreate(name, error)
          : error;
      });
    const { rows: readable } = await sql<{ table: string }>`
      select relname as "table" from pg_class c
      where relnamespace = ${SCHEMA}::regnamespace and relkind in ('r', 'v', 'p', 'm')
        and (has_table_privilege(${name}, c.oid, 'select, insert, update, delete, truncate')
          or pg_has_role(${name}, c.relowner, 'member'))
      order by relname limit 1`.execute(tx);
    if (readable[0] !== undefined) throw mayReadTables(name, readable[0].table);
    await runQuoted(tx, sql`format('grant connect on database %I to %I', current_database(), ${name}::text)`);
    await runQuoted(tx, sql`format('grant usage on schema %I to %I', ${PORTAL_SCHEMA}::text, ${name}::text)`);
    await runQuoted(
      tx,
      sql`format('grant execute on all functions in schema %I to %I', ${PORTAL_SCHEMA}::text, ${name}::text)`,
    );
    return { name, isNew };
  });
}

/** Runs a statement that takes no parameters. Postgres builds its text, and quotes the names and values in it. */
async function runQuoted(tx: Queryable, text: RawBuilder<unknown>): Promise<void> {
  const { statement } = await oneRow<{ statement: string }>(tx)`select ${text} as statement`;
  await tx.executeQuery(CompiledQuery.raw(statement));
}

function roleOf(url: Secret): { readonly name: string; readonly password: string } {
  const { username, password } = new URL(url.reveal());
  if (username !== '' && password !== '')
    return { name: decodeURIComponent(username), password: decodeURIComponent(password) };
  throw new PortalRoleRefused(
    'PORTAL_DATABASE_URL lacks a user or a password',
    'set PORTAL_DATABASE_URL to the address of DATABASE_URL, with a separate user and password for the portal',
    null,
  );
}

const INSUFFICIENT_PRIVILEGE = '42501';

function mayNotCreate(name: string, cause: Error): PortalRoleRefused {
  return new PortalRoleRefused(
    `the database role ${name} does not exist, and the role of DATABASE_URL may not create it`,
    `ask a database administrator to create the role, with the password in PORTAL_DATABASE_URL: create role "${name}" login connection limit ${MAX_CONNECTIONS} password '...'; then run this command again`,
    'give the role of DATABASE_URL the right CREATEROLE',
    { cause },
  );
}

function mayReadTables(name: string, table: string): PortalRoleRefused {
  return new PortalRoleRefused(
    `the database role ${name} has rights on the table ${table}, but the portal's role must have none`,
    'change the user in PORTAL_DATABASE_URL to a role that does not exist yet, or to a role without rights on tables',
    'revoke these rights, and every membership in a role that has them or that owns the tables',
  );
}

/**
 * Checks that the portal can call its functions.
 *
 * @param timeoutMs time limit for connecting and for the call, in milliseconds
 * @throws {DatabaseUnavailable}
 */
export async function checkPortalConnection(url: Secret, timeoutMs: number): Promise<void> {
  await withClient(url.reveal(), timeoutMs, (client) => client.query(`select ${PORTAL_SCHEMA}.live_sessions('{}')`));
}

const ITERATIONS = 4_096;

/** Returns the SCRAM-SHA-256 verifier of a password, in the form in which Postgres stores it. */
function verifierOf(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password.normalize('NFKC'), salt, ITERATIONS, 32, 'sha256');
  const hmac = (text: string) => createHmac('sha256', salted).update(text).digest();
  const storedKey = createHash('sha256').update(hmac('Client Key')).digest('base64');
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString('base64')}$${storedKey}:${hmac('Server Key').toString('base64')}`;
}
