import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { openDatabase } from '../../company-data-service/database/database';
import { SandboxPlatforms } from '../../company-data-service/platform/sandbox/sandbox-platforms';
import { findPlatform } from '../../platforms/platforms';
import { newConnection, runService, type RunningService } from './running-service';

let service: RunningService;
let inspector: Client;
beforeAll(async () => {
  service = await runService();
  inspector = new Client({ connectionString: service.database.url });
  await inspector.connect();
});
afterAll(async () => {
  await inspector.end();
  await service.close();
});

/** Refreshes a token as the client's own application does. */
async function refresh(platformKey: string, token: string): Promise<string | undefined> {
  const body = { grant_type: 'refresh_token', refresh_token: token };
  const answer = await service.client('POST', `/sandbox/${platformKey}/token`, { body });
  if (answer.status === 400) expect(answer.body.error).toBe('invalid_grant');
  return answer.status === 200 ? answer.body.refresh_token : undefined;
}

/** Moves all times that the sandbox has recorded for tokens back by `hours`. */
async function letHoursPass(hours: number): Promise<void> {
  await inspector.query(
    `update company_data_service.sandbox_tokens set
       spent_at = spent_at - $1 * interval '1 hour', minted_at = minted_at - $1 * interval '1 hour'`,
    [hours],
  );
}

const token = (suffix: string = randomUUID()) => `sbx-ok-1.${suffix}`;

describe('the sandbox', () => {
  it('accepts a used Xero refresh token for half an hour after its first use', async () => {
    const used = token();
    expect(await refresh('gbol', used)).toBeDefined();
    expect(await refresh('gbol', used)).toBeDefined();
    await letHoursPass(0.49);
    expect(await refresh('gbol', used)).toBeDefined();
    await letHoursPass(0.02);
    expect(await refresh('gbol', used)).toBeUndefined();
  });

  it('refuses a used refresh token immediately on other rotating platforms', async () => {
    for (const platformKey of ['fbrh', 'vxvy', 'qhyg', 'fztf']) {
      const used = token();
      expect(await refresh(platformKey, used)).toBeDefined();
      expect(await refresh(platformKey, used)).toBeUndefined();
    }
  });

  it('repeats an exchange for its caller until the new refresh token is used, but for at most a day', async () => {
    const db = openDatabase(service.database.url, 2);
    const platforms = new SandboxPlatforms(db, { syncBaseMs: 0, syncMsPerRecord: 0 });
    const platform = findPlatform('vxvy');
    if (!platform) throw new Error('The platform table does not contain FreshBooks');
    const exchange = (refreshToken: string, id: string) =>
      platforms.refresh({ platform, credential: { refreshToken } }, id).then((pair) => pair.refreshToken);
    const [used, mine, another] = [token(), randomUUID(), randomUUID()];
    await exchange(used, mine);
    const repeated = await exchange(used, mine);
    await expect(exchange(used, another)).rejects.toThrow('already been used');
    expect(await refresh('vxvy', used)).toBeUndefined();
    await exchange(repeated, another);
    await expect(exchange(used, mine)).rejects.toThrow('already been used');

    const old = token();
    await exchange(old, mine);
    await letHoursPass(24.1);
    await expect(exchange(old, mine)).rejects.toThrow('already been used');
    await db.destroy();
  });

  it('replaces a QuickBooks refresh token after 24 hours', async () => {
    const first = (await refresh('qhyg', token())) ?? '';
    expect(await refresh('qhyg', first)).toBe(first);
    await letHoursPass(23.9);
    expect(await refresh('qhyg', first)).toBe(first);
    await letHoursPass(0.2);
    const second = await refresh('qhyg', first);
    expect(second).toBeDefined();
    expect(second).not.toBe(first);
    expect(await refresh('qhyg', first)).toBeUndefined();
  });

  it('invalidates the first refresh token of a Zoho user when the user has 21', async () => {
    const user = randomUUID();
    const tokens = Array.from({ length: 21 }, (_, index) => token(`${user}/${index}`));
    const [first = '', second = ''] = tokens;
    for (const one of tokens.slice(0, 20)) expect(await refresh('rwuv', one)).toBe(one);
    expect(await refresh('rwuv', first)).toBe(first);
    expect(await refresh('rwuv', tokens[20] ?? '')).toBeDefined();
    expect(await refresh('rwuv', first)).toBeUndefined();
    expect(await refresh('rwuv', second)).toBe(second);
    expect(await refresh('rwuv', token(`${randomUUID()}/0`))).toBeDefined();

    const { connection } = await newConnection(service.administrator, 'rwuv');
    const body = { accessToken: 'a', refreshToken: first, organizationId: 'o', region: 'eu' };
    const put = await service.administrator('PUT', `${connection}/authorization`, { body });
    expect(put.body).toMatchObject({ status: 'PendingAuth', dataConnectionErrors: [{ statusText: 'GrantRefused' }] });
  });
});
