/** Tests that messages name the server to which pg connects. */
import { databaseOf, serverOf } from '../../postgres/pool';

test.each([
  ['postgres://user:hidden@db.internal/ledger', 'db.internal:5432', 'ledger'],
  ['postgres://user:hidden@db.internal:5433/ledger?sslmode=disable', 'db.internal:5433', 'ledger'],
  ['postgres://localhost:5433/ledger?host=pg.internal', 'pg.internal:5433', 'ledger'],
  ['postgres://localhost/ledger?host=pg.internal&port=5434', 'pg.internal:5434', 'ledger'],
  ['postgres://[::1]:5433/ledger', '[::1]:5433', 'ledger'],
  ['postgres:///ledger?host=/run/postgresql', '/run/postgresql', 'ledger'],
  ['postgres://%2Frun%2Fpostgresql/ledger', '/run/postgresql', 'ledger'],
  ['postgres://user:hidden@/ledger', 'pg.environment:5999', 'ledger'],
  ['postgres:///ledger', 'pg.environment:5999', 'ledger'],
  ['postgres://user:hidden@db.internal/ledger?sslrootcert=/no/such/file', 'db.internal:5432', 'ledger'],
  ['postgres:///ledger?host=/run/pg&sslrootcert=/no/such/file', '/run/pg', 'ledger'],
  ['postgres://[::1]:5433/ledger?sslrootcert=/no/such/file', '[::1]:5433', 'ledger'],
  ['postgres://%2Frun%2Fpg/ledger?sslrootcert=/no/such/file', '/run/pg', 'ledger'],
  ['postgres:///ledger?sslrootcert=/no/such/file', 'pg.environment:5999', 'ledger'],
  ['postgres://user:hidden@/ledger?sslrootcert=/no/such/file', 'pg.environment:5999', 'ledger'],
])('names the server and the database to which pg connects, without the password: %s', (url, server, name) => {
  process.env['PGHOST'] = 'pg.environment';
  if (server.startsWith('pg.environment')) process.env['PGPORT'] = '5999';
  try {
    expect([serverOf(url), databaseOf(url)]).toEqual([server, `${server}/${name}`]);
  } finally {
    delete process.env['PGHOST'];
    delete process.env['PGPORT'];
  }
});

test.each([
  'ledger',
  'postgres:user:hidden@db.internal/ledger',
  'postgres:/user:hidden@db.internal/ledger',
  'postgres:hidden',
  ' postgres://user:hidden@db.internal/ledger',
])('says that a text is not a URL, and shows no part of it: %s', (text) => {
  expect([serverOf(text), databaseOf(text)]).toEqual(['an address that is not a URL', '(not a URL)']);
});

test.each([
  'postgres://user:hid@/den@db.internal/ledger',
  'postgres://user:12/34@db.internal/ledger',
  'postgres://user:12?34@db.internal/ledger',
  'postgres://user:12#34@db.internal/ledger',
  'postgres://user:/hidden@db.internal/ledger',
  'postgres://user:hid/den@db.internal/ledger',
  'postgres:///user:hidden@db.internal/ledger',
  'postgres://user:12/3\n4@db.internal/ledger',
  'postgres://db.internal/ledger?user=me@tenant',
])('says that a character is not escaped, and shows no part of the address: %j', (text) => {
  const hidden = 'an address that is not shown, because its password may contain an unescaped @, /, ? or #';
  expect([serverOf(text), databaseOf(text)]).toEqual([hidden, `(${hidden})`]);
});
