/** Tests the commands that only read, and those that ask about every migration, while the portal does not work. */
import { rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { writeSignIn } from '../../../cli/portal/sign-ins';
import { Secret } from '../../../security';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { ferry } from '../captured-terminal';

const env = { TOKENFERRY_HOME: createTemporaryFolder() };
afterAll(() => rmSync(env.TOKENFERRY_HOME, { recursive: true, force: true }));

const MIGRATIONS = ['acme.xero', 'bolt.xero', 'kite.xero', 'moss.xero', 'tarn.xero'];

/** Runs a command as a person who has signed in to five migrations. */
async function run(command: string | readonly string[], answer: RequestListener, role: 'client' | 'viewer' = 'client') {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const portal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const migrationId of MIGRATIONS)
    writeSignIn(env, {
      ...{ portal, migrationId, person: 'Cleo', role, provider: null },
      ...{ signingKey: new Secret(createSigningKey('client')), token: new Secret('t'.repeat(43)) },
    });
  const startedAt = Date.now();
  try {
    const result = await ferry(['--portal', portal, ...[command].flat()], undefined, env);
    return { ...result, tookMs: Date.now() - startedAt };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

test('a portal that answers 503 is asked about all migrations at once, for ten seconds', async () => {
  let [waiting, atOnce] = [0, 0];
  const { exitCode, out, err, tookMs } = await run('list', (_, response) => {
    atOnce = Math.max(atOnce, (waiting += 1));
    setTimeout(() => {
      waiting -= 1;
      response.writeHead(503).end();
    }, 300);
  });
  expect({ exitCode, atOnce }).toEqual({ exitCode: 1, atOnce: MIGRATIONS.length });
  for (const id of MIGRATIONS)
    expect(out).toMatch(new RegExp(`^${id} +Cleo \\(client\\) +the portal is not working at the moment`, 'm'));
  expect(err.match(/Trying again/g)).toHaveLength(1);
  expect(tookMs).toBeLessThan(20_000);
});

test('a portal that accepts requests, but sends no answer, is given up after ten seconds', async () => {
  const { out, tookMs } = await run('list', () => undefined);
  for (const id of MIGRATIONS)
    expect(out).toMatch(new RegExp(`^${id} .*does not answer in time; .*check the address`, 'm'));
  expect(tookMs).toBeLessThan(20_000);
});

test('a viewer whose session has ended is told to ask for another invitation', async () => {
  const { exitCode, out } = await run('list', (_, response) => response.writeHead(401).end(), 'viewer');
  expect(exitCode).toBe(1);
  for (const id of MIGRATIONS)
    expect(out).toMatch(
      new RegExp(
        `^${id} .*your session has ended; ask your contact for a new invitation, and sign in with its link`,
        'm',
      ),
    );
});

test('signing in to all migrations again gives up after ten seconds', async () => {
  const { exitCode, err, tookMs } = await run('sign-in', (_, response) => response.writeHead(503).end());
  expect(exitCode).toBe(1);
  expect(err).toContain('the portal is not working at the moment');
  expect(tookMs).toBeLessThan(20_000);
});

test('a command that only reads gives up after half a minute', async () => {
  const contract = { migrationId: 'acme.xero', person: 'Cleo', role: 'client', publicKey: 'a'.repeat(64) };
  const session = { ...contract, isKeyConfirmed: true, expiresAt: '2030-01-01T00:00:00.000Z' };
  const view = 'The page of this migration is not ready yet, because the migration is not answering.';
  const advice = 'Try again in a few seconds. If this happens again, tell your contact.';
  const { exitCode, err, tookMs } = await run(['show', 'acme.xero'], ({ url = '' }, response) => {
    const isSession = url.startsWith('/api/session');
    response.writeHead(isSession ? 200 : 503, { 'content-type': 'application/json' });
    response.end(JSON.stringify(isSession ? session : { error: view, advice }));
  });
  expect(exitCode).toBe(1);
  expect(err).toContain(
    'the migration is not answering; try again in a few seconds. If this happens again, tell your contact\n',
  );
  expect(tookMs).toBeLessThan(40_000);
});
