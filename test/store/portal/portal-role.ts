import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { createPortalToken, hashPortalToken, Secret } from '../../../security';
import { createInvitation, grantPortalRole, openMigration, supplyMigration } from '../../../store';
import type { Ledger } from '../../support/migrations/ledger';
import { manifestRows, suppliedMigration } from '../../support/migrations/ledger';

export const PUBLIC_KEY = 'ab'.repeat(32);
export const HOUR_MS = 3_600_000;

export type PortalLedger = Pick<Ledger, 'db' | 'url'>;

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

/** Calls a function of the portal's schema, and returns its rows. */
export async function call(client: Client, name: string, ...values: readonly unknown[]) {
  const placeholders = values.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await client.query<Record<string, unknown>>(
    `select * from tokenferry_portal.${name}(${placeholders})`,
    [...values],
  );
  return rows;
}

/** Calls a function that returns one value. */
export async function valueOf(client: Client, name: string, ...values: readonly unknown[]): Promise<unknown> {
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
export async function redeem(client: Client, token: string, key: string | null = PUBLIC_KEY): Promise<Buffer> {
  const session = hashPortalToken(createPortalToken());
  const rows = await call(client, 'redeem', hashPortalToken(token), session, key, HOUR_MS);
  if (rows.length !== 1) throw new Error('the invitation was not accepted');
  return session;
}

/** Starts a session in a new migration, which has one company. */
export async function openSession({ db }: PortalLedger, portal: Client, role: 'client' | 'viewer' = 'client') {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(1));
  await openMigration(db, migration.id);
  const { id, token } = await invite(db, migration.id, { role });
  return { migrationId: migration.id, invitation: id, session: await redeem(portal, token) };
}
