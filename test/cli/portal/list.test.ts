/** Tests the commands that ask about every migration while the portal does not work. */
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
async function run(command: string, answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const portal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  for (const migrationId of MIGRATIONS)
    writeSignIn(env, {
      ...{ portal, migrationId, person: 'Cleo', role: 'client', provider: null },
      ...{ signingKey: new Secret(createSigningKey('client')), token: new Secret('t'.repeat(43)) },
    });
  const startedAt = Date.now();
  try {
    const result = await ferry(['--portal', portal, command], undefined, env);
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
  for (const id of MIGRATIONS) expect(out).toMatch(new RegExp(`^${id} .*does not answer in time`, 'm'));
  expect(tookMs).toBeLessThan(20_000);
});

test('signing in to all migrations again gives up after ten seconds', async () => {
  const { exitCode, err, tookMs } = await run('sign-in', (_, response) => response.writeHead(503).end());
  expect(exitCode).toBe(1);
  expect(err).toContain('the portal is not working at the moment');
  expect(tookMs).toBeLessThan(20_000);
});
