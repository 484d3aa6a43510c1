/**
 * Tests `ferry reconcile` after the ledger or the service was restored to an older state, and after Temporal has lost a
 * migration.
 */
import { Client as PostgresClient } from 'pg';
import { openReader } from '../../../cli/dashboard/reader';
import { decide } from '../../../client';
import { flagLedger, readDecisions, readMigration } from '../../../store';
import type { RunningWorker } from '../../../worker';
import type { PortalContext } from '../../../worker/portal/context';
import { writeView } from '../../../worker/portal/views';
import { forgetIdempotencyKeys, takeBackup, type Backup } from '../../support/servers/backup';
import { until } from '../../support/async';
import { statusAtService } from '../../support/migrations/company-import';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { CLIENT, startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestrator();
let worker: RunningWorker;
beforeAll(async () => {
  worker = await orchestrator.startWorker();
});

const ROWS = [1, 2, 3];
const SINGLE_USE = { slug: 'freshbooks' };
const FIRST_COMPANY_STEP = { step: 'migrate-first-company', ...SUPPORT };
const ledgerUrl = () => orchestrator.config.databaseUrl.reveal();
const print = async (...args: string[]) => (await ferry(args, undefined, orchestrator.env)).out;
const decisionsOf = async (id: string) =>
  (await readDecisions(orchestrator.ferry.db, id)).map(({ decision: { kind } }) => kind);

/** Moves the first company of three, takes a backup of the ledger, moves the other two, then pauses and resumes. */
async function moveAroundBackup(
  client: string,
): Promise<{ migration: TestMigration; backup: Backup; trail: string[] }> {
  const tokens = ROWS.map((row) => `sbx-ok-1.${client}-${row}`);
  const migration = await startTestMigration(orchestrator, client, tokens, null, SINGLE_USE);
  await migration.firstCompanyMoved();
  const backup = await takeBackup(ledgerUrl());
  await migration.send('approve', FIRST_COMPANY_STEP);
  await migration.until(({ counts }) => counts.moved === 3);
  await migration.send('pause', { reason: 'a test', ...SUPPORT });
  await migration.send('resume', SUPPORT);
  await migration.until(({ waitingFor }) => waitingFor.roles.length === 2);
  return { migration, backup, trail: await decisionsOf(migration.id) };
}

/** Returns whether the list and the page of the dashboard say that the ledger of a migration is behind. */
async function dashboardOf(
  id: string,
): Promise<{ readonly inList: boolean | undefined; readonly onPage: boolean | undefined }> {
  const { rows, detail } = await openReader(orchestrator.ferry)({ visibleRows: (all) => all, shownMigrationId: id });
  return {
    inList: rows?.find(({ migrationId }) => migrationId === id)?.ledgerBehind,
    onPage: detail?.ledgerBehind,
  };
}

/** Writes the portal's view of a migration, and returns it. */
async function viewOf(id: string): Promise<{ readonly headline: string }> {
  const { ferry: client } = orchestrator;
  await writeView({ ferry: client, reconnectionsAskedAt: new Map() } as unknown as PortalContext, id);
  const views = client.db.selectFrom('portal_views').select('view').where('migration_id', '=', id);
  return (await views.executeTakeFirstOrThrow()).view as { readonly headline: string };
}

async function expectEachLinkedOnce(id: string): Promise<void> {
  for (const row of ROWS) {
    expect(await statusAtService(orchestrator.client(), id, row)).toEqual(['company with Linked']);
  }
}

/** Makes Temporal forget a workflow, as if its database had been lost. */
async function forgetWorkflow(id: string): Promise<void> {
  const { workflowService, options } = orchestrator.ferry.temporal;
  const workflowExecution = { workflowId: id };
  await workflowService.deleteWorkflowExecution({ namespace: options.namespace, workflowExecution });
  const handle = orchestrator.ferry.temporal.workflow.getHandle(id);
  await until(() =>
    handle.describe().then(
      () => false,
      () => true,
    ),
  );
}

test('after a restore of the ledger, show and doctor say so, and reconcile repairs it and can be repeated', async () => {
  const { migration, backup, trail } = await moveAroundBackup('restored');
  await backup.restore();
  await forgetIdempotencyKeys(orchestrator.serviceDatabaseUrl);

  expect(await print('show', migration.id)).toMatch(/ledger is out of date[^]*ferry reconcile restored\.freshbooks/);
  expect(await print('list')).toContain(
    `so the numbers can be wrong.\n  To repair it, run: ferry reconcile ${migration.id}`,
  );
  const repair = `the ledger is out of date, so no company can move; to repair it, run: ferry reconcile ${migration.id}`;
  expect(await print('list')).toMatch(/^restored\.freshbooks +old ledger .* support /m);
  const goNoGo = await ferry(['go-nogo', migration.id], undefined, orchestrator.env);
  expect(goNoGo.exitCode).toBe(1);
  expect(goNoGo.out).toContain(`NO-GO  ${migration.id} (no company can move)\n  ✗ companies: ${repair}\n`);
  expect(await print('watch', migration.id, '--until-decision')).toContain(`Waiting for support: ${repair}\n`);
  expect(await dashboardOf(migration.id)).toEqual({ inList: true, onPage: true });
  expect(await viewOf(migration.id)).toMatchObject({ task: null, actions: [] });
  expect((await viewOf(migration.id)).headline).toMatch(/^Support is checking some numbers on this page\./);
  expect(await print('doctor')).toContain(`ferry reconcile ${migration.id}`);
  const { err } = await ferry(['resume', migration.id, '--as', 'support'], undefined, orchestrator.env);
  expect(err).toContain(`is out of date; repair it first with: ferry reconcile ${migration.id}`);

  const { json } = await runJson(orchestrator, 'reconcile', migration.id);
  expect(json).toMatchObject({ workflow: 'running', linked: ['R-2', 'R-3'], notMoved: [], adopted: [], gone: [] });
  expect(await decisionsOf(migration.id)).toEqual(trail);
  const { counts } = await migration.until((progress) => progress.counts.moved === 3);
  expect(counts.failed).toBe(0);
  await expectEachLinkedOnce(migration.id);

  expect(await print('reconcile', migration.id)).toContain('No company and no decision needed a repair.');
  expect(await print('show', migration.id)).not.toContain('ledger is out of date');
  expect(await print('list')).not.toMatch(/ledger is out of date|old ledger/);
  expect(await print('go-nogo', migration.id)).not.toContain('ledger is out of date');
  expect(await dashboardOf(migration.id)).toEqual({ inList: false, onPage: false });
  expect((await viewOf(migration.id)).headline).toContain('All 3 companies have moved');
  expect(await print('doctor')).not.toContain(migration.id);
  for (const role of [CLIENT, SUPPORT]) {
    const { digests } = await migration.until(({ waitingFor }) => waitingFor.roles.length > 0);
    await migration.send('approve', { step: 'complete-migration', digest: digests['complete-migration'], ...role });
  }
  await until(async () => (await readMigration(orchestrator.ferry.db, migration.id))?.ending === 'completed');
});

test('once a migration that paused itself has a reconciled ledger, all views say only that it must be resumed', async () => {
  const { ferry: client } = orchestrator;
  const migration = await startTestMigration(orchestrator, 'resumed', ['sbx-ok-1.r1', 'sbx-ok-1.r2'], null, SINGLE_USE);
  await migration.firstCompanyMoved();
  await flagLedger(client.db, migration.id);
  // Without the ledger, the decision is sent although the ledger is behind.
  const { db: _db, ...withoutLedger } = client;
  await decide(withoutLedger, migration.id, 'approve', FIRST_COMPANY_STEP);
  await migration.until(({ state }) => state === 'paused');
  expect(await print('show', migration.id)).toContain(`support: ferry reconcile ${migration.id}\n`);
  await print('reconcile', migration.id);
  const resume = 'the ledger was out of date, but has been reconciled; resume the migration';
  const shown = await print('show', migration.id);
  expect(shown).toContain(`Waiting for support: ${resume}\n`);
  expect(shown).toContain(`support: ferry resume ${migration.id}\n`);
  expect(shown).not.toMatch(/ferry reconcile|reconcile the ledger/);
  expect(await print('go-nogo', migration.id)).toContain(`waiting for support: ${resume} (`);
  expect(await print('watch', migration.id, '--until-decision')).toContain(`Waiting for support: ${resume}\n`);
  const read = await openReader(client)({ visibleRows: (all) => all, shownMigrationId: migration.id });
  const inList = read.rows?.find(({ migrationId }) => migrationId === migration.id)?.progress;
  expect([inList, read.detail?.progress].map((progress) => progress?.waitingFor.what)).toEqual([resume, resume]);
  await migration.send('pause', { reason: 'a test', ...CLIENT });
  const asked = await ferry(['resume', migration.id, '--as', 'support'], undefined, orchestrator.env);
  expect(asked.err).toMatch(new RegExp(`^ferry: paused automatically since .* UTC: ${resume}; paused by Cleo`));
  await print('resume', migration.id, '--as', 'support', '--yes');
  await migration.until(({ counts }) => counts.moved === 2);
});

test('reconcile names the namespace of a migration that belongs to another one', async () => {
  const { db, temporal } = orchestrator.ferry;
  const { id, until: reached } = await startTestMigration(orchestrator, 'elsewhere', ['sbx-ok-1.elsewhere']);
  await reached(({ preflight }) => preflight !== null);
  const set = (namespace: string) => db.updateTable('migrations').set({ namespace }).where('id', '=', id).execute();
  await set('acme');
  const { exitCode, err } = await ferry(['reconcile', id], undefined, orchestrator.env);
  await set(temporal.options.namespace);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: `ferry: ${id} is in another namespace of Temporal: acme; set TEMPORAL_NAMESPACE to acme, and run the command again\n`,
  });
});

