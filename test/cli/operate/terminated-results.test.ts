/** Tests that all views show the same result of a migration that was terminated in Temporal while companies waited. */
import { openReader } from '../../../cli/dashboard/reader';
import { companyLines } from '../../../cli/dashboard/migration-lines';
import { textOf } from '../../../cli/terminal/styled-text';
import { closeTerminated, readProgress } from '../../../client';
import { startTestMigration } from '../../workflows/running-migration';
import { until } from '../../support/async';
import { manifestRows, readRow, suppliedMigration, updateRow } from '../../support/migrations/ledger';
import { openMigration, supplyMigration } from '../../../store';
import { MIGRATIONS } from '../../../workflows/messages';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();
let id: string;
beforeAll(async () => {
  const migration = await startTestMigration(orchestrator, 'stopped', ['sbx-ok-1.st1', 'sbx-ok-1.st2', 'sbx-ok-1.st3']);
  ({ id } = migration);
  await migration.firstCompanyMoved();
  await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
  await until(async () => (await readProgress(orchestrator.ferry, id)).state === 'terminated');
});

const run = async (...args: string[]) => ferry(args, undefined, orchestrator.env);

async function readListed(): Promise<Record<string, unknown> | undefined> {
  const { migrations } = (await runJson(orchestrator, 'list')).json as { migrations: Record<string, unknown>[] };
  return migrations.find(({ migrationId }) => migrationId === id);
}

describe('before a terminated migration is closed', () => {
  beforeAll(async () => {
    await until(async () => (await readListed())?.['state'] === 'terminated');
    // Stands for a company that was syncing when the workflow was terminated.
    await updateRow(orchestrator.ferry.db, id, 2, { state: 'syncing', crossed_at: new Date() });
  });
  afterAll(() => updateRow(orchestrator.ferry.db, id, 2, { state: 'waiting', crossed_at: null }));

  test('show, list, the dashboard and companies count one company as interrupted and one as not moved', async () => {
    const shown = (await run('show', id)).out;
    expect(shown).toContain('Companies: 1 of 3 moved, 1 interrupted\n  1 not moved: ferry report');
    expect(await readListed()).toMatchObject({ state: 'terminated', total: 3, done: 2, failed: 1 });
    expect((await run('list')).out).toMatch(new RegExp(`^${id} +terminated .* 1/3 +1 +1 `, 'm'));
    const { rows = [] } = await openReader(orchestrator.ferry)({ visibleRows: (all) => all, shownMigrationId: null });
    const own = rows.filter(({ migrationId }) => migrationId === id);
    expect(own).toMatchObject([{ migrationId: id, total: 3, done: 2, failed: 1 }]);
    expect((await run('companies', id)).out).toMatch(
      /R-2 .* interrupted\n.*R-3 .* not moved +the migration was stopped before the company was moved\n/,
    );
    expect((await run('companies', id, '--state', 'not-moved-yet')).out).toContain('0 companies');
  });

  test('the report and the audit trail end a stoppage with the workflow', async () => {
    const { db } = orchestrator.ferry;
    const stoppage = { migration_id: id, kind: 'pause', why: 'key refused', began_at: new Date(0) } as const;
    await db.insertInto('stoppages').values(stoppage).execute();
    try {
      const { endedInTemporal, stoppages } = (await runJson(orchestrator, 'report', id)).json as {
        endedInTemporal: { at: string };
        stoppages: unknown;
      };
      const ended = { kind: 'pause', endedAt: endedInTemporal.at };
      expect(stoppages).toMatchObject([ended]);
      expect((await runJson(orchestrator, 'audit', id)).json).toMatchObject({ stoppages: [ended] });
      // Only the beginning of an outage can be some seconds wrong, so a pause is printed without "about".
      expect((await run('audit', id)).out).toMatch(/paused until .* UTC, [\d.]+ h in all/);
      await db
        .updateTable('stoppages')
        .set({ kind: 'outage', source: 'service' })
        .where('migration_id', '=', id)
        .execute();
      expect((await run('audit', id)).out).toMatch(/waited until .* UTC, about [\d.]+ h in all/);
    } finally {
      await db.deleteFrom('stoppages').where('migration_id', '=', id).execute();
    }
  });

  test('the report says that the migration was stopped, in every format', async () => {
    const { out } = await run('report', id);
    expect(out).toMatch(/State: stopped at \d{4}-\d\d-\d\d \d\d:\d\d UTC, so no company moves/);
    expect(out).toContain('| not moved | 1 |');
    expect(out).toContain('Ask the contact under "Who to call" what happens next');
    expect(out).not.toMatch(/in progress|not finished|still be moved|not moved yet/);
    const { json } = await runJson(orchestrator, 'report', id);
    expect(json).toMatchObject({
      ...{ ending: null, endedInTemporal: { status: 'terminated' }, isFinishing: false },
      companies: [
        { state: 'moved', switchOn: 'never' },
        { state: 'moving', switchOn: 'never', remedies: [] },
        { state: 'not-moved', switchOn: 'ask-first', remedies: [] },
      ],
    });
    const html = (await run('report', id, '--format', 'html')).out;
    expect(html).toMatch(/class="state stopped"/);
    expect(html).toContain('interrupted <b>1</b>');
    expect((await run('report', id, '--format', 'csv')).out).toMatch(/R-3,.*,not moved,.*ask first/);
  });

  test('exceptions offers no remedy, and says how to close the migration', async () => {
    const { db } = orchestrator.ferry;
    const deferral = { not_before: new Date(Date.now() + 3_600_000), failure_text: 'no answer', tries: 2 };
    await updateRow(db, id, 3, deferral);
    const { out } = await run('exceptions', id);
    const { json } = await runJson(orchestrator, 'exceptions', id);
    await updateRow(db, id, 3, { not_before: null, failure_text: null, tries: 0 });
    expect(out).toContain('not moved when the workflow ended in Temporal: 1 company');
    expect(out).toContain(`\nTo close the migration, run: ferry sweep --close ${id}\n`);
    expect(out).not.toMatch(/next try|ferry (?:retry|skip|exclude|replace-credential|credentials)/);
    expect(json).toMatchObject({
      ...{ withoutCredential: 0, retried: 0, retriedRemedies: [] },
      exceptions: [{ reference: 'R-3', state: 'not-moved', remedies: [] }],
    });
  });

  test('watch and list have the same word for it as show', async () => {
    expect((await runJson(orchestrator, 'watch', id)).json).toMatchObject({ state: 'terminated', meanwhile: null });
    const progress = await readProgress(orchestrator.ferry, id);
    const lines = companyLines({ progress, overview: null }, new Date()).map((line) => line.map(textOf).join(''));
    expect(lines.join('\n')).toContain('1 interrupted, 0 must reconnect, 1 not moved, 0 left out');
  });

  test('doctor names it and the command that closes it', async () => {
    const { exitCode, out } = await run('doctor');
    expect(exitCode).toBe(1);
    expect(out).toMatch(new RegExp(`✗ terminated +the workflow of ${id} has ended in Temporal`));
    expect(out).toContain(`close it with: ferry sweep --close ${id}\n`);
  });
});

