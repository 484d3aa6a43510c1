import { sql } from 'kysely';
import { revokeInvitation } from '../../store';
import { createMigration, invite, json, openPortal, PUBLIC_KEY, signIn, usePortal } from './running-portal';

const portal = usePortal();

const redeem = (invitation: string, headers: Record<string, string> = {}, as = 'cookie') => {
  const request = json({ invitation, publicKey: PUBLIC_KEY, as });
  return fetch(`${portal.url}/api/session`, {
    ...request,
    headers: { ...request.headers, origin: portal.url, ...headers },
  });
};

test('a browser gets a session in a cookie that no script can read', async () => {
  const { token } = await invite(portal.db, await createMigration(portal.db));
  const answer = await redeem(token);
  expect(answer.status).toBe(200);
  expect(Object.keys((await answer.json()) as object).sort()).toEqual(
    ['expiresAt', 'isKeyConfirmed', 'migrationId', 'person', 'publicKey', 'role'].sort(),
  );
  const cookie = answer.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/^__Host-tokenferry=[\w-]{43}; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Strict$/);
  const headers = { cookie: cookie.split(';')[0] ?? '' };
  const session = await fetch(`${portal.url}/api/session`, { headers });
  expect(await session.json()).toMatchObject({ person: 'Cleo', role: 'client', isKeyConfirmed: false });

  const signedOut = await fetch(`${portal.url}/api/session`, {
    method: 'DELETE',
    headers: { ...headers, origin: portal.url, 'x-tokenferry-portal': '1' },
  });
  expect(signedOut.status).toBe(204);
  expect(signedOut.headers.get('set-cookie')).toMatch(/^__Host-tokenferry=; .*Max-Age=0/);
  expect((await fetch(`${portal.url}/api/session`, { headers })).status).toBe(401);
});

test('the answer to an invitation that cannot be used does not say why', async () => {
  const migrationId = await createMigration(portal.db);
  const [used, expired, revoked] = await Promise.all([1, 2, 3].map(() => invite(portal.db, migrationId)));
  if (!used || !expired || !revoked) throw new Error('three invitations are needed');
  expect((await redeem(used.token)).status).toBe(200);
  await sql`update portal_invitations set expires_at = now() where id = ${expired.id}`.execute(portal.db);
  await revokeInvitation(portal.db, revoked.id, 'Sam');
  const answers = await Promise.all(
    [used.token, expired.token, revoked.token, 'x'.repeat(43)].map(async (token) => {
      const answer = await redeem(token);
      return { status: answer.status, text: await answer.text(), cookie: answer.headers.get('set-cookie') };
    }),
  );
  const [first] = answers;
  expect(first).toEqual({
    status: 403,
    text: expect.stringMatching(/cannot be used.*Ask your contact/) as string,
    cookie: null,
  });
  for (const answer of answers) expect(answer).toEqual(first);
});

test.each([1, 19, 42])(
  'a link that was cut off after %i characters of the token is called incomplete',
  async (length) => {
    const { token } = await invite(portal.db, await createMigration(portal.db));
    const answer = await redeem(token.slice(0, length));
    expect(answer.status).toBe(400);
    expect(await answer.json()).toEqual({
      error: 'The link of this invitation is incomplete.',
      advice: expect.stringMatching(/^Copy the whole link/) as string,
    });
  },
);

test.each([
  [{ as: 'token', invitation: 7 }, 'The field invitation is missing or has the wrong type.'],
  [{ as: 'token', invitation: 'x'.repeat(201) }, 'The field invitation is too long or too large.'],
  [{ as: 'elsewhere', invitation: 'x'.repeat(43) }, 'The field as is invalid.'],
  [{ as: 'token', invitation: 'x'.repeat(43), more: 1 }, 'The request has an unknown field.'],
])('an invalid request is described without the words of the validator: %j', async (request, error) => {
  const answer = await fetch(`${portal.url}/api/session`, json(request));
  expect([answer.status, await answer.json()]).toEqual([400, { error }]);
});

test('if several browsers use one link at once, only one gets a session', async () => {
  const { token } = await invite(portal.db, await createMigration(portal.db));
  const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(token)));
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array<number>(7).fill(403)]);
});

test('an invitation of a client is not used up by a request without a key', async () => {
  const { token } = await invite(portal.db, await createMigration(portal.db));
  const withoutKey = await fetch(`${portal.url}/api/session`, json({ invitation: token, as: 'token' }));
  expect(withoutKey.status).toBe(403);
  expect((await redeem(token)).status).toBe(200);
});