test('a restored ledger of a migration that has ended is closed again', async () => {
  const { migration, backup } = await moveAroundBackup('ended');
  for (const role of [CLIENT, SUPPORT]) {
    const { digests } = await migration.until(({ waitingFor }) => waitingFor.roles.length > 0);
    await migration.send('approve', { step: 'complete-migration', digest: digests['complete-migration'], ...role });
  }
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).result();
  await backup.restore();
  expect(await print('show', migration.id)).toMatch(
    /ledger is out of date[^]*numbers of companies can be wrong[^]*ferry reconcile ended\.freshbooks/,
  );
  expect((await viewOf(migration.id)).headline).toMatch(/^Support is checking some numbers on this page/);
  const report = await ferry(['report', migration.id], undefined, orchestrator.env);
  expect(report.out).toContain('The numbers in this report can be wrong, because the records');
  expect(report.err).toBe(
    `The ledger is out of date for ${migration.id}, probably because it was restored from a backup, so the numbers can be wrong.\n  To repair it, run: ferry reconcile ${migration.id}\n`,
  );
  expect((await runJson(orchestrator, 'report', migration.id)).json).toMatchObject({ ledgerBehind: true });
  // The secret of the vault was erased when the migration ended.
  expect(await print('doctor')).not.toContain('ferry vault renew');
  expect(await runJson(orchestrator, 'reconcile', migration.id)).toMatchObject({
    json: { workflow: 'completed', linked: ['R-2', 'R-3'] },
  });
  expect(await readMigration(orchestrator.ferry.db, migration.id)).toMatchObject({
    ...{ state: 'closed', ending: 'completed' },
    vaultDestroyedAt: expect.any(Date) as Date,
  });
  const { out, err } = await ferry(['report', migration.id], undefined, orchestrator.env);
  expect({ hint: out.includes('can be wrong'), err }).toEqual({ hint: false, err: '' });
  await backup.restore();
  expect(await print('reconcile', migration.id)).toMatch(
    /5 +decisions missing from the audit trail .*approve the first company, pause, resume, sign off the handover/,
  );
  // Temporal deletes a workflow at the end of the retention period.
  await forgetWorkflow(migration.id);
  const forgotten = await print('reconcile', migration.id);
  expect(forgotten).toContain('The migration has ended (completed), so no more companies will be moved.');
  expect(forgotten).not.toContain('start a migration of the remaining');
});