describe('once it is closed', () => {
  beforeAll(async () => {
    await closeTerminated(orchestrator.ferry, id, 'Sam');
  });

  test('list, show and the report count the companies as the ledger does', async () => {
    expect(await readListed()).toMatchObject({ state: 'cancelled', total: 3, done: 3, failed: 2 });
    const shown = (await run('show', id)).out;
    expect(shown).toContain('First company R-1: moved');
    expect(shown).toContain('Companies: 1 of 3 moved\n  2 not moved: ferry report');
    const { out } = await run('report', id);
    expect(out).toContain('State: cancelled by Tokenferry');
    expect(out).toContain('| not moved | 2 |');
  });

  test('show keeps the times of the steps that approvals or confirmations ended', async () => {
    const { steps } = await readProgress(orchestrator.ferry, id);
    const approvedAt = steps.map(({ approvals }) => approvals.at(-1)?.at ?? null);
    expect(approvedAt.slice(0, 3)).not.toContain(null);
    const ended = [...approvedAt.slice(0, 3), steps[3]?.endedAt];
    expect(steps.map(({ endedAt }) => endedAt)).toEqual([...ended, null, null]);
    expect(steps.map(({ openedAt }) => openedAt)).toEqual([null, ...ended, null]);
    const { confirmed_at } = await readRow(orchestrator.ferry.db, id, 1);
    const [confirmedAt = '', openedAt = ''] = [confirmed_at?.toISOString(), approvedAt[2] ?? ''];
    expect(steps[3]?.endedAt).toBe(confirmedAt > openedAt ? confirmedAt : openedAt);
  });
});

test('a workflow that timed out in Temporal has the same state in list, show and watch', async () => {
  const { db, temporal } = orchestrator.ferry;
  const migration = suppliedMigration({ id: 'timed-out.quickbooks-online' });
  await supplyMigration(db, migration, manifestRows(2));
  await openMigration(db, migration.id);
  await temporal.workflow.start(MIGRATIONS.managed, {
    ...{ workflowId: migration.id, taskQueue: 'without a worker', workflowExecutionTimeout: '1 second' },
  });
  const readMigrationInList = async () => {
    const { migrations } = (await runJson(orchestrator, 'list')).json as { migrations: Record<string, unknown>[] };
    return migrations.find(({ migrationId }) => migrationId === migration.id);
  };
  await until(async () => (await readMigrationInList())?.['endedInTemporal'] === true);
  expect(await readMigrationInList()).toMatchObject({ state: 'terminated', total: 2, done: 2, failed: 2 });
  expect((await runJson(orchestrator, 'watch', migration.id)).json).toMatchObject({ state: 'terminated' });
  expect((await runJson(orchestrator, 'show', migration.id)).json).toMatchObject({
    ...{ state: 'terminated', endedInTemporal: { status: 'timed_out' } },
  });
}, 120_000);
