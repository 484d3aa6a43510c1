import childProcess from 'node:child_process';
import fs, {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runFerry } from '../../../cli/program';
import { createAccount } from '../../../company-data-service';
import { callerWith } from '../../company-data-service/running-service';
import { until } from '../../support/async';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { capturedStream, ferry } from '../captured-terminal';

interface Started {
  url: string;
  administratorKey?: string;
  clientKey?: string;
}

/** Runs `ferry service start --json`. Returns the JSON that it prints, and a function that stops the service. */
async function startService(env: NodeJS.ProcessEnv, ...options: string[]) {
  const interruption = new AbortController();
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  const terminal = { stdout, stderr, env, userName: 'tester', interruption: () => interruption.signal };
  const exitCode = runFerry(['service', 'start', '--json', '--port', '0', ...options], terminal);
  await until(() => stdout.text.includes('\n'));
  return {
    line: JSON.parse(stdout.text) as Started,
    stop: async () => {
      interruption.abort();
      expect(await exitCode).toBe(0);
      expect(stdout.text.match(/\n/g)).toHaveLength(1);
    },
  };
}

/** Lists the temporary folders of services, ignoring the folders of other tests. */
const temporaryFolders = () =>
  readdirSync(tmpdir()).filter((name) => /^tokenferry-/.test(name) && existsSync(join(tmpdir(), name, 'service.log')));

describe('ferry service start', () => {
  it('prints keys for a new embedded database, and removes a temporary database when it ends', async () => {
    const before = temporaryFolders();
    const { line, stop } = await startService({}, '--temporary', '--requests-per-minute', '50');
    for (const [key, role] of [
      [line.administratorKey, 'administrator'],
      [line.clientKey, 'client'],
    ]) {
      const { status, body, headers } = await callerWith(line.url, key)('GET', '/account');
      expect({ status, body }).toMatchObject({ status: 200, body: { role } });
      expect(headers.get('x-rate-limit-limit')).toBe('50');
    }
    expect(temporaryFolders()).toHaveLength(before.length + 1);
    await stop();
    expect(temporaryFolders()).toEqual(before);
  });

  it('removes the temporary folder if Postgres does not start', async () => {
    // No user can run Postgres.
    const mocks = [
      jest.spyOn(process, 'getuid').mockReturnValue(0),
      jest.spyOn(childProcess, 'execFileSync').mockImplementation(() => {
        throw new Error('no such user');
      }),
    ];
    const created = jest.spyOn(fs, 'mkdtempSync');
    const { exitCode, err } = await ferry(['service', 'start', '--temporary']);
    for (const mock of mocks) mock.mockRestore();
    const folders = created.mock.results.map(({ value }) => String(value));
    created.mockRestore();
    expect(exitCode).toBe(1);
    expect(err).toContain('refuses to run as root');
    expect(folders).toHaveLength(1);
    expect(folders.filter((folder) => existsSync(folder))).toEqual([]);
  });

  it('with an external database, keeps the address of a service with an embedded database', async () => {
    const database = await createTestDatabase();
    const home = mkdtempSync(join(tmpdir(), 'ferry-service-'));
    const address = join(home, 'service', 'database-url');
    mkdirSync(join(home, 'service'));
    writeFileSync(address, 'postgres://embedded');
    const { stop } = await startService({ DATABASE_URL: database.url, TOKENFERRY_HOME: home });
    await stop();
    expect(readFileSync(address, 'utf8')).toBe('postgres://embedded');
    await database.drop();
    rmSync(home, { recursive: true });
  });
});

describe('ferry service keys: API keys', () => {
  let database: TestDatabase;
  let env: NodeJS.ProcessEnv;
  let home: string;
  let service: Awaited<ReturnType<typeof startService>>;
  beforeAll(async () => {
    database = await createTestDatabase();
    home = mkdtempSync(join(tmpdir(), 'ferry-service-'));
    env = { DATABASE_URL: database.url, TOKENFERRY_HOME: home };
    service = await startService(env);
  });
  afterAll(async () => {
    await service.stop();
    await database.drop();
    rmSync(home, { recursive: true });
  });

  const keys = async (...args: string[]) => {
    const { exitCode, out } = await ferry(['service', 'keys', ...args, '--json'], undefined, env);
    return { exitCode, answer: JSON.parse(out) as { id: string; key: string; keys: Record<string, string>[] } };
  };
  const account = (key: string) => callerWith(service.line.url, key)('GET', '/account');

  it('are not the key that encrypts tokens, which is in a file that only its owner can read', () => {
    expect(statSync(join(home, 'service.key')).mode & 0o777).toBe(0o600);
    expect(Buffer.from(readFileSync(join(home, 'service.key'), 'utf8'), 'base64')).toHaveLength(32);
  });

  it('are not created automatically in a database given by DATABASE_URL', () => {
    expect(service.line).toEqual({ schema: 'ferry.service/1', url: service.line.url });
  });

  it('are created for an account, which is created with its first key', async () => {
    const { answer: first } = await keys('create', '--account', 'Acme', '--plan', 'trial');
    const { answer: second } = await keys('create', '--account', 'Acme', '--role', 'administrator');
    expect((await account(first.key)).body).toMatchObject({ plan: 'trial', role: 'client' });
    expect((await account(second.key)).body).toMatchObject({ plan: 'trial', role: 'administrator' });
    expect(await keys('create', '--account', 'Acme', '--plan', 'paid')).toMatchObject({ exitCode: 1 });
  });

  it('of several accounts with one name need the id of an account, which the advice lists', async () => {
    const names = { name: 'Twice', plan: 'free' } as const;
    const ids = [await createAccount(database.url, names), await createAccount(database.url, names)];
    const { err } = await ferry(['service', 'keys', 'create', '--account', 'Twice'], undefined, env);
    expect(err.replace(/\s+/g, ' ')).toContain(
      `2 accounts are named Twice; specify the id of one of these accounts with --account: ${ids.join(', ')}`,
    );
    expect(await keys('create', '--account', ids[1] ?? '')).toMatchObject({ exitCode: 0 });
  });

  it('are listed without their secrets', async () => {
    const { answer } = await keys('create', '--account', 'Listed');
    const list = await keys('list');
    expect(list.answer.keys).toContainEqual(
      expect.objectContaining({ id: answer.id, account: 'Listed', plan: 'paid', role: 'client', state: 'active' }),
    );
    expect(JSON.stringify(list)).not.toContain(answer.key);
  });

  it('are refused once they are revoked or replaced', async () => {
    const { answer: old } = await keys('create', '--account', 'Rotating', '--role', 'administrator');
    const { answer: next } = await keys('rotate', old.id);
    expect(await account(old.key)).toMatchObject({ status: 403 });
    expect((await account(next.key)).body).toMatchObject({ role: 'administrator' });
    await keys('revoke', next.id);
    await until(async () => (await account(next.key)).status === 403);
    expect(await keys('revoke', 'nonsense')).toMatchObject({ exitCode: 1 });
  });
});
