/** Tests the servers that all test files of a run share. */
import { Connection } from '@temporalio/client';
import { Client } from 'pg';
import { createTestDatabase } from '../support/servers/database';
import { sharedTemporal } from '../support/servers/shared-servers';

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

test('the dev server has the search attributes of migrations', async () => {
  const connection = await Connection.connect({ address: await sharedTemporal() });
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'default' });
  expect(Object.keys(customAttributes ?? {})).toEqual(
    expect.arrayContaining([
      'FerryStep',
      'FerryState',
      'FerryWaitingFor',
      'FerryCompaniesTotal',
      'FerryCompaniesDone',
      'FerryCompaniesFailed',
    ]),
  );
  await connection.close();
});
