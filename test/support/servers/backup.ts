import { Client } from 'pg';

/** A copy of all tables of a schema, like a dump. It can be restored any number of times. */
export interface Backup {
  /** Replaces the content of the tables with the copy. */
  readonly restore: () => Promise<void>;
}

let backups = 0;

/** @param schema the schema of the tables: `tokenferry` or `company_data_service` */
export async function takeBackup(url: string, schema = 'tokenferry'): Promise<Backup> {
  backups += 1;
  const copy = `backup_${backups}`;
  const tables = await inSession(url, async (client) => {
    await client.query(`create schema ${copy}`);
    const { rows } = await client.query<{ name: string }>(
      'select tablename as name from pg_tables where schemaname = $1',
      [schema],
    );
    const names = rows.map(({ name }) => name);
    await client.query('begin isolation level repeatable read');
    for (const name of names) await client.query(`create table ${copy}.${name} as select * from ${schema}.${name}`);
    await client.query('commit');
    return names;
  });
  return {
    restore: () =>
      inSession(url, async (client) => {
        await client.query('begin');
        // Disables triggers and foreign keys, as `pg_restore --disable-triggers` does.
        await client.query('set local session_replication_role = replica');
        await client.query(`truncate ${tables.map((name) => `${schema}.${name}`).join(', ')}`);
        for (const name of tables)
          await client.query(`insert into ${schema}.${name} overriding system value select * from ${copy}.${name}`);
        await client.query('commit');
      }),
  };
}

/** Makes the service forget its idempotency keys, as it does after 90 minutes. */
export async function forgetIdempotencyKeys(serviceDatabaseUrl: string): Promise<void> {
  await inSession(serviceDatabaseUrl, (client) =>
    client.query('delete from company_data_service.idempotent_responses'),
  );
}

async function inSession<T>(url: string, work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
