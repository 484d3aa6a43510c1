/** Tests that `ferry doctor` reports exactly the broken part, gives advice, and reveals no secret. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { sql } from 'kysely';
import { msToTs } from '@temporalio/common/lib/time';
import { pino } from 'pino';
import type { CheckResult } from '../../../cli/doctor';
import { createAccount, createKey } from '../../../company-data-service';
import { writeRunningStack } from '../../../config';
import { parsePayloadKeys, Secret } from '../../../security';
import { startCodecServer, type CodecServer } from '../../../security/codec-server';
import { openDatabase } from '../../../store';
import { startTestMigration } from '../../workflows/running-migration';
import { failing } from '../../company-data-client/misbehaving-service';
import { until } from '../../support/async';
import { createTestDatabase, type TestDatabase } from '../../support/servers/database';
import { startHttpProxy } from '../../support/faults/http-proxy';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import type { RunningWorker } from '../../../worker';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const UNREACHABLE = '127.0.0.1:1';
const EMPTY_NAMESPACE = `examined-${randomBytes(4).toString('hex')}`;

let orchestrator: OpenedOrchestrator;
let worker: RunningWorker;
let database: TestDatabase;
let codec: CodecServer;
const folder = temporaryFolder();
beforeAll(async () => {
  [orchestrator, database] = await Promise.all([startOrchestrator(), createTestDatabase()]);
  worker = await orchestrator.startWorker();
  const migration = await startTestMigration(orchestrator, 'examined', ['sbx-ok-1.x1']);
  await migration.until(({ preflight }) => preflight !== null);
  const { workflowService } = orchestrator.ferry.temporal;
  await workflowService.registerNamespace({
    namespace: EMPTY_NAMESPACE,
    workflowExecutionRetentionPeriod: msToTs('1 day'),
  });
  await until(() =>
    workflowService.describeNamespace({ namespace: EMPTY_NAMESPACE }).then(
      () => true,
      () => false,
    ),
  );
  const log = pino({ level: 'silent' });
  const { payloadKeys } = orchestrator.config;
  codec = await startCodecServer({ payloadKeys, origins: [], verifyToken: null, host: '127.0.0.1', port: 0, log });
});
afterAll(async () => {
  await codec.close();
  await orchestrator.close();
  await database.drop();
});

/** Runs `ferry doctor` as JSON and as text, asserts that neither output contains a secret, and returns the results. */
async function runDoctor(changes: NodeJS.ProcessEnv = {}) {
  const env: NodeJS.ProcessEnv = {
    ...orchestrator.env,
    TOKENFERRY_HOME: folder,
    TEMPORAL_CODEC_ENDPOINT: codec.url,
    ...changes,
  };
  const [{ exitCode, out }, text] = await Promise.all([
    ferry(['doctor', '--json'], undefined, env),
    ferry(['doctor'], undefined, env),
  ]);
  const { checks, ok } = JSON.parse(out) as { ok: boolean; checks: readonly CheckResult[] };
  for (const name of [
    'COMPANY_DATA_API_KEY',
    'TOKENFERRY_PAYLOAD_KEY',
    'TOKENFERRY_MASTER_KEY',
    'TEMPORAL_CODEC_AUTH',
  ]) {
    const secret = env[name] ?? 'hidden';
    if (secret !== '') expect(`${out}${text.out}${text.err}`).not.toContain(secret);
  }
  expect(`${out}${text.out}${text.err}`).not.toContain('hidden');
  expect({ ok, textExitCode: text.exitCode }).toEqual({ ok: exitCode === 0, textExitCode: exitCode });
  const problems = checks.filter(({ verdict }) => verdict === 'problem');
  return { exitCode, checks, problems, text: text.out };
}

test('no check reports a problem if everything works', async () => {
  const { exitCode, checks, text } = await runDoctor();
  expect({ exitCode, verdicts: checks.map(({ check, verdict }) => [check, verdict]) }).toEqual({
    exitCode: 0,
    verdicts: [
      ['Node.js', 'ok'],
      ['Temporal', 'ok'],
      ['namespace', 'ok'],
      ['search attributes', 'ok'],
      ['worker', 'ok'],
      ['payload key', 'ok'],
      ['database', 'ok'],
      ['schema', 'ok'],
      ['ledger', 'ok'],
      ['vaults', 'ok'],
      ['service', 'ok'],
      ['API key', 'ok'],
      ['codec server', 'ok'],
      ['signing key', 'not-checked'],
      ['clock', 'ok'],
    ],
  });
  expect(text).toMatch(/^✓ payload key {8}[0-9a-f]{16}: decrypts \d+ migrations?$/m);
  expect(text).toMatch(/\nNo problems found\.\n$/);
});

