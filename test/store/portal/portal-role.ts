import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createPortalToken, hashPortalToken, Secret } from '../../../security';
import { createInvitation, grantPortalRole, openMigration, supplyMigration } from '../../../store';
import { useOpened } from '../../support/async';
import { manifestRows, suppliedMigration, type Ledger } from '../../support/migrations/ledger';

export const PUBLIC_KEY = 'ab'.repeat(32);
export const HOUR_MS = 3_600_000;

export type PortalLedger = Pick<Ledger, 'db' | 'url'>;
export type Portal = Pick<Client, 'query' | 'user'>;

/**
 * Creates a database role for the portal, and connects with it. Names are unique, because all databases share roles.
 */
export async function connectAsPortal({ db, url }: PortalLedger): Promise<Client> {
  const asPortal = new URL(url);
  asPortal.username = `portal_${randomBytes(6).toString('hex')}`;
  asPortal.password = "it's a password";
  await grantPortalRole(db, new Secret(asPortal.href));
  const client = new Client({ connectionString: asPortal.href });
  client.on('error', () => undefined); // The database is dropped while this client is connected.
  await client.connect();
  return client;
}

/** Connects as the portal before the tests of a file, and disconnects after them. */
export const usePortal = (ledger: PortalLedger): Portal =>
  useOpened(async () => {
    const client = await connectAsPortal(ledger);
    const query: Client['query'] = client.query.bind(client);
    return { query, user: client.user, close: () => client.end() };
  });

/** Calls a function of the portal's schema, and returns its rows. */
export async function call(client: Portal, name: string, ...values: readonly unknown[]) {
  const placeholders = values.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await client.query<Record<string, unknown>>(
    `select * from tokenferry_portal.${name}(${placeholders})`,
    [...values],
  );
  return rows;
}

/** Calls a function that returns one value. */
export async function valueOf(client: Portal, name: string, ...values: readonly unknown[]): Promise<unknown> {
  return (await call(client, name, ...values))[0]?.[name];
}

export const invite = (
  db: PortalLedger['db'],
  migrationId: string,
  changes: Partial<Parameters<typeof createInvitation>[1]> = {},
) =>
  createInvitation(db, {
    ...{ migrationId, person: 'Cleo', role: 'client', email: null, createdBy: 'Sam' },
    expiresAt: new Date(Date.now() + HOUR_MS),
    ...changes,
  });

/** Redeems an invitation. Returns the hash of the new session. */
export async function redeem(client: Portal, token: string, key: string | null = PUBLIC_KEY): Promise<Buffer> {
  const session = hashPortalToken(createPortalToken());
  const rows = await call(client, 'redeem', hashPortalToken(token), session, key, HOUR_MS);
  if (rows.length !== 1) throw new Error('the invitation was not accepted');
  return session;
}

/** Starts a session in a new migration, which has one company. */
export async function openSession({ db }: PortalLedger, portal: Portal, role: 'client' | 'viewer' = 'client') {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(1));
  await openMigration(db, migration.id);
  const { id, token } = await invite(db, migration.id, { role });
  return { migrationId: migration.id, invitation: id, session: await redeem(portal, token) };
}
