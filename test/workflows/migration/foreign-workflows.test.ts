/**
 * An attacker with write access to the Temporal namespace, but without a signing key, attacks a signed migration. They
 * start the workflows of the bundle with input of their choice, call activities from a workflow of their own, and send
 * signals.
 */
import path from 'node:path';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { createDataConverter, createSigningKey, parseSigningKey, Secret } from '../../../security';
import { readDecisions, readMigration } from '../../../store';
import { CLOSE_TERMINATED, MIGRATIONS, TASK_QUEUE } from '../../../workflows/messages';
import { readCounts } from '../../../client';
import { readRow } from '../../support/ledger';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import type { TestMigration } from '../running-migration';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

const signers = ['Sam', 'Cleo'].map((by) => parseSigningKey(new Secret(createSigningKey(by))));
let orchestrator: Orchestrator;
let migration: TestMigration;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  const credentials = ['sbx-ok-1.t1', 'sbx-ok-1.t2', 'sbx-ok-1.t3'];
  migration = await startTestMigration(orchestrator, 'attacked', credentials, null, { signers });
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
}, 60_000);
afterAll(() => orchestrator.close());

const workflows = () => orchestrator.ferry.temporal.workflow;
let started = 0;

/** Starts a workflow, and returns the reason why it has failed. */
async function failureOf(type: string, input: object, workflowId = `evil-${(started += 1)}`): Promise<string> {
  const options = { workflowId, taskQueue: TASK_QUEUE, args: [input] };
  const handle = await workflows().start(type, options);
  return handle.result().then(
    () => 'it has succeeded',
    (error: unknown) => messagesOf(error),
  );
}

const messagesOf = (error: unknown): string =>
  error instanceof Error ? `${error.message} ${messagesOf(error.cause)}` : '';

/** Nothing of the attack is in the ledger: one company is moved, the others wait, and the migration is open. */
async function assertUntouched(): Promise<void> {
  const { db } = orchestrator.ferry;
  expect(await readCounts(orchestrator.ferry, migration.id)).toMatchObject({ moved: 1, waiting: 2 });
  expect(await readMigration(db, migration.id)).toMatchObject({
    ...{ state: 'open', released: 'first-company', vaultDestroyedAt: null, ending: null },
  });
  for (const row of [2, 3]) expect(await readRow(db, migration.id, row)).toMatchObject({ state: 'waiting', tries: 0 });
  const applied = (await readDecisions(db, migration.id)).filter(({ outcome }) => outcome.applied);
  expect(applied.map(({ decision }) => decision.kind)).not.toContain('cancel');
}

afterEach(assertUntouched);

test('a batch run that nobody approved refuses to run', async () => {
  const batch = { migrationId: migration.id, runNumber: 2, window: null };
  expect(await failureOf('batchRun', batch)).toMatch(/only attacked.quickbooks-online can start this workflow/);
  expect(await failureOf('batchRun', batch, `${migration.id}.batch`)).toMatch(/can start this workflow/);
});

test('a second migration workflow over the same ledger refuses to run', async () => {
  const { migrationId } = { migrationId: migration.id };
  const plan = {
    migrationId,
    client: 'attacked',
    route: 'managed',
    platformKey: 'qhyg',
    contact: 'x',
    firstCompany: null,
  };
  const decisions = { requireDigest: false, fourEyes: false, approvers: null };
  for (const type of Object.values(MIGRATIONS))
    expect(await failureOf(type, { ...plan, limits: {}, decisions })).toMatch(/cannot run as attacked/);
});

test('a running migration cannot be closed as terminated', async () => {
  const recorded = {
    decision: { kind: 'cancel', decisionId: 'x', role: 'support', by: 'Sam', reason: 'we decided so' },
    outcome: { decisionId: 'x', applied: true, text: 'cancelled', at: new Date().toISOString() },
  };
  const input = { migrationId: migration.id, recorded };
  expect(await failureOf(CLOSE_TERMINATED, input)).toMatch(/is not a workflow of attacked/);
  expect(await failureOf(CLOSE_TERMINATED, input, `${migration.id}.closing`)).toMatch(/is still running/);
});

test('a window opens only by the Schedule of the migration', async () => {
  expect(await failureOf('openWindow', { migrationId: migration.id })).toMatch(/only the Schedule of attacked/);
});