describe('doctor reports', () => {
  test.each<[string, NodeJS.ProcessEnv, [string, RegExp, RegExp][]]>([
    ['an unreachable Temporal', { TEMPORAL_ADDRESS: UNREACHABLE }, [['Temporal', /at 127\.0\.0\.1:1$/, /ferry up/]]],
    ['an unknown namespace', { TEMPORAL_NAMESPACE: 'nowhere' }, [['namespace', /nowhere/, /ferry setup/]]],
    [
      'a namespace that has not been prepared',
      { TEMPORAL_NAMESPACE: EMPTY_NAMESPACE },
      [
        ['search attributes', /missing: FerryStep, /, /ferry setup/],
        ['worker', /no worker is running/, /start a worker/],
      ],
    ],
    [
      'an unreachable Postgres',
      { DATABASE_URL: `postgres://user:hidden@${UNREACHABLE}/tokenferry` },
      [['database', /127\.0\.0\.1:1\/tokenferry cannot be used/, /^check that Postgres is running .* DATABASE_URL/]],
    ],
    [
      'an invalid database address',
      { DATABASE_URL: 'hidden' },
      [['database', /DATABASE_URL must be an address/, /^$/]],
    ],
    ['an unreachable service', { COMPANY_DATA_URL: `http://${UNREACHABLE}` }, [['service', /./, /COMPANY_DATA_URL/]]],
    [
      'an API key that the service refuses',
      { COMPANY_DATA_API_KEY: 'hidden' },
      [['API key', /401.*correlation id/, /COMPANY_DATA_API_KEY/]],
    ],
    ['a missing API key', { COMPANY_DATA_API_KEY: '' }, [['service', /COMPANY_DATA_API_KEY is not/, /^$/]]],
    [
      'a payload key other than the one that migrations were started with',
      { TOKENFERRY_PAYLOAD_KEY: randomBytes(32).toString('base64') },
      [
        [
          'payload key',
          /^this machine lacks payload key [0-9a-f]{16}, which migrations in this namespace need$/,
          /TOKENFERRY_PAYLOAD_KEY/,
        ],
      ],
    ],
    ['a missing payload key', { TOKENFERRY_PAYLOAD_KEY: '' }, [['payload key', /TOKENFERRY_PAYLOAD_KEY or/, /^$/]]],
    [
      'an unreachable codec server',
      { TEMPORAL_CODEC_ENDPOINT: `http://${UNREACHABLE}` },
      [['codec server', /./, /ferry codec-server/]],
    ],
  ])('%s', async (_, changes, expected) => {
    const { exitCode, problems, checks } = await runDoctor(changes);
    expect(exitCode).toBe(1);
    expect(problems.map(({ check }) => check)).toEqual(expected.map(([check]) => check));
    for (const [check, finding, advice] of expected) {
      const found = problems.find((each) => each.check === check);
      expect(found?.finding).toMatch(finding);
      expect(found?.advice ?? '').toMatch(advice);
    }
    expect(checks).toHaveLength(15);
  });

  test('a service whose API fails, without blaming the API key', async () => {
    const between = await startHttpProxy(orchestrator.service.url);
    between.on('GET', /^\/account/, failing(500, 'no database'));
    const { problems, text } = await runDoctor({ COMPANY_DATA_URL: between.url });
    await between.close();
    const finding = expect.stringContaining(
      'can be reached, but the API of the service does not work: GET /account: answered 500',
    ) as unknown;
    const advice = expect.stringContaining('check that the service is healthy') as unknown;
    expect(problems).toMatchObject([{ check: 'API of the service', finding, advice }]);
    // The findings of all checks begin in the same column.
    expect(text).toMatch(/^✗ API of the service {2}127\./m);
    expect(text).toMatch(/^✓ payload key {9}[0-9a-f]{16}: /m);
  });

  test('an invalid signing key', async () => {
    const file = path.join(folder, 'broken.key');
    writeFileSync(file, 'hidden');
    const { problems } = await runDoctor({ TOKENFERRY_SIGNING_KEY_FILE: file });
    expect(problems).toEqual([expect.objectContaining({ check: 'signing key' })]);
  });

  test('a database that does not exist, without advice to start Postgres', async () => {
    const { problems } = await runDoctor({ DATABASE_URL: `${database.url}-other` });
    const advice = expect.stringMatching(/^correct the name of the database in DATABASE_URL, or create /) as unknown;
    expect(problems).toMatchObject([{ check: 'database', advice }]);
  });

  test('a schema of a newer version', async () => {
    const db = await openDatabase({ url: database.url, createLedger: true });
    await sql`insert into tokenferry.kysely_migration (name, timestamp) values ('9999-later', '')`.execute(db);
    await db.destroy();
    const { problems } = await runDoctor({ DATABASE_URL: database.url });
    expect(problems).toEqual([
      {
        check: 'schema',
        verdict: 'problem',
        finding: expect.stringContaining('9999-later') as string,
        advice: expect.any(String) as string,
      },
    ]);
  });
});

