/** Missing keys cause a clear error, and nothing is lost. Work continues when the key is available. */
import { randomBytes } from 'node:crypto';
import { decide, openLedgerClient, readRetriedErrors, type LedgerClient } from '../../client';
import { parseMasterKeys, parsePayloadKeys, Secret } from '../../security';
import { countCompanies, readTrail, stageApplication } from '../../store';
import type { RunningWorker } from '../../worker';
import { ferry } from '../cli/captured-terminal';
import { waitForProgress, startTestMigration, SUPPORT, type TestMigration } from '../workflows/running-migration';
import { until } from '../support/async';
import { SEPARATE_NAMESPACES } from '../support/jest/namespaces';
import { PAYLOAD_KEY } from '../support/servers/keys';
import { useOrchestrator, type Orchestrator } from '../support/servers/orchestrator';

const OTHER_KEY = randomBytes(32).toString('base64');
const payloadKeys = (...keys: string[]) => parsePayloadKeys(new Secret(keys.join()));
const OTHER_KEY_ID = payloadKeys(OTHER_KEY).newest.id;

const orchestrator = useOrchestrator({}, undefined, SEPARATE_NAMESPACES['missing-keys']);
let worker: RunningWorker;
beforeAll(async () => {
  worker = await orchestrator.startWorker({ payloadKeys: payloadKeys(OTHER_KEY, PAYLOAD_KEY) });
});

const run = (env: NodeJS.ProcessEnv, ...args: string[]) => ferry(args, undefined, { ...orchestrator.env, ...env });

async function replaceWorker(some: Parameters<Orchestrator['startWorker']>[0]): Promise<void> {
  await worker.stop();
  worker = await orchestrator.startWorker(some);
}

const historyLength = async ({ id }: TestMigration): Promise<number> =>
  (await orchestrator.ferry.temporalWithoutCodec.workflow.getHandle(id).describe()).historyLength;

describe('ferry without the payload key of a migration', () => {
  let readable: TestMigration;
  let unreadable: TestMigration;
  let ferryWithBothKeys: LedgerClient;
  beforeAll(async () => {
    ferryWithBothKeys = await openLedgerClient({
      ...orchestrator.config,
      payloadKeys: payloadKeys(OTHER_KEY, PAYLOAD_KEY),
    });
    readable = await startTestMigration(orchestrator, 'lost-ours', ['sbx-ok-1']);
    unreadable = await startTestMigration({ ...orchestrator, ferry: ferryWithBothKeys }, 'lost-others', ['sbx-ok-1']);
    await waitForProgress(ferryWithBothKeys, readable.id, ({ preflight }) => preflight !== null);
    await unreadable.until(({ preflight }) => preflight !== null);
  });
  afterAll(() => ferryWithBothKeys.close());

  test('lists every migration, and names the missing key of migrations that it cannot read', async () => {
    const { exitCode, out, err } = await run({}, 'list');
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    const row = (id: string) => out.split('\n').find((line) => line.startsWith(`${id} `));
    expect(row(readable.id)).toMatch(/waiting {2,}supply-details {2,}support {2,}0\/1/);
    expect(row(unreadable.id)).toMatch(/waiting, payload key missing {2,}supply-details {2,}support {2,}0\/1/);
    expect(out).toContain(
      `Payload key ${OTHER_KEY_ID} is missing on this machine, so the details of ${unreadable.id} cannot be read:`,
    );
    const { migrations } = JSON.parse((await run({}, 'list', '--json')).out) as { migrations: object[] };
    expect(migrations).toContainEqual(
      expect.objectContaining({ migrationId: unreadable.id, missingKey: OTHER_KEY_ID }),
    );
    expect(migrations).toContainEqual(expect.objectContaining({ migrationId: readable.id, missingKey: null }));
  });

  test.each([[['sweep']], [['schedule', 'show', '--all']]])('completes ferry %j', async (args) => {
    expect(await run({}, ...args)).toMatchObject({ exitCode: 0, err: '' });
  });

  test.each([
    [['show']],
    [['watch']],
    [['go-nogo']],
    [['pause']],
    [['cancel', '--reason', 'any', '--yes']],
    [['approve', 'supply-details', '--yes']],
  ])('names the missing key for ferry %j and sends nothing', async ([command = '', ...more]) => {
    const before = await historyLength(unreadable);
    const { exitCode, out, err } = await run({}, command, unreadable.id, ...more);
    expect({ exitCode, out, err }).toEqual({
      exitCode: 1,
      out: '',
      err: `ferry: ${unreadable.id} cannot be read on this machine: payload key ${OTHER_KEY_ID} is missing; ask the operator of the workers for this key, and add it to TOKENFERRY_PAYLOAD_KEY or to the file in TOKENFERRY_PAYLOAD_KEY_FILE\n`,
    });
    expect(await historyLength(unreadable)).toBe(before);
  });

  test('still shows data from the ledger', async () => {
    expect((await run({}, 'companies', unreadable.id)).out).toContain('R-1');
    expect((await run({}, 'report', unreadable.id)).exitCode).toBe(0);
  });

  test('sends a decision once the key has been added', async () => {
    const both = { TOKENFERRY_PAYLOAD_KEY: `${PAYLOAD_KEY},${OTHER_KEY}` };
    expect((await run(both, 'approve', unreadable.id, 'supply-details', '--yes', '--by', 'Sam')).exitCode).toBe(0);
  });

  test('reports that a decision was sent if only the reply cannot be read', async () => {
    const answer = await decide(orchestrator.ferry, readable.id, 'pause', { ...SUPPORT, reason: 'a new key' });
    expect(answer).toMatchObject({
      outcome: 'recorded',
      text: `the decision was sent, but its outcome cannot be read on this machine: payload key ${OTHER_KEY_ID} is missing. To see the outcome, run: ferry audit ${readable.id}`,
    });
    expect((await decide(ferryWithBothKeys, readable.id, 'resume', SUPPORT)).outcome).toBe('applied');
  });
});

