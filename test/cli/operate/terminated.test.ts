/** Tests what people see of a migration whose workflow was terminated in Temporal, before and after it is closed. */
import { sql } from 'kysely';
import { openDialogs, type DialogContext } from '../../../cli/dashboard/dialogs';
import { openReader } from '../../../cli/dashboard/reader';
import type { Prompts } from '../../../cli/terminal/prompts';
import type { MigrationView } from '../../../portal/contract/migration-view';
import { closeTerminated, readProgress } from '../../../client';
import { createInvitation, markKeyConfirmed } from '../../../store';
import { writeView } from '../../../worker/portal/views';
import type { PortalContext } from '../../../worker/portal/context';
import { CLIENT, startTestMigration, SUPPORT } from '../../workflows/running-migration';
import { PUBLIC_KEY } from '../../store/portal/portal-role';
import { until } from '../../support/async';
import { useOrchestrator, type Orchestrator } from '../../support/servers/orchestrator';
import { capturedStream, ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestrator();
let worker: Awaited<ReturnType<Orchestrator['startWorker']>>;
let id: string;
beforeAll(async () => {
  worker = await orchestrator.startWorker();
  const migration = await startTestMigration(orchestrator, 'terminated', ['sbx-ok-1.tm1']);
  ({ id } = migration);
  await migration.readyToComplete();
  await migration.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  await orchestrator.ferry.temporal.workflow.getHandle(id).terminate('a test');
});

const run = async (...args: string[]) => ferry(args, undefined, orchestrator.env);

async function portalView(): Promise<MigrationView> {
  const context = { ferry: orchestrator.ferry, reconnectionsAskedAt: new Map() } as unknown as PortalContext;
  await writeView(context, id);
  const { view } = await orchestrator.ferry.db
    .selectFrom('portal_views')
    .select('view')
    .where('migration_id', '=', id)
    .executeTakeFirstOrThrow();
  return view as MigrationView;
}

const TERMINATED = /terminated in Temporal at \d{4}-\d\d-\d\d \d\d:\d\d UTC/;

describe('before a terminated migration is closed', () => {
  test('show says that it was terminated, and suggests only to close it', async () => {
    const { out } = await run('show', id);
    expect(out).toMatch(TERMINATED);
    expect(out).toContain('so no company moves\nWaiting for support: close the migration');
    expect(out).toContain(`What to do next:\n  support: ferry sweep --close ${id}\n`);
    expect(out).not.toContain('sign-off');
    const { json } = await runJson(orchestrator, 'show', id);
    expect(json).toMatchObject({ state: 'terminated', endedInTemporal: { status: 'terminated' } });
  });

  test('go-nogo says no', async () => {
    const { exitCode, out } = await run('go-nogo', id);
    expect(exitCode).toBe(1);
    expect(out).toMatch(/^NO-GO/);
    expect(out).toMatch(/✗ decisions: terminated in Temporal .*; waiting for support: close /);
    expect(out).toContain(` ferry sweep --close ${id}\n`);
  });

  test('list and watch name the next command', async () => {
    await until(async () => (await run('list')).out.includes('terminated  '));
    // Tests in other files can also have terminated migrations in this namespace. Then "one of them" is printed.
    expect((await run('list')).out).toMatch(/^ {2}To close (it|one of them), run: ferry sweep --close \S+$/m);
    const { exitCode, out } = await run('watch', id);
    expect(exitCode).toBe(1);
    expect(out).toMatch(TERMINATED);
    expect(out).toContain(`To close the migration, run: ferry sweep --close ${id}\n`);
  });

  test('the dashboard lists it for support', async () => {
    const { rows = [], detail } = await openReader(orchestrator.ferry)({
      visibleRows: (all) => all,
      shownMigrationId: id,
    });
    expect(rows.filter(({ migrationId }) => migrationId === id)).toEqual([
      expect.objectContaining({ migrationId: id, waitingFor: 'support', endedInTemporal: true }),
    ]);
    expect(detail?.progress.state).toBe('terminated');
  });

  test('the dashboard refuses its decisions without a question', async () => {
    const terminal = { stdout: capturedStream(), stderr: capturedStream(), env: {} };
    const prompts = {} as Prompts;
    const context = { ferry: orchestrator.ferry, terminal, prompts, role: 'support', by: 'Sam' };
    const openDialog = openDialogs(context as unknown as DialogContext);
    for (const kind of ['approve', 'reject', 'resume', 'retry'] as const)
      expect(await openDialog({ kind, migrationId: id }, 'complete-migration')).toEqual({
        outcome: 'failed',
        text: `migration ${id} is terminated and accepts no more decisions; to close the migration, run: ferry sweep --close ${id}`,
      });
  });

  test('the portal view offers no decision', async () => {
    const { state, headline, task, next, actions } = await portalView();
    expect(headline).toMatch(/^Stopped at .*: the company has moved\. No other company moves\.$/);
    expect({ state, next, actions }).toEqual({ state: 'terminated', next: null, actions: [] });
    expect(task?.what).toMatch(/^Ask your contact/);
  });

  test.each([
    ['cancel', '--reason', 'odd'],
    ['reject', 'migrate-first-company', '--next', 'abandon', '--reason', 'odd'],
  ])('%s asks nothing, because the decision is refused', async (command, ...more) => {
    const { exitCode, err } = await run(command, id, ...more);
    expect({ exitCode, err }).toMatchObject({
      exitCode: 1,
      err: expect.stringContaining('is terminated and accepts no more decisions') as string,
    });
  });

  test('invite suggests no approvers', async () => {
    const { db } = orchestrator.ferry;
    const expiresAt = new Date(Date.now() + 3_600_000);
    const created = await createInvitation(db, {
      ...{ migrationId: id, person: 'Cleo', role: 'client', email: null, createdBy: 'Sam', expiresAt },
    });
    await sql`update portal_invitations set public_key = ${PUBLIC_KEY}, redeemed_at = now() where id = ${created.id}`.execute(
      db,
    );
    const listed = await run('invite', '--list', id);
    expect(listed.out).toContain('not confirmed');
    expect(listed.out).not.toContain('ferry approver add');
    await markKeyConfirmed(db, created.id);
    const revoked = await run('invite', '--revoke', created.id);
    expect(revoked.out).toContain('is revoked');
    expect(revoked.out).not.toContain('ferry approver remove');
  });

  test('a decision is refused with the same command', async () => {
    const { exitCode, err } = await run('sign-off', id, '--by', 'Sam', '--yes');
    expect(exitCode).toBe(1);
    expect(err).toContain('is terminated and accepts no more decisions');
    expect(err).toContain(`ferry sweep --close ${id}\n`);
  });
});

describe('once a terminated migration is closed', () => {
  beforeAll(async () => {
    expect(await closeTerminated(orchestrator.ferry, id, 'Sam')).toBe(true);
  });

  test('every view says that it is cancelled', async () => {
    expect(await readProgress(orchestrator.ferry, id)).toMatchObject({
      state: 'cancelled',
      counts: { moved: 1 },
      endedBy: { by: 'Tokenferry', reason: expect.stringContaining('closed at the request of Sam') as string },
    });
    expect((await run('show', id)).out).toMatch(new RegExp(`^${id}  cancelled\n`));
    expect((await run('watch', id)).out).toContain(`${id}: cancelled\n`);
    expect((await runJson(orchestrator, 'list')).json).toMatchObject({
      migrations: expect.arrayContaining([
        expect.objectContaining({ migrationId: id, state: 'cancelled', waitingFor: 'nobody' }),
      ]) as unknown,
    });
    expect(await portalView()).toMatchObject({ state: 'cancelled', actions: [] });
    expect((await run('go-nogo', id)).err).toContain('is already cancelled');
    const { rows = [] } = await openReader(orchestrator.ferry)({ visibleRows: (all) => all, shownMigrationId: null });
    expect(rows.filter(({ migrationId }) => migrationId === id)).toEqual([]);
  });
});

test('resume of a terminated migration does not ask about the pause of the client', async () => {
  const migration = await startTestMigration(orchestrator, 'paused-and-terminated', ['sbx-ok-1.tm3']);
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('pause', { reason: 'our office is flooded', ...CLIENT })).toBe('applied');
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).terminate('a test');
  const { exitCode, err } = await run('resume', migration.id);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: `ferry: migration ${migration.id} is terminated and accepts no more decisions; to close the migration, run: ferry sweep --close ${migration.id}\n`,
  });
});

test('the end of a completed migration is shown without a worker', async () => {
  const migration = await startTestMigration(orchestrator, 'shown-end', ['sbx-ok-1.tm2']);
  await migration.readyToComplete();
  await migration.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  await migration.send('approve', { step: 'complete-migration', ...SUPPORT });
  await migration.send('approve', { step: 'complete-migration', ...CLIENT });
  await orchestrator.ferry.temporal.workflow.getHandle(migration.id).result();
  await worker.stop();
  const { exitCode, out, err } = await run('show', migration.id);
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toMatch(new RegExp(`^${migration.id}  completed\n`));
  expect(out).toContain('Companies: 1 of 1 moved');
});
