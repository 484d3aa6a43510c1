/** Tests decisions at the sign-off: which companies a retry includes, and the sign-offs that it withdraws. */
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestratorWithWorker();
let wharf: TestMigration;
const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

beforeAll(async () => {
  wharf = await startTestMigration(orchestrator, 'wharf', ['sbx-ok-1.wharf', 'sbx-revoked.wharf', 'sbx-expired.wharf']);
  await wharf.readyToComplete();
  await wharf.until(({ counts, state }) => counts.failed === 2 && state === 'waiting');
  await updateRow(orchestrator.ferry.db, wharf.id, 2, { crossed_at: new Date(), link_url: 'https://link.example/2' });
});

test('retry asks before it withdraws a sign-off, or needs --yes', async () => {
  await wharf.send('approve', { step: 'complete-migration', ...SUPPORT });
  const { exitCode, err } = await run('retry', wharf.id, '--all');
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: this decision withdraws the sign-off of Sam (support); the handover must then be signed off again; nothing was sent; if you agree, run the command again with --yes\n',
  });
  expect((await run('audit', wharf.id)).out).not.toContain('retry');
});

test('in step 6, a rejection of an earlier step suggests no other first company', async () => {
  const { exitCode, err } = await run('reject', wharf.id, 'schedule', '--company', 'R-3', '--reason', 'odd');
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: --company belongs to a rejection of the first company, not of step 2 (schedule the migration); nothing was decided; run the command again without --company\n',
  });
});

test('in step 6, a rejection of the first company is refused, and nothing is suggested that is also refused', async () => {
  const options = [[], ['--next', 'another-company'], ['--company', 'R-1'], ['--next', 'abandon']];
  for (const next of options) {
    const args = ['reject', wharf.id, 'migrate-first-company', ...next, '--reason', 'odd'];
    const { exitCode, out, err } = await run(...args);
    expect({ exitCode, out, err }).toEqual({
      exitCode: 1,
      out: `✗ refused: ${wharf.id}: step 5 (migrate the first company) has already ended; to stop further moves, pause the migration\n`,
      err: '',
    });
  }
});

test('retry --all leaves out a company that must reconnect, as retry refuses it by name', async () => {
  const byName = await run('retry', wharf.id, 'R-2');
  expect(byName.err).toContain('retry does not apply to R-2 (must reconnect)');
  const { out, err } = await run('retry', wharf.id, '--all', '--yes');
  expect(out).toMatch(/1 company will be tried again; .*; a retry does not help 1 company that must reconnect/);
  expect(err).toContain('this decision withdraws the sign-off of Sam (support)');
  await wharf.until(({ counts, state }) => counts.failed === 2 && state === 'waiting');
  await updateRow(orchestrator.ferry.db, wharf.id, 3, { crossed_at: new Date(), link_url: 'https://link.example/3' });
  const none = await run('retry', wharf.id, '--all');
  expect(none.exitCode).toBe(1);
  expect(none.err).toContain('retry does not apply to R-2 (must reconnect), R-3 (must reconnect)');
});
