/**
 * An attacker with write access to the Temporal namespace, but without a signing key, attacks a migration that requires
 * signed decisions. The attacker starts the workflows of the bundle with any input, calls activities from another
 * workflow, and sends signals.
 */
import path from 'node:path';
import { bundleWorkflowCode, NativeConnection, Worker } from '@temporalio/worker';
import { createWorkerDataConverter, createSigningKey, parseSigningKey, Secret } from '../../../security';
import { readDecisions, readMigration, setPaused } from '../../../store';
import { CLOSE_TERMINATED, MIGRATIONS, progressQuery, TASK_QUEUE } from '../../../workflows/messages';
import { readCounts } from '../../../client';
import { ferry } from '../../cli/captured-terminal';
import { readRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../running-migration';

const signers = ['Sam', 'Cleo'].map((by) => parseSigningKey(new Secret(createSigningKey(by))));
const orchestrator = useOrchestratorWithWorker();
let migration: TestMigration;
beforeAll(async () => {
  const credentials = ['sbx-ok-1.t1', 'sbx-ok-1.t2', 'sbx-ok-1.t3'];
  migration = await startTestMigration(orchestrator, 'attacked', credentials, null, { signers });
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
});

const workflows = () => orchestrator.ferry.temporal.workflow;
let started = 0;

/** Starts a workflow, and returns why it failed. */
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

/**
 * Asserts that the attack did not succeed: one company is moved, the other companies wait, and the migration is open.
 */
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

/** False from the first test that continues the attacked migration. */
let isAttacked = true;
afterEach(() => (isAttacked ? assertUntouched() : undefined));

test('a batch run that has not been approved refuses to run', async () => {
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
  expect(await failureOf(CLOSE_TERMINATED, input)).toMatch(/is not allowed to call this activity for attacked/);
  expect(await failureOf(CLOSE_TERMINATED, input, `${migration.id}.closing`)).toMatch(/is still running/);
});

test("only the migration's Schedule can open a window", async () => {
  expect(await failureOf('openWindow', { migrationId: migration.id })).toMatch(/only the Schedule of attacked/);
});

/** Runs a worker of the attacker. Its workflow can call any activity of the real workers. */
async function withEvilWorker(
  attack: (call: (activity: string, input: object, workflowId: string) => Promise<string>) => Promise<void>,
): Promise<void> {
  const { address, namespace } = orchestrator.config.temporal;
  const connection = await NativeConnection.connect({ address });
  const dataConverter = createWorkerDataConverter(orchestrator.config.payloadKeys);
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

test('activities refuse a call from a foreign workflow', async () => {
  const { id: migrationId } = migration;
  await withEvilWorker(async (call) => {
    for (const [activity, input] of [
      ['beginRun', { migrationId, run: 'batch-9' }],
      ['closeMigration', { migrationId }],
      ['recordDecisions', { migrationId, recorded: [] }],
    ] as const)
      expect(await call(activity, input, `evil-${activity}`)).toMatch(
        /is not allowed to call this activity for attacked/,
      );
    expect(await call('beginRun', { migrationId, run: 'batch-9' }, `${migrationId}.batch`)).toMatch(
      /no recorded decision/,
    );
    expect(await call('closeMigration', { migrationId }, `${migrationId}.closing`)).toMatch(/no decision/);
  });
});

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
});

test('counts in a signal are ignored', async () => {
  // Queries the workflow itself, because `readProgress` would replace the workflow's counts with those of the ledger.
  const handle = workflows().getHandle(migration.id);
  const { counts } = await handle.query(progressQuery);
  await handle.signal('batchProgress', { ...counts, moved: 3, waiting: 0 });
  await handle.signal('outage', { why: 'all is lost', since: '', until: '' });
  const progress = await handle.query(progressQuery);
  expect(progress.counts).toMatchObject({ moved: 1, waiting: 2 });
  expect(JSON.stringify(progress)).not.toContain('all is lost');
});

