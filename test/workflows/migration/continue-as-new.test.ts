/** A server setting makes the migration continue as new many times. */
import { decide, readProgress } from '../../../client';
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { startTemporal, type RunningTemporal } from '../../../stack/temporal/server';
import { createTemporaryFolder } from '../../../stack/folders';
import { readTrail } from '../../../store';
import { ownNamespace } from '../../support/jest/namespaces';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { temporalCli } from '../../support/servers/shared-servers';
import { CLIENT, startTestMigration, SUPPORT } from '../running-migration';

/** The server suggests continue-as-new after this many events. Its default is 4,096. */
const EVENTS = 40;

let temporal: RunningTemporal;
let orchestrator: OpenedOrchestrator;
beforeAll(async () => {
  temporal = await startTemporal({
    cli: temporalCli(),
    dataFolder: createTemporaryFolder(),
    port: 0,
    uiPort: 0,
    ephemeral: true,
    namespaces: [ownNamespace()],
    dynamicConfig: {
      'limit.historyCount.suggestContinueAsNew': EVENTS,
      // By default, the server delays a run if the previous run lasted less than a second. Runs are so short only
      // because of the limit above.
      'history.workflowIdReuseMinimalInterval': 0,
    },
  });
  orchestrator = await startOrchestrator({}, temporal.address);
  await orchestrator.startWorker();
});
afterAll(async () => {
  await orchestrator.close();
  await temporal.stop();
});

async function runsOf(id: string): Promise<{ readonly runs: readonly string[]; readonly longest: number }> {
  const runs: string[] = [];
  let longest = 0;
  const list = orchestrator.ferry.temporal.workflow.list({ query: `WorkflowId = '${id}'` });
  for await (const { historyLength, runId } of list) {
    runs.push(runId);
    longest = Math.max(longest, historyLength);
  }
  return { runs, longest };
}

async function detailsOf(id: string, runId: string | undefined): Promise<string | undefined> {
  const handle = orchestrator.ferry.temporal.workflow.getHandle(id, runId);
  const { currentDetails } = await handle.query<{ currentDetails?: string }>('__temporal_workflow_metadata');
  return currentDetails;
}

test('an approver whom support has added must sign in all later runs', async () => {
  const key = parseSigningKey(new Secret(createSigningKey(CLIENT.by)));
  const { id, send } = await startTestMigration(orchestrator, 'signers', ['sbx-ok-1.signers']);
  const approver = { ...CLIENT, publicKey: key.publicKey };
  expect(await send('pause', CLIENT)).toBe('applied');
  expect(await send('addApprover', { approver, ...SUPPORT })).toBe('applied');
  for (let times = 0; times < 10; times += 1) {
    expect(await send('resume', SUPPORT)).toBe('applied');
    expect(await send('pause', { reason: `pause ${times}`, ...SUPPORT })).toBe('applied');
  }
  expect((await runsOf(id)).runs.length).toBeGreaterThan(1);
  expect((await readProgress(orchestrator.ferry, id)).signing).toEqual({ mustSign: ['client'], approvers: [approver] });
  expect(await send('resume', CLIENT)).toMatch(/^refused: decisions of the client in this migration must be signed/);
  const { outcome } = await decide({ ...orchestrator.ferry, signer: key }, id, 'resume', CLIENT);
  expect(outcome).toBe('applied');
});

test('a migration goes through the six steps in many runs, and its audit trail is complete', async () => {
  const migration = await startTestMigration(
    orchestrator,
    'cut',
    Array.from({ length: 12 }, (_, index) => (index === 7 ? 'sbx-revoked.cut' : `sbx-ok-1.cut${index}`)),
  );
  await migration.until(({ preflight }) => preflight !== null);
  // Each confirmation adds a few events.
  for (const reference of ['R-1', 'R-2', 'R-3', 'R-4', 'R-5', 'R-6']) {
    expect(await migration.send('confirmSyncDisabled', { companies: [reference], ...CLIENT })).toBe('applied');
  }
  // A flood of messages must not delay continue-as-new.
  for (let times = 0; times < 20; times += 1) {
    expect(await migration.send('pause', { reason: `pause ${times}`, ...SUPPORT })).toBe('applied');
    expect(await migration.send('resume', SUPPORT)).toBe('applied');
  }
  await migration.readyToMove();
  await migration.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await migration.until(({ counts }) => counts.moved === 11 && counts.failed === 1);
  await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);
  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  expect(await migration.send('approve', { step: 'complete-migration', ...CLIENT })).toBe('applied');
  const handover = (await orchestrator.ferry.temporal.workflow.getHandle(migration.id).result()) as unknown;
  expect(handover).toMatchObject({ ending: 'completed', counts: { total: 12, moved: 11, failed: 1 } });

  const trail: string[] = [];
  for await (const { decision, outcome } of readTrail(orchestrator.ferry.db, migration.id)) {
    if (outcome.applied) trail.push(decision.kind);
  }
  expect(trail.filter((kind) => kind === 'pause')).toHaveLength(20);
  expect(trail.filter((kind) => kind === 'resume')).toHaveLength(20);
  expect(trail.filter((kind) => kind === 'sync-disabled')).toHaveLength(7);
  expect(trail.filter((kind) => kind === 'step')).toHaveLength(8);

  const { runs, longest } = await runsOf(migration.id);
  expect(runs.length).toBeGreaterThan(8);
  // Not EVENTS, because the migration cannot continue as new while its batch run is in progress.
  expect(longest).toBeLessThan(5 * EVENTS);

  const details = await Promise.all(runs.map((runId) => detailsOf(migration.id, runId)));
  const outOfDate = details.filter((text) => text?.startsWith('# This page is out of date: '));
  expect(outOfDate).toHaveLength(runs.length - 1);
  expect(outOfDate[0]).toContain('Ask the solutions team for the new link.');
}, 180_000);