test('continues a migration when a worker gets the missing payload key, and applies each decision once', async () => {
  await replaceWorker({});
  const migration = await startTestMigration(orchestrator, 'lost-worker', ['sbx-ok-1']);
  await migration.until(({ preflight }) => preflight !== null);
  await replaceWorker({ payloadKeys: payloadKeys(OTHER_KEY) });

  const { exitCode, err } = await run({}, 'show', migration.id);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: expect.stringMatching(
      new RegExp(`^ferry: the worker cannot continue ${migration.id}.*; check the keys`),
    ) as unknown,
  });
  const decided = await run({}, 'approve', migration.id, 'supply-details', '--yes', '--by', 'Sam');
  expect(decided.exitCode).toBe(0);
  expect(decided.out).toContain('sent, but not applied yet');
  const ferryWithBothKeys = await openLedgerClient({
    ...orchestrator.config,
    payloadKeys: payloadKeys(PAYLOAD_KEY, OTHER_KEY),
  });
  const why = async () => (await readRetriedErrors(ferryWithBothKeys, migration.id)).join();
  await until(async () =>
    (await why()).startsWith('the worker cannot continue: A payload was encrypted under payload key'),
  );

  // The cause is shown for as long as the tasks fail, even (in the second round) between two retries.
  const both = { TOKENFERRY_PAYLOAD_KEY: `${PAYLOAD_KEY},${OTHER_KEY}` };
  const cause = 'A payload was encrypted under payload key';
  for (let round = 1; round <= 2; round += 1) {
    expect((await run(both, 'show', migration.id)).err).toContain(
      `the worker cannot continue ${migration.id}: ${cause}`,
    );
    const listed = (await run(both, 'list')).out;
    expect(listed).toMatch(new RegExp(`^${migration.id} +waiting, stuck `, 'm'));
    expect(listed).toContain(`The worker cannot continue ${migration.id}: ${cause}`);
    const examined = await run(both, 'doctor');
    expect(examined.exitCode).toBe(1);
    expect(examined.out).toMatch(new RegExp(`✗ worker +the worker cannot continue ${migration.id}.*: ${cause}`));
    for (const decision of [['approve'], ['reject', '--reason', 'odd']])
      expect((await run(both, ...decision, migration.id)).err).toMatch(
        new RegExp(
          `^ferry: the current step is unknown, because the worker cannot continue ${migration.id}: ${cause}.*; nothing was decided; check the keys and the version of every worker.*; or add the step to the command: supply-details`,
        ),
      );
    const resumed = await run(both, 'resume', migration.id);
    expect(resumed.err).toContain(`it is unknown who has paused the migration, because the worker cannot continue`);
    expect(resumed.err).toContain('check the keys and the version of every worker');
    expect((await run(both, 'pause', migration.id)).out).toContain(
      `the decision was sent, but not applied yet: the worker cannot continue: ${cause}`,
    );
  }

  await replaceWorker({ payloadKeys: payloadKeys(OTHER_KEY, PAYLOAD_KEY) });
  const trail = async () => JSON.parse((await run({}, 'audit', migration.id, '--json')).out) as { trail: object[] };
  await until(async () => (await trail()).trail.length > 0);
  expect((await trail()).trail).toContainEqual(
    expect.objectContaining({
      applied: true,
      decision: expect.objectContaining({ step: 'supply-details', by: 'Sam' }) as unknown,
    }),
  );
  await ferryWithBothKeys.close();
}, 180_000);