test.each([
  { lost: 'Temporal', client: 'forgotten', isRestored: false, found: /needed a repair/ },
  { lost: 'Temporal and the ledger', client: 'forgotten-both', isRestored: true, found: /2 .*connection linked/ },
])('after the loss of $lost, reconcile uses the service, and sweep closes the migration', async (loss) => {
  const { migration, backup } = await moveAroundBackup(loss.client);
  if (loss.isRestored) await backup.restore();
  await forgetIdempotencyKeys(orchestrator.serviceDatabaseUrl);
  await forgetWorkflow(migration.id);

  expect(await print('doctor')).toContain('ferry sweep --close');
  const { err } = await ferry(['show', migration.id], undefined, orchestrator.env);
  expect(err).toContain(`${migration.id} is in the ledger, but not in Temporal`);
  const out = await print('reconcile', migration.id);
  expect(out).toMatch(loss.found);
  expect(out).toContain(
    `  close this migration, which destroys its credentials, with: ferry sweep --close ${migration.id}\n`,
  );
  const start = (command: string) =>
    `  start a migration of the remaining companies with: ferry ${command} companies.csv --platform freshbooks --client ${loss.client} --label again\n`;
  expect(out).toContain(start('start'));
  const stored = orchestrator.ferry.db.updateTable('migrations').where('id', '=', migration.id);
  await stored.set({ route: 'self-service' }).execute();
  expect(await print('reconcile', migration.id)).toContain(start('self-service'));
  await stored.set({ route: 'managed', state: 'supplied' }).execute();
  const unbegun = await print('reconcile', migration.id);
  expect(unbegun).toContain('no worker has begun it. To start it, run the same ferry start command again.\n');
  expect(unbegun).not.toContain('ferry sweep');
  await stored.set({ state: 'open' }).execute();
  await expectEachLinkedOnce(migration.id);
  expect(await runJson(orchestrator, 'sweep', migration.id, '--close', '--yes')).toMatchObject({
    json: { closed: [migration.id] },
  });
});