test('unsigned decisions are refused by the migration itself', async () => {
  const [approval, confirmation] = [
    { step: 'migrate-first-company', ...SUPPORT, by: 'Eve' },
    { companies: 'all', ...CLIENT, by: 'Eve' },
  ];
  expect(await migration.send('approve', approval)).toMatch(/must be signed/);
  expect(await migration.send('confirmSyncDisabled', confirmation)).toMatch(/must be signed/);
});

test('if another workflow has the id of a new migration, the organizations of that migration are released', async () => {
  const id = 'occupied.quickbooks-online';
  const occupant = await workflows().start('x', { workflowId: id, taskQueue: 'nobody' });
  await expect(startTestMigration(orchestrator, 'occupied', ['sbx-ok-1.e1'])).rejects.toThrow(/already has a workflow/);
  expect(await readMigration(orchestrator.ferry.db, id)).toBeUndefined();
  await occupant.terminate();
});

test('a migration waits while another workflow occupies the id of its batch run, and says how to end it', async () => {
  isAttacked = false;
  const occupant = await workflows().start('x', { workflowId: `${migration.id}.batch`, taskQueue: 'nobody' });
  expect(await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  const terminate = `temporal workflow terminate --workflow-id ${migration.id}.batch`;
  const { outage } = await migration.until(({ waitingFor }) => waitingFor.what.endsWith(terminate));
  expect(outage).toMatchObject({ why: expect.stringContaining('another workflow occupies') as string });
  expect((await ferry(['show', migration.id], undefined, orchestrator.env)).out).toContain(terminate);
  expect((await ferry(['doctor'], undefined, orchestrator.env)).out).toMatch(
    /✗ workflow ids +another workflow occupies the id (\S+)\n +to end that workflow, run: temporal workflow terminate --workflow-id \1\n/,
  );
  await occupant.terminate();
  const { outage: over } = await migration.until(({ counts }) => counts.moved === 3);
  expect(over).toBeNull();
});

test('a ledger that was paused without a decision causes no flood of batch runs', async () => {
  isAttacked = false;
  const other = await startTestMigration(orchestrator, 'paused-ledger', ['sbx-ok-1.p1', 'sbx-ok-1.p2']);
  await other.readyToMove();
  await other.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await setPaused(orchestrator.ferry.db, other.id, true);
  expect(await other.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
  await new Promise((resolve) => setTimeout(resolve, 8_000));
  const { events } = await workflows().getHandle(other.id).fetchHistory();
  const runs = (events ?? []).filter((event) => event.startChildWorkflowExecutionInitiatedEventAttributes);
  expect(runs.length).toBe(1);
  // A decision ends the wait.
  await other.send('pause', { reason: 'as the ledger', ...SUPPORT });
  await other.send('resume', SUPPORT);
  await other.until(({ counts }) => counts.moved === 2);
});

test.each(['terminate', 'cancel'] as const)(
  "a batch run that a person ends with Temporal's own tools does not fail its migration: %s",
  async (end) => {
    isAttacked = false;
    const credentials = [1, 2, 3, 4, 5, 6].map((each) => `sbx-slow-2000-ok-1.${end}${each}`);
    const other = await startTestMigration(orchestrator, `ended-${end}`, credentials);
    await other.readyToMove();
    await other.until(({ firstCompany }) => firstCompany?.stage === 'verified');
    expect(await other.send('approve', { step: 'migrate-first-company', ...SUPPORT })).toBe('applied');
    await other.until(({ counts }) => counts.importing + counts.syncing > 0);
    const batch = workflows().getHandle(`${other.id}.batch`);
    const { runId } = await batch.describe();
    await batch[end]();
    const { outage } = await other.until(({ outage: problem }) => problem !== null);
    expect(outage?.why).toMatch(/^the batch run has ended without a report \(.+\); another batch run will begin$/);
    // A decision ends the wait.
    expect(await other.send('adjust', { limits: { rampCompanies: 0 }, ...SUPPORT })).toBe('applied');
    await other.until(({ outage: problem }) => problem === null);
    expect((await batch.describe()).runId).not.toBe(runId);
  },
);