describe('a message under a payload key that the worker does not have', () => {
  let migration: TestMigration;
  let ferryWithNewKey: LedgerClient;
  const texts = async (): Promise<readonly string[]> => {
    const trail: string[] = [];
    for await (const { decision, outcome } of readTrail(orchestrator.ferry.db, migration.id))
      trail.push(`${decision.kind}: ${outcome.text}`);
    return trail;
  };
  beforeAll(async () => {
    await replaceWorker({});
    ferryWithNewKey = await openLedgerClient({
      ...orchestrator.config,
      payloadKeys: payloadKeys(OTHER_KEY, PAYLOAD_KEY),
    });
    migration = await startTestMigration(orchestrator, 'newer-key', ['sbx-ok-1']);
    await migration.until(({ preflight }) => preflight !== null);
  });
  afterAll(() => ferryWithNewKey.close());

  test('is refused and recorded as unreadable, and the migration continues', async () => {
    await ferryWithNewKey.temporal.workflow.getHandle(migration.id).signal('pause', SUPPORT);
    const inventedKey = {
      metadata: { encoding: Buffer.from('binary/encrypted'), 'encryption-key-id': Buffer.from('deadbeefdeadbeef') },
      data: Buffer.from('AAAA'),
    };
    const messages = 60;
    for (let sent = 1; sent < messages; sent += 1) {
      await orchestrator.ferry.temporal.workflowService.signalWorkflowExecution({
        namespace: orchestrator.config.temporal.namespace,
        workflowExecution: { workflowId: migration.id },
        signalName: 'pause',
        input: { payloads: [inventedKey] },
      });
    }
    await until(async () => (await texts()).length === messages);
    const refused = (keyId: string) =>
      `unreadable: the message was encrypted under payload key ${keyId}, which the worker does not have; start every worker with that key as well, then send the message again`;
    expect([...new Set(await texts())]).toEqual([refused(OTHER_KEY_ID), refused('deadbeefdeadbeef')]);
    expect(await migration.send('pause', SUPPORT)).toBe('applied');
    expect(await migration.send('resume', SUPPORT)).toBe('applied');
  });

  test('tells its sender at once which key is missing', async () => {
    const answer = await decide(ferryWithNewKey, migration.id, 'pause', SUPPORT);
    expect(answer).toMatchObject({ outcome: 'refused', text: expect.stringContaining(OTHER_KEY_ID) as unknown });
    expect((await migration.until(() => true)).state).toBe('waiting');
  });

  test('stays refused when a worker with the key replays the migration', async () => {
    await replaceWorker({ payloadKeys: payloadKeys(PAYLOAD_KEY, OTHER_KEY) });
    expect((await migration.until(() => true)).state).toBe('waiting');
    expect(await migration.send('approve', { step: 'supply-details', ...SUPPORT })).toBe('applied');
    await migration.until(({ step }) => step === 'schedule');
    expect(await readRetriedErrors(orchestrator.ferry, migration.id)).toEqual([]);
    await replaceWorker({});
    expect(await migration.send('proposeTime', { startAt: '2099-01-01T00:00Z', ...SUPPORT })).toBe('applied');
  });

  test('stops a worker without the key if another worker has applied it, until the worker has the key', async () => {
    await replaceWorker({ payloadKeys: payloadKeys(PAYLOAD_KEY, OTHER_KEY) });
    await ferryWithNewKey.temporal.workflow.getHandle(migration.id).signal('pause', SUPPORT);
    await migration.until(({ state }) => state === 'paused');
    await replaceWorker({});
    await ferryWithNewKey.temporal.workflow.getHandle(migration.id).signal('resume', SUPPORT);
    const why = async () => (await readRetriedErrors(orchestrator.ferry, migration.id)).join();
    await until(async () => (await why()).includes(`under payload key ${OTHER_KEY_ID}`));
    await replaceWorker({ payloadKeys: payloadKeys(PAYLOAD_KEY, OTHER_KEY) });
    await until(async () => (await texts()).at(-1)?.startsWith('resume: ') ?? false);
  });
});

