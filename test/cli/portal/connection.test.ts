/** The advice of the client's commands if the portal does not answer, or if the stored sign-in is broken. */
import { rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { ApiError } from '../../../portal/client/api';
import { unreachableText } from '../../../cli/portal/api-errors';
import { failingClearly, validated } from '../../../cli/portal/connection';
import type { PortalContext } from '../../../cli/portal/context';
import { parseLink } from '../../../cli/portal/target';
import { writeSignIn } from '../../../cli/portal/sign-ins';
import { Secret } from '../../../security';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { ferry } from '../captured-terminal';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const run = (answer: Parameters<typeof runAgainst>[0], signingKey: string, ...args: string[]) =>
  runAgainst(answer, { home, signingKey }, ...args);

test.each([
  [
    'CERT_HAS_EXPIRED',
    'the certificate of https://portal.example has expired or is not valid yet (CERT_HAS_EXPIRED). If the clock of this machine is right, tell your contact',
  ],
  [
    'ERR_TLS_CERT_ALTNAME_INVALID',
    'the certificate of https://portal.example is for another address (ERR_TLS_CERT_ALTNAME_INVALID). Check the address; if it is right, tell your contact',
  ],
])('a certificate with the error %s is not blamed on an unknown certificate authority', (code, text) => {
  const cause = Object.assign(new Error('the connection failed'), { code });
  expect(unreachableText('https://portal.example', new TypeError('fetch failed', { cause }))).toBe(text);
});

test.each(['companies', 'show'])(
  'a lost connection of %s, which only reads, has no effect to warn of',
  async (command) => {
    const { exitCode, err } = await run(({ socket }) => socket.destroy(), createSigningKey('client'), command);
    expect(exitCode).toBe(1);
    expect(err).toContain('check the address and your connection, and run the command again');
    expect(err).not.toContain('can still take effect');
  },
);

test('a sign-in waits while the portal restarts', async () => {
  const session = {
    ...{ migrationId: ID, person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32), isKeyConfirmed: true },
    expiresAt: '2026-11-20T10:00:00.000Z',
  };
  const answers = [503, 502, 200];
  const { exitCode, out } = await run(
    (_, response) => {
      const status = answers.shift() ?? 500;
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(status === 200 ? JSON.stringify(session) : '');
    },
    createSigningKey('client'),
    'sign-in',
  );
  expect(out).toContain(`✓ Signed in to ${ID} as Cleo (client)`);
  expect({ exitCode, answers }).toEqual({ exitCode: 0, answers: [] });
});