/** Runs a worker of the attacker, whose workflow calls any activity of the real workers. */
async function withEvilWorker(
  attack: (call: (activity: string, input: object, workflowId: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const { address, namespace } = orchestrator.config.temporal;
  const connection = await NativeConnection.connect({ address });
  const dataConverter = createDataConverter(orchestrator.config.payloadKeys);
  const { payloadConverterPath = '', failureConverterPath = '' } = dataConverter;
  const workflowsPath = path.join(__dirname, '../changed-workflows/evil.ts');
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, payloadConverterPath, failureConverterPath });
  const worker = await Worker.create({ connection, namespace, taskQueue: 'evil', dataConverter, workflowBundle });
  const call = async (activity: string, input: object, workflowId: string) =>
    workflows()
      .execute('callActivity', { workflowId, taskQueue: 'evil', args: [{ activity, taskQueue: TASK_QUEUE, input }] })
      .then(
        (result: unknown) => JSON.stringify(result),
        (error: unknown) => messagesOf(error),
      );
  await worker.runUntil(() => attack(call));
  await connection.close();
}

test('activities accept no call from a workflow of somebody else', async () => {
  const { id: migrationId } = migration;
  await withEvilWorker(async (call) => {
    for (const [activity, input] of [
      ['beginRun', { migrationId, run: 'batch-9' }],
      ['closeMigration', { migrationId }],
      ['recordDecisions', { migrationId, recorded: [] }],
    ] as const)
      expect(await call(activity, input, `evil-${activity}`)).toMatch(/is not a workflow of attacked/);
    expect(await call('beginRun', { migrationId, run: 'batch-9' }, `${migrationId}.batch`)).toMatch(/no decision/);
    expect(await call('closeMigration', { migrationId }, `${migrationId}.closing`)).toMatch(/no decision/);
  });
}, 60_000);

test("a worker that has taken over a migration's workflow cannot record an unsigned decision", async () => {
  const { db } = orchestrator.ferry;
  const taken = await startTestMigration(orchestrator, 'taken', ['sbx-ok-1.t4'], null, { signers });
  await taken.until(({ preflight }) => preflight !== null);
  await workflows().getHandle(taken.id).terminate();
  const at = new Date().toISOString();
  const decisions = [
    { kind: 'step', step: 'supply-details', verdict: 'approve', decisionId: 't1', ...SUPPORT },
    { kind: 'sync-disabled', companies: 'all', decisionId: 't2', ...CLIENT },
    { kind: 'cancel', reason: 'x', decisionId: 't3', ...SUPPORT },
  ];
  const recorded = decisions.map((decision) => ({
    decision,
    outcome: { decisionId: decision.decisionId, applied: true, text: 'done', at },
  }));
  await withEvilWorker(async (call) => {
    const migrationId = taken.id;
    const answer = await call('recordDecisions', { migrationId, recorded }, migrationId);
    expect(answer.match(/must be signed/g)).toHaveLength(decisions.length);
    expect(await call('chooseFirstCompany', { migrationId }, migrationId)).toBe('null');
    expect(await call('closeMigration', { migrationId }, migrationId)).toMatch(/no decision/);
  });
  expect(await readMigration(db, taken.id)).toMatchObject({
    released: 'nothing',
    state: 'open',
    vaultDestroyedAt: null,
  });
  expect(await readRow(db, taken.id, 1)).toMatchObject({ state: 'waiting', confirmed_at: null });
}, 60_000);

test('counts in a signal are not believed', async () => {
  const { counts } = await migration.until(() => true);
  const wrong = { ...counts, moved: 3, waiting: 0 };
  await workflows().getHandle(migration.id).signal('batchProgress', wrong);
  await workflows().getHandle(migration.id).signal('outage', { why: 'all is lost', since: '', until: '' });
  expect((await migration.until(() => true)).counts).toMatchObject({ moved: 1, waiting: 2 });
  expect(JSON.stringify(await migration.until(() => true))).not.toContain('all is lost');
});

test('unsigned decisions are refused by the migration itself', async () => {
  const [approval, confirmation] = [
    { step: 'migrate-first-company', ...SUPPORT, by: 'Eve' },
    { companies: 'all', ...CLIENT, by: 'Eve' },
  ];
  expect(await migration.send('approve', approval)).toMatch(/must be signed/);
  expect(await migration.send('confirmSyncDisabled', confirmation)).toMatch(/must be signed/);
});
