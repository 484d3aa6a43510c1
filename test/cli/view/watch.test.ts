/** Tests `ferry watch` on a terminal and without one. */
import {
  CLIENT,
  closedWindows,
  startTestMigration,
  SUPPORT,
  windowChange,
  type TestMigration,
} from '../../workflows/running-migration';
import { flagLedger } from '../../../store';
import { runJson } from '../command-line';
import { ferry } from '../captured-terminal';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startRelay } from '../terminal/tcp-relay';
import { KEY, STYLING, startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestratorWithWorker();
let session: TerminalSession | undefined;
afterEach(() => session?.close());

function startWatch(id: string, env: NodeJS.ProcessEnv = {}): TerminalSession {
  session = startTerminalSession(['watch', id], { ...orchestrator.env, ...env });
  return session;
}

async function cancel({ send }: TestMigration): Promise<void> {
  expect(await send('cancel', { reason: 'enough', ...SUPPORT })).toBe('applied');
}

test('watch shows steps and a bar until the migration completes, and exits with 0', async () => {
  const ferryman = await startTestMigration(orchestrator, 'ferryman', ['sbx-ok-1.f1', 'sbx-ok-1.f2']);
  const watch = startWatch(ferryman.id);
  await watch.waitFor(/● 1 Supply details +open since/);
  await watch.waitFor('Waiting for support since');
  await ferryman.readyToMove();
  await watch.waitFor(/✓ 4 Disable data syncing +done/);
  await ferryman.until(({ firstCompany }) => firstCompany?.stage === 'verified');
  await watch.waitFor('approve the first company, R-1');
  await ferryman.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await ferryman.until(({ waitingFor }) => waitingFor.what === 'sign off the handover');
  await watch.waitFor('████████████████████ 2 of 2 companies moved');
  await ferryman.send('approve', { step: 'complete-migration', ...SUPPORT });
  await ferryman.send('approve', { step: 'complete-migration', ...CLIENT });
  expect(await watch.ended).toBe(0);
  expect(watch.text()).toContain(`${ferryman.id}: completed`);
  expect(watch.isRestored()).toBe(true);
  // The last view stays on the screen, and appears only once.
  expect(watch.text().match(/1 Supply details/g)).toHaveLength(1);
});

test('watch exits with 1 for a migration that was cancelled or terminated in Temporal', async () => {
  const drifter = await startTestMigration(orchestrator, 'drifter', ['sbx-ok-1.d1']);
  await drifter.until(({ preflight }) => preflight !== null);
  await cancel(drifter);
  expect((await runJson(orchestrator, 'watch', drifter.id)).exitCode).toBe(1);

  const wreck = await startTestMigration(orchestrator, 'wreck', ['sbx-ok-1.w1']);
  await wreck.until(({ preflight }) => preflight !== null);
  await orchestrator.ferry.temporal.workflow.getHandle(wreck.id).terminate();
  const { exitCode, json } = await runJson(orchestrator, 'watch', wreck.id);
  expect({ exitCode, state: json['state'] }).toEqual({ exitCode: 1, state: 'terminated' });
});

test('watch of a cancelled migration ends when the companies in flight have moved, and show says who cancelled it', async () => {
  const leaver = await startTestMigration(orchestrator, 'leaver', ['sbx-ok-1.l1', 'sbx-slow-1500-ok-1.l2']);
  await leaver.readyToComplete();
  await leaver.until(({ counts }) => counts.importing + counts.syncing > 0);
  await cancel(leaver);
  const { exitCode, out } = await ferry(['watch', leaver.id], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain('1/2 moved  cancelled: 1 company still being moved or checked\n');
  expect(out).toMatch(/\n2\/2 moved {2}cancelled: the migration is cancelled\n.*: cancelled\n$/);
  const { out: shown } = await ferry(['show', leaver.id], undefined, orchestrator.env);
  expect(shown).toMatch(/^Cancelled by Sam \(support\) at .* UTC: enough$/m);
  expect(shown).toContain(`What to do next:\n  support: ferry report ${leaver.id}\n`);
});

test('watch shows that Temporal cannot be reached and how old its data is, and recovers', async () => {
  const patient = await startTestMigration(orchestrator, 'long-watch', ['sbx-ok-1.l1']);
  await patient.until(({ preflight }) => preflight !== null);
  const relay = await startRelay(orchestrator.config.temporal.address);
  const watch = startWatch(patient.id, { TEMPORAL_ADDRESS: relay.address });
  await watch.waitFor('accept the supplied details');
  await relay.cut();
  await watch.waitFor(/last read at \d\d:\d\d:\d\d; cannot read from Temporal; retrying automatically/);
  await relay.restore();
  await until(() => !watch.text().includes('cannot read from Temporal'));
  await cancel(patient);
  expect(await watch.ended).toBe(1);
  await relay.cut();
});

test('watch stops on Ctrl-C if Postgres has stopped answering without closing its connections', async () => {
  const frozen = await startTestMigration(orchestrator, 'frozen-watch', ['sbx-ok-1.z1']);
  await frozen.until(({ preflight }) => preflight !== null);
  const url = new URL(orchestrator.env['DATABASE_URL'] ?? '');
  const relay = await startRelay(url.host);
  url.host = relay.address;
  const watch = startWatch(frozen.id, { DATABASE_URL: url.href });
  await watch.waitFor('accept the supplied details');
  relay.freeze();
  await watch.waitFor(/cannot read from the database; retrying automatically/);
  watch.type(KEY.ctrlC);
  expect(await watch.ended).toBe(0);
  await watch.waitFor(`Stopped watching ${frozen.id}.`);
  await relay.cut();
}, 60_000);

test('watch leaves no parts of old drawings on the screen after Enter and a resize', async () => {
  const typed = await startTestMigration(orchestrator, 'typed-watch', ['sbx-ok-1.t1']);
  await typed.until(({ preflight }) => preflight !== null);
  const watch = startWatch(typed.id);
  const drawn = async (): Promise<void> => {
    // The clock in the first line shows that the block was drawn again.
    const [first] = watch.lines();
    await until(() => watch.lines()[0] !== first && watch.lines()[0]?.startsWith(typed.id) === true);
    expect(watch.text().match(/1 Supply details/g)).toHaveLength(1);
  };
  await watch.waitFor('accept the supplied details');
  watch.type(KEY.enter.repeat(30));
  await drawn();
  watch.resize(44, 24);
  await drawn();
  watch.resize(80, 24);
  await drawn();
  watch.type(KEY.ctrlC);
  expect(await watch.ended).toBe(0);
  expect(watch.text().match(/1 Supply details/g)).toHaveLength(1);
  expect(watch.isRestored()).toBe(true);
});

test('watch stops and restores the cursor on Ctrl-C', async () => {
  const quiet = await startTestMigration(orchestrator, 'quiet-watch', ['sbx-ok-1.q1']);
  const watch = startWatch(quiet.id);
  await watch.waitFor('Supply details');
  watch.type(KEY.ctrlC);
  expect(await watch.ended).toBe(0);
  // The line is wrapped at the width of the terminal.
  await watch.waitFor(new RegExp(`Stopped watching ${quiet.id}\\. This does not affect the\\s+migration\\.`));
  expect(watch.isRestored()).toBe(true);
});

test('watch writes plain lines without a terminal, and no colours with NO_COLOR', async () => {
  const logged = await startTestMigration(orchestrator, 'logged-watch', ['sbx-ok-1.g1']);
  await logged.until(({ preflight }) => preflight !== null);
  const { out } = await ferry(['watch', logged.id, '--until-decision'], undefined, orchestrator.env);
  expect(out).toBe(
    '0/1 moved  step 1 of 6, supply details: waiting for support: accept the supplied details\n' +
      `${logged.id}: step 1 of 6, supply details\n` +
      'Waiting for support: accept the supplied details\n',
  );
  const plain = startWatch(logged.id, { NO_COLOR: '1' });
  await plain.waitFor('accept the supplied details');
  expect(plain.sent()).not.toMatch(STYLING);
});

test('watch --until-decision stops between windows if a company lacks a credential, and names who has to supply it', async () => {
  const lacking = await startTestMigration(orchestrator, 'lacking-watch', [
    'sbx-ok-1.w1',
    'sbx-ok-1.w2',
    'sbx-ok-1.w3',
  ]);
  await lacking.firstCompanyMoved();
  await lacking.send('adjust', windowChange(closedWindows()));
  await orchestrator.ferry.db
    .deleteFrom('credentials')
    .where('migration_id', '=', lacking.id)
    .where('row', '=', 3)
    .execute();
  await lacking.send('approve', { step: 'migrate-first-company', ...SUPPORT });
  await lacking.until(({ counts }) => counts.withoutCredential === 1);
  const { exitCode, out } = await ferry(['watch', lacking.id, '--until-decision'], undefined, orchestrator.env);
  const task = 'Meanwhile waiting for client: supply credentials for 1 company (R-3)';
  expect(exitCode).toBe(0);
  expect(out).toContain(`${lacking.id}: step 6 of 6, complete the migration\n${task}\n`);
  const { json } = await runJson(orchestrator, 'watch', lacking.id, '--until-decision');
  expect(json['meanwhile']).toEqual({ roles: ['client'], what: 'supply credentials for 1 company (R-3)' });
  expect((await ferry(['show', lacking.id], undefined, orchestrator.env)).out).toContain(task);

  await flagLedger(orchestrator.ferry.db, lacking.id);
  const what = `the ledger is out of date, so no company can move; to repair it, run: ferry reconcile ${lacking.id}`;
  for (const args of [['show'], ['watch', '--until-decision']])
    expect(await runJson(orchestrator, ...args, lacking.id)).toMatchObject({
      json: { meanwhile: null, waitingFor: { roles: ['support'], what } },
    });
});