test('a sign-in fails at once if the address answers with a page that is not from a portal', async () => {
  const { exitCode, err } = await run(
    (_, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>'),
    createSigningKey('client'),
    'sign-in',
  );
  expect(exitCode).toBe(1);
  expect(err).toContain('the answer is not from the portal, but probably from a proxy. Check your connection');
});

test('a request that the portal may have received can still take effect', async () => {
  const context = {
    target: { link: 'https://portal.example', isOption: true, args: [] },
    link: () => ({ origin: 'https://portal.example' }),
    terminal: { env: { TOKENFERRY_HOME: home } },
  } as unknown as PortalContext;
  const failing = (work: () => Promise<never>, sentTo: string | null) => failingClearly(context, work, () => sentTo);
  const failed = (error: ApiError, sentTo: string | null) => failing(() => Promise.reject(error), sentTo);
  const lost = (sentTo: string | null) => failed(new ApiError(0, 'the portal does not answer in time'), sentTo);
  await expect(lost(ID)).rejects.toMatchObject({
    advice:
      'check the address and your connection; a request that the portal has received can still take effect, so before you run the command again, see the migration with: ferry --portal https://portal.example show',
  });
  await expect(lost(null)).rejects.toMatchObject({
    advice: 'check the address and your connection, and run the command again',
  });
  const canTakeEffect =
    '; a request that the portal has received can still take effect, so before you run the command again, see the migration with: ferry --portal https://portal.example show';
  const proxy = new ApiError(504, 'The portal is not working at the moment.');
  await expect(failed(proxy, ID)).rejects.toMatchObject({
    advice: `wait a few minutes; if this happens again, tell your contact${canTakeEffect}`,
  });
  await expect(failed(proxy, null)).rejects.toMatchObject({
    advice: 'try again; if this happens again, tell your contact',
  });
  await expect(failed(new ApiError(503, 'busy', 'Try again in 10 seconds.'), ID)).rejects.toMatchObject({
    advice: `try again in 10 seconds${canTakeEffect}`,
  });
  const ended = new ApiError(401, 'Your session has ended.');
  const signIn = 'sign in again with: ferry --portal https://portal.example sign-in';
  await expect(failed(ended, ID)).rejects.toMatchObject({ advice: `${signIn}${canTakeEffect}` });
  await expect(failed(ended, null)).rejects.toMatchObject({ advice: signIn });
  await expect(failed(new ApiError(400, 'invalid'), null)).rejects.toMatchObject({
    advice: 'try again; if this happens again, tell your contact',
  });
  // The refused request can be a later request or a second attempt, so the first request can still take effect.
  for (const status of [400, 403, 404])
    await expect(failed(new ApiError(status, 'refused'), ID)).rejects.toMatchObject({
      advice: `tell your contact${canTakeEffect}`,
    });
  for (const status of [500, 501])
    await expect(failed(new ApiError(status, 'broken'), ID)).rejects.toMatchObject({
      advice: `wait a few minutes; if this happens again, tell your contact${canTakeEffect}`,
    });
  await expect(failed(new ApiError(403, 'refused', 'Ask support.'), ID)).rejects.toMatchObject({
    advice: `ask support${canTakeEffect}`,
  });
  const advice = 'check the address; if the address is right, ask your contact which version of ferry to use';
  const unknown = async () => validated(z.never(), {});
  await expect(failing(unknown, null)).rejects.toMatchObject({ advice });
  await expect(failing(unknown, ID)).rejects.toMatchObject({ advice: `${advice}${canTakeEffect}` });
});

test('the advice about a certificate is not to check the connection, which works', async () => {
  const context = {
    target: { link: 'https://portal.example', isOption: true, args: [] },
    link: () => ({ origin: 'https://portal.example' }),
    terminal: { env: { TOKENFERRY_HOME: home } },
  } as unknown as PortalContext;
  const reason = Object.assign(new Error('refused'), { code: 'CERT_HAS_EXPIRED' });
  const cause = new TypeError('fetch failed', { cause: reason });
  const error = new ApiError(0, unreachableText('https://portal.example', cause), undefined, { cause });
  const failed = (sentTo: string | null) =>
    failingClearly(
      context,
      () => Promise.reject(error),
      () => sentTo,
    );
  const message = expect.stringContaining('If the clock of this machine is right, tell your contact') as string;
  await expect(failed(null)).rejects.toMatchObject({ message, advice: 'nothing was sent' });
  await expect(failed(ID)).rejects.toMatchObject({
    message,
    advice:
      'a request that the portal has received can still take effect, so before you run the command again, see the migration with: ferry --portal https://portal.example show',
  });
});

test('the command to sign in again does not contain the invitation, because it works once', async () => {
  const link = `https://portal.example/#invitation=${'a'.repeat(43)}`;
  const context = {
    target: { link, isOption: false, args: [] },
    link: () => parseLink(link),
    terminal: { env: { TOKENFERRY_HOME: home, TOKENFERRY_PORTAL: link } },
  } as unknown as PortalContext;
  const ended = () => Promise.reject(new ApiError(401, 'Your session has ended.'));
  await expect(failingClearly(context, ended)).rejects.toMatchObject({
    advice: 'sign in again with: ferry --portal https://portal.example sign-in',
  });
});

test('sign-in names the migration whose session has ended, if there are several', async () => {
  const server = createServer((_, response) =>
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error": "Your session has ended."}'),
  ).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const portal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { TOKENFERRY_HOME: home };
  for (const migrationId of [ID, 'bolt.xero'])
    writeSignIn(env, {
      ...{ portal, migrationId, person: 'Vic', role: 'viewer', provider: null },
      ...{ signingKey: new Secret(createSigningKey('client')), token: new Secret('t'.repeat(43)) },
    });
  const { exitCode, err } = await ferry(['--portal', portal, 'sign-in'], undefined, env);
  server.close();
  expect(exitCode).toBe(1);
  expect(err).toMatch(
    /^ferry: (acme|bolt)\.xero: your session has ended; ask your contact for a new invitation, and sign in with its link\n$/,
  );
});

test.each([
  ['', 'the link to the portal is empty'],
  ["'https://portal.example'", 'the portal must be an address that begins with https://'],
])('advises a person who has pasted %j at the prompt to paste the link again, without quotes', async (pasted, says) => {
  const env = { TOKENFERRY_HOME: createTemporaryFolder() };
  const prompts = { secret: () => Promise.resolve(pasted) };
  const { err } = await ferry(['--portal', 'https://portal.example', 'sign-in'], undefined, env, prompts);
  rmSync(env.TOKENFERRY_HOME, { recursive: true });
  expect(err).toBe(
    `ferry: ${says}; nothing was sent; run the command again, and paste the complete link of your invitation\n`,
  );
});

test('a stored sign-in with a broken key asks for a new invitation, not for a new key', async () => {
  const ended = (_: IncomingMessage, response: ServerResponse): void => {
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"error": "Your session has ended."}');
  };
  const { exitCode, err } = await run(ended, 'broken', 'show');
  expect(exitCode).toBe(1);
  expect(err).toMatch(
    /^ferry: the stored sign-in to acme\.xero at http:\S+ contains no valid key; ask your contact for a new invitation/,
  );
  expect(err).not.toContain('ferry keys create');
});

test('a sign-in that a proxy could not answer says that the invitation may have been used', async () => {
  const invitation = `#invitation=${'a'.repeat(43)}`;
  const server = createServer((_, response) => response.writeHead(502).end()).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const portal = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { err } = await ferry(['--portal', `${portal}/${invitation}`, 'sign-in'], undefined, { TOKENFERRY_HOME: home });
  server.close();
  expect(err).toContain('if the portal then refuses the invitation, ask your contact for a new invitation');
});