test('sends no credentials without the master key, names the key, and continues when the worker has it', async () => {
  await replaceWorker({});
  const migration = await startTestMigration(orchestrator, 'lost-master', ['sbx-ok-1', 'sbx-ok-1']);
  await migration.until(({ preflight, checking }) => preflight !== null && !checking);
  const { newest } = orchestrator.config.masterKeys;
  await replaceWorker({ masterKeys: parseMasterKeys(new Secret(OTHER_KEY)) });
  await migration.readyToMove();

  const key = `master key ${newest.id}`;
  const outage = `Retrying: The vault of ${migration.id} was encrypted under ${key}, but this process only has`;
  await until(async () => (await run({}, 'show', migration.id)).out.includes(outage));
  expect(await countCompanies(orchestrator.ferry.db, migration.id)).toMatchObject({
    waiting: 2,
    failed: 0,
    importing: 0,
  });

  await replaceWorker({});
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

test('does not rotate a vault if the master key that wraps its private key is missing', async () => {
  const vaults = () => orchestrator.ferry.db.selectFrom('migrations').select(['id', 'vault_wrapped_key']).execute();
  const before = await vaults();
  const { exitCode, err } = await run({ TOKENFERRY_MASTER_KEY: OTHER_KEY }, 'vault', 'rotate');
  expect(exitCode).toBe(1);
  expect(err).toContain(`under master key ${orchestrator.config.masterKeys.newest.id}`);
  expect(err).toContain('this vault was not changed; once this master key is added, run the command again');
  expect(await vaults()).toEqual(before);
});

test('does not renew a vault whose master key is missing, unless the key is confirmed to be lost', async () => {
  await replaceWorker({});
  const migration = await startTestMigration(orchestrator, 'lost-key-renewed', ['sbx-ok-1']);
  await migration.until(({ preflight, checking }) => preflight !== null && !checking);
  const renew = ['vault', 'renew', migration.id, '--yes'];
  const env = { TOKENFERRY_MASTER_KEY: OTHER_KEY };
  const refused = await run(env, ...renew);
  expect(refused.exitCode).toBe(1);
  expect(refused.err).toContain(`run "ferry vault renew ${migration.id} --key-lost"`);
  expect(refused.err).toContain('this vault was not changed; once this master key is added, run the command again');
  const application = { clientId: 'app-1', environment: 'production', sealed: Buffer.from('sealed') } as const;
  await stageApplication(orchestrator.ferry.db, migration.id, 'decision-1', application);
  const { exitCode, out } = await run(env, ...renew, '--key-lost');
  expect(exitCode).toBe(0);
  expect(out).toContain(`Have the client supply its application again with: ferry application ${migration.id}`);
});
