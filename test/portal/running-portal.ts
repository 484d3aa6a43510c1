import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startPortal, type PortalOptions } from '../../portal/server';
import { Secret } from '../../security';
import { createLog } from '../../security/log';
import { createTemporaryFolder } from '../../stack/folders';
import { createInvitation, grantPortalRole, supplyMigration, type Database, type PortalRole } from '../../store';
import { manifestRows, openLedger, suppliedMigration } from '../support/migrations/ledger';
import { useOpened } from '../support/async';

export const PUBLIC_KEY = 'ab'.repeat(32);
const HOUR_MS = 3_600_000;

export interface RunningPortal {
  readonly db: Database;
  /** The URL of the ledger's database, with the portal's role as the user. */
  readonly databaseUrl: string;
  readonly url: string;
  readonly log: string[];
  close(): Promise<void>;
}

/**
 * Opens a portal with an empty ledger. Its limits on the rate of requests are so high that no test reaches them, unless
 * `options` set them lower.
 */
export async function openPortal(options: Partial<PortalOptions> = {}): Promise<RunningPortal> {
  const ledger = await openLedger();
  const databaseUrl = new URL(ledger.url);
  databaseUrl.username = `portal_${randomBytes(6).toString('hex')}`;
  databaseUrl.password = 'password';
  await grantPortalRole(ledger.db, new Secret(databaseUrl.href));
  const lines: string[] = [];
  const many = 100_000;
  const portal = await startPortal({
    port: 0,
    databaseUrl: databaseUrl.href,
    log: createLog({ level: 'trace', to: { write: (line) => void lines.push(line) } }),
    answerWaitMs: 300,
    pageFolder: pageFolder(),
    ...options,
    limits: {
      ...{ redemptionsPerMinute: many, requestsPerAddress: many, requestsPerSession: many, refusalsPerAddress: many },
      ...options.limits,
    },
  });
  return {
    ...{ db: ledger.db, databaseUrl: databaseUrl.href, url: portal.localUrl, log: lines },
    close: async () => {
      await portal.close();
      await ledger.close();
    },
  };
}

export function usePortal(options: Partial<PortalOptions> = {}): Omit<RunningPortal, 'close'> {
  return useOpened(() => openPortal(options));
}

export const PAGE = '<!doctype html><title>Portal</title>' + '<p>Hello</p>'.repeat(50);

function pageFolder(): string {
  const folder = createTemporaryFolder();
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), PAGE);
  writeFileSync(path.join(folder, 'assets', 'main-AB12CD34.js'), 'console.log("hello");'.repeat(50));
  writeFileSync(path.join(folder, 'not-an-asset.js'), 'export {};');
  return folder;
}

export async function createMigration(db: Database, companies = 3): Promise<string> {
  const migration = suppliedMigration();
  await supplyMigration(db, migration, manifestRows(companies));
  return migration.id;
}

export const invite = (
  db: Database,
  migrationId: string,
  changes: Partial<Parameters<typeof createInvitation>[1]> = {},
) =>
  createInvitation(db, {
    ...{ migrationId, person: 'Cleo', role: 'client', email: null, createdBy: 'Sam' },
    expiresAt: new Date(Date.now() + HOUR_MS),
    ...changes,
  });

export const json = (body: unknown): RequestInit => ({
  method: 'POST',
  headers: { 'content-type': 'application/json', 'x-tokenferry-portal': '1' },
  body: JSON.stringify(body),
});

export interface Session {
  readonly migrationId: string;
  readonly invitationId: string;
  readonly token: string;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

/** Redeems a new invitation, as a program does. */
export async function signIn(
  { db, url }: Pick<RunningPortal, 'db' | 'url'>,
  { migrationId, role = 'client' }: { readonly migrationId?: string; readonly role?: PortalRole } = {},
): Promise<Session> {
  const id = migrationId ?? (await createMigration(db));
  const { id: invitationId, token: invitation } = await invite(db, id, { role });
  const answer = await fetch(`${url}/api/session`, json({ invitation, publicKey: PUBLIC_KEY, as: 'token' }));
  if (answer.status !== 200) throw new Error(`signing in has failed: ${answer.status} ${await answer.text()}`);
  const { token } = (await answer.json()) as { readonly token: string };
  return {
    ...{ migrationId: id, invitationId, token },
    fetch: (at, init = {}) =>
      fetch(url + at, { ...init, headers: { ...init.headers, authorization: `Bearer ${token}` } }),
  };
}