test('if nothing is configured, each missing part is reported with the command that starts everything', async () => {
  const { out, exitCode } = await ferry(['doctor', '--json'], undefined, { TOKENFERRY_HOME: folder });
  const { checks } = JSON.parse(out) as { checks: readonly CheckResult[] };
  expect(exitCode).toBe(1);
  const problems = checks.filter(({ verdict }) => verdict === 'problem');
  expect(problems.map(({ check }) => check)).toEqual(['Temporal', 'payload key', 'database']);
  for (const { finding } of problems) expect(finding).toContain('start a stack with: ferry up');
});

test("a client's key is reported as sufficient only for self-service migrations", async () => {
  const accountId = await createAccount(orchestrator.serviceDatabaseUrl, { name: 'Client', plan: 'paid' });
  const { key } = await createKey(orchestrator.serviceDatabaseUrl, { accountId, role: 'client' });
  const { exitCode, checks } = await runDoctor({ COMPANY_DATA_API_KEY: key });
  expect(exitCode).toBe(0);
  expect(checks.find(({ check }) => check === 'API key')?.finding).toMatch(
    /^role client \(self-service migrations only\)/,
  );
});

test('a signing key is reported with the name of its holder', async () => {
  const file = path.join(folder, 'sam.key');
  await ferry(['keys', 'create', '--by', 'Sam', '--file', file], undefined, { TOKENFERRY_HOME: folder });
  const { checks } = await runDoctor({ TOKENFERRY_SIGNING_KEY_FILE: file });
  expect(checks.find(({ check }) => check === 'signing key')?.finding).toMatch(
    /^belongs to Sam, public key [0-9a-f]{64}$/,
  );
});

test('the codec server of the running stack is checked if no other one is configured', async () => {
  const home = mkdtempSync(path.join(folder, 'stack-'));
  const ofStack = async (codecUrl: string, changes: NodeJS.ProcessEnv = {}) => {
    writeRunningStack(home, {
      ...{ pid: process.pid, codecUrl, databaseUrl: '', service: { url: '', apiKey: '' } },
      temporal: { address: orchestrator.env['TEMPORAL_ADDRESS'] ?? '', namespace: 'default' },
      ...{ masterKeyFile: '', vaultSecretsFolder: '', payloadKeyFile: '' },
    });
    const { checks } = await runDoctor({ TOKENFERRY_HOME: home, TEMPORAL_CODEC_ENDPOINT: '', ...changes });
    return checks.find(({ check }) => check === 'codec server');
  };
  expect(await ofStack(codec.url)).toEqual({
    check: 'codec server',
    verdict: 'ok',
    finding: `decrypts payloads that this machine encrypts (at ${new URL(codec.url).host}, part of the running stack)`,
  });
  expect(await ofStack(`http://${UNREACHABLE}`)).toMatchObject({
    verdict: 'problem',
    advice: expect.stringContaining('ferry up') as unknown,
  });
  expect(await ofStack(`http://${UNREACHABLE}`, { TEMPORAL_CODEC_ENDPOINT: codec.url })).toMatchObject({
    verdict: 'ok',
    finding: `decrypts payloads that this machine encrypts (at ${new URL(codec.url).host})`,
  });
});

test('the variable to set is reported for a codec server that requires a token', async () => {
  const guarded = await startCodecServer({
    payloadKeys: parsePayloadKeys(new Secret(randomBytes(32).toString('base64'))),
    ...{ origins: [], host: '127.0.0.1', port: 0, log: pino({ level: 'silent' }) },
    verifyToken: async () => Promise.reject(new Error('never')),
  });
  const { problems } = await runDoctor({ TEMPORAL_CODEC_ENDPOINT: guarded.url });
  expect(problems).toEqual([
    expect.objectContaining({
      check: 'codec server',
      advice: 'set TEMPORAL_CODEC_AUTH to a valid token, in the form "Bearer TOKEN"',
    }),
  ]);
  await guarded.close();
});

test('a worker that has stopped is not reported as running, although it polled a moment ago', async () => {
  await worker.stop();
  const { problems } = await runDoctor();
  expect(problems).toMatchObject([
    { check: 'worker', finding: expect.stringContaining('no worker answers') as unknown },
  ]);
});
