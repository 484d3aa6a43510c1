import { Client } from 'pg';
import { createTestDatabase } from '../support/database';

test('a test database has the built-in locale, and can be dropped', async () => {
  const database = await createTestDatabase();
  const client = new Client({ connectionString: database.url });
  await client.connect();
  client.on('error', () => undefined);
  const { rows } = await client.query<{ encoding: string; locale: string; folded: string }>(
    `select pg_encoding_to_char(encoding) as encoding, datlocale as locale, lower('ÄÖ') as folded
       from pg_database where datname = current_database()`,
  );
  expect(rows).toEqual([{ encoding: 'UTF8', locale: 'C.UTF-8', folded: 'äö' }]);
  await client.end();

  await database.drop();
  await expect(new Client({ connectionString: database.url }).connect()).rejects.toThrow('does not exist');
});