test('after a restore of the service, companies that it has lost are not moved and need a new credential', async () => {
  const { migration } = await moveAroundBackup('lost-service');
  // Puts the service into the state of a backup from before the second company was created and the third was
  // authorized.
  const service = new PostgresClient({ connectionString: orchestrator.serviceDatabaseUrl });
  await service.connect();
  try {
    const tag = (row: number) => JSON.stringify({ ferryRow: `${migration.id}/${row}` });
    await service.query('delete from company_data_service.companies where tags @> $1::jsonb', [tag(2)]);
    await service.query(
      `update company_data_service.connections set status = 'PendingAuth'
       where company_id in (select id from company_data_service.companies where tags @> $1::jsonb)`,
      [tag(3)],
    );
  } finally {
    await service.end();
  }
  await forgetIdempotencyKeys(orchestrator.serviceDatabaseUrl);
  expect(await runJson(orchestrator, 'reconcile', migration.id)).toMatchObject({
    json: { linked: [], notMoved: ['R-3'], gone: ['R-2'] },
  });
  await migration.until(({ counts }) => counts.failed === 2 && counts.mustReconnect === 1);
  // With the new credential, the company is created at the service again.
  expect(await migration.replace('R-2', 'sbx-ok-1.lost-service-new')).toBe('applied');
  await migration.until(({ counts }) => counts.moved === 2);
});

test('after a restore of the service during a batch, the documented commands move every company', async () => {
  const tokens = ['sbx-ok-1', 'sbx-ok-1', 'sbx-unavailable', 'sbx-revoked'].map((token, at) => `${token}.mid-${at}`);
  const migration = await startTestMigration(orchestrator, 'mid-batch', tokens, null, SINGLE_USE);
  await migration.firstCompanyMoved();
  const backup = await takeBackup(orchestrator.serviceDatabaseUrl, 'company_data_service');
  await migration.send('approve', FIRST_COMPANY_STEP);
  await migration.until(({ counts }) => counts.moved === 2 && counts.failed === 1);
  await until(async () => (await statusAtService(orchestrator.client(), migration.id, 3)).length === 1);

  await migration.send('pause', { reason: 'the service was restored', ...SUPPORT });
  await worker.stop();
  await backup.restore();
  worker = await orchestrator.startWorker();
  const repaired = { linked: [], notMoved: [], gone: ['R-2', 'R-4'], toCreate: ['R-3'] };
  expect(await runJson(orchestrator, 'reconcile', migration.id)).toMatchObject({ json: repaired });
  expect(await print('exceptions', migration.id)).toMatch(/R-2[^]*R-4/);
  for (const reference of ['R-2', 'R-4']) {
    expect(await migration.replace(reference, `sbx-ok-1.mid-new-${reference}`)).toBe('applied');
  }
  await migration.supply('R-3', 'sbx-ok-1.mid-new-R-3');
  await migration.send('resume', SUPPORT);
  await migration.until(({ counts }) => counts.moved === 4);
  for (const row of [1, 2, 3, 4]) {
    expect(await statusAtService(orchestrator.client(), migration.id, row)).toEqual(['company with Linked']);
  }
});
