import { mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { startDatabase } from '../../chaos/cluster/database';
import type { Database } from '../../chaos/cluster';

let folder: string;
let database: Database;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'chaos-database-'));
  chmodSync(folder, 0o711); // Postgres sometimes runs as another user
  database = await startDatabase({ name: 'database', folder: path.join(folder, 'database'), log: () => undefined });
});
afterAll(async () => {
  await database.kill();
  rmSync(folder, { recursive: true, force: true });
});

async function query<Row extends object>(text: string, timeoutMs = 10_000): Promise<Row[]> {
  const client = new Client({ connectionString: database.url, connectionTimeoutMillis: timeoutMs });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

const values = async (): Promise<number[]> =>
  (await query<{ value: number }>('select value from written order by value')).map(({ value }) => value);

test('keeps what was committed when it is killed, and has the same address afterwards', async () => {
  await query('create table written (value int)');
  await query('insert into written values (1)');
  await database.kill();
  expect([database.running, database.pid]).toEqual([false, null]);
  await expect(values()).rejects.toThrow('ECONNREFUSED');
  await database.start();
  expect(await values()).toEqual([1]);
});

test('does not answer while it is suspended', async () => {
  database.suspend();
  expect(database.running).toBe(true);
  await expect(query('select 1', 300)).rejects.toThrow('timeout');
  database.resume();
  expect(await values()).toEqual([1]);
});

test('returns to a copy that was taken while it ran', async () => {
  const copy = await database.copy();
  await query('insert into written values (2)');
  expect(await values()).toEqual([1, 2]);
  await database.restore(copy);
  expect(await values()).toEqual([1]);
});