describe('a page of another site', () => {
  const unsafe: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: 'https://127.0.0.1.evil.example' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { 'x-tokenferry-portal': '' },
  ];

  test.each(unsafe)('cannot sign a person in: %j', async (headers) => {
    const { token } = await invite(portal.db, await createMigration(portal.db));
    const answer = await redeem(token, headers);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await redeem(token)).status).toBe(200); // the invitation was not used up
  });

  test.each(unsafe)('cannot use the cookie: %j', async (headers) => {
    const session = await signIn(portal);
    const answer = await fetch(`${portal.url}/api/session`, {
      method: 'DELETE',
      headers: {
        cookie: `__Host-tokenferry=${session.token}`,
        origin: portal.url,
        'x-tokenferry-portal': '1',
        ...headers,
      },
    });
    expect(answer.status).toBe(403);
    expect((await session.fetch('/api/session')).status).toBe(200);
  });

  test('cannot use the cookie in a request that does not say where it comes from', async () => {
    const { token } = await signIn(portal);
    const headers = { cookie: `__Host-tokenferry=${token}`, 'x-tokenferry-portal': '1' };
    expect((await fetch(`${portal.url}/api/session`, { method: 'DELETE', headers })).status).toBe(403);
  });

  test('cannot sign a person in with a request that does not say where it comes from', async () => {
    const { token } = await invite(portal.db, await createMigration(portal.db));
    const request = json({ invitation: token, publicKey: PUBLIC_KEY, as: 'cookie' });
    const answer = await fetch(`${portal.url}/api/session`, request);
    expect(answer.status).toBe(403);
    expect(answer.headers.get('set-cookie')).toBeNull();
    expect((await redeem(token)).status).toBe(200);
  });

  test('gets no permission to read answers', async () => {
    const answer = await fetch(`${portal.url}/api/openapi.json`, { headers: { origin: 'https://evil.example' } });
    expect(answer.headers.get('access-control-allow-origin')).toBeNull();
    const preflight = await fetch(`${portal.url}/api/decisions`, {
      method: 'OPTIONS',
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBeGreaterThanOrEqual(400);
    expect([...preflight.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

test('a browser on this machine may use localhost or 127.0.0.1', async () => {
  const { token } = await invite(portal.db, await createMigration(portal.db));
  expect((await redeem(token, { origin: portal.url.replace('127.0.0.1', 'localhost') })).status).toBe(200);
});

describe('rate limits', () => {
  test('guessing invitations is limited per address', async () => {
    const limited = await openPortal({ limits: { redemptionsPerMinute: 3 } });
    try {
      const guess = () => fetch(`${limited.url}/api/session`, json({ invitation: 'x'.repeat(43), as: 'token' }));
      const found = [];
      for (let attempt = 0; attempt < 5; attempt += 1) found.push(await guess());
      expect(found.map(({ status }) => status)).toEqual([403, 403, 403, 429, 429]);
      expect(Number(found[4]?.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await found[4]?.json()).toEqual({
        error: 'Too many requests.',
        advice: expect.stringMatching(/Try again/) as string,
      });
    } finally {
      await limited.close();
    }
  });

  test('one session does not use up the limit of another', async () => {
    const limited = await openPortal({ limits: { requestsPerSession: 3 } });
    try {
      const [greedy, other] = [await signIn(limited), await signIn(limited)];
      const found = [];
      for (let attempt = 0; attempt < 5; attempt += 1) found.push((await greedy.fetch('/api/session')).status);
      expect(found).toEqual([200, 200, 200, 429, 429]);
      expect((await other.fetch('/api/session')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('unknown tokens are limited before they cause more database queries, and do not lock people out', async () => {
    const limited = await openPortal({ limits: { refusalsPerAddress: 2 } });
    try {
      const session = await signIn(limited);
      const guess = () =>
        fetch(`${limited.url}/api/session`, { headers: { authorization: `Bearer ${'B'.repeat(43)}` } });
      const found = [];
      for (let attempt = 0; attempt < 4; attempt += 1) found.push((await guess()).status);
      expect(found).toEqual([401, 401, 429, 429]);
      expect((await session.fetch('/api/session')).status).toBe(200);
    } finally {
      await limited.close();
    }
  });

  test('an address cannot escape its limit with X-Forwarded-For, unless its proxy is trusted', async () => {
    const call = async (url: string) => {
      const found = [];
      for (let attempt = 0; attempt < 4; attempt += 1) {
        const headers = { 'x-forwarded-for': `203.0.113.${attempt}` };
        found.push((await fetch(`${url}/health`, { headers })).status);
      }
      return found.filter((status) => status === 429).length;
    };
    const direct = await openPortal({ limits: { requestsPerAddress: 2 } });
    const behindProxy = await openPortal({ limits: { requestsPerAddress: 2 }, trustedProxies: ['127.0.0.1'] });
    try {
      expect(await call(direct.url)).toBe(2);
      expect(await call(behindProxy.url)).toBe(0);
    } finally {
      await Promise.all([direct.close(), behindProxy.close()]);
    }
  });
});
