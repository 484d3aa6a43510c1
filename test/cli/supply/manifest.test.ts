/** Tests `ferry start --manifest-later` and `ferry manifest`, which supplies the manifest in step 1. */
import { createSigningKey, parseSigningKey, Secret } from '../../../security';
import { readMigration } from '../../../store';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, waitForProgress } from '../../workflows/running-migration';
import { platform } from '../../support/migrations/platforms';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';

const orchestrator = useOrchestratorWithWorker();
afterAll(async () => {
  removeTempFiles();
});

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);
const keyOf = (name: string) => parseSigningKey(new Secret(createSigningKey(name))).publicKey;
const AS_CLIENT = ['--as', 'client', '--by', 'Cleo'];
const manifest = (...rows: string[]) => tempFile(['reference,name,realmId,expectedInvoices', ...rows].join('\n'));
const startEmpty = async (client: string, ...options: string[]) => {
  const target = ['--platform', 'quickbooks-online', '--client', client];
  const started = await run('start', '--manifest-later', ...target, '--by', 'Sam', ...options);
  return { id: `${client}.quickbooks-online`, ...started };
};

test('a migration that is started without a manifest waits for it, and every view shows 0 companies', async () => {
  const { id, exitCode, out } = await startEmpty('later');
  expect(exitCode).toBe(0);
  expect(out).toContain(`${id}: started without a manifest (QuickBooks Online)`);
  expect(out).toContain('  ! no manifest has been supplied yet');
  expect(out).not.toContain('✗');
  expect(out).toContain(`ferry invite ${id} --name "name of the person"`);
  expect(out).toContain(`    ferry manifest ${id} manifest.csv --as client --by "your name"\n`);
  const shown = await run('show', id);
  expect(shown.out).toContain('Waiting for client: supply the manifest');
  expect(shown.out).toContain('Companies: none yet');
  expect(shown.out).toContain(`client: ferry manifest ${id} manifest.csv --as client`);
  expect((await run('list')).out).toMatch(/later\.quickbooks-online.*0\/0/);
  expect((await run('go-nogo', id)).out).toContain('waiting for client: supply the manifest');
  expect((await run('go-nogo', id)).out).toContain('companies: no manifest has been supplied yet');
  expect((await run('companies', id)).exitCode).toBe(0);
  expect((await run('exceptions', id)).exitCode).toBe(0);
  for (const format of ['md', 'html', 'csv', 'json']) {
    const report = await run('report', id, '--format', format);
    expect({ format, exitCode: report.exitCode }).toEqual({ format, exitCode: 0 });
    expect(report.out).not.toMatch(/NaN|undefined|Infinity|Details supplied/);
  }
  const approval = await run('approve', id, 'supply-details', '--yes', '--by', 'Sam');
  expect(approval.exitCode).toBe(1);
  expect(approval.out + approval.err).toContain('no manifest has been supplied yet');
});

test('if step 1 still asks for the application, start prints a warning and the command that supplies it', async () => {
  await orchestrator.client().putApplicationCredentials(platform('quickbooks-online-sandbox').key, {
    ...{ clientId: 'another', clientSecret: new Secret('any'), environment: 'production' },
  });
  const target = ['--platform', 'quickbooks-online-sandbox', '--client', 'early'];
  const { exitCode, out } = await run('start', manifest('E-1,Early,8100000000000001,1'), ...target, '--by', 'Sam');
  expect(exitCode).toBe(0);
  expect(out).toContain('✓ early.quickbooks-online-sandbox: started with 1 QuickBooks Online Sandbox company\n');
  expect(out).toContain('  ! the application "another" is registered for the production environment');
  expect(out).toContain(
    '\n  The client supplies its application in step 1: ferry application early.quickbooks-online-sandbox --client-id "client id" --environment sandbox --as client --by "your name"\n',
  );
  expect(out).not.toContain('✗');
});

test('the manifest is supplied, replaced, accepted, and can be replaced again once support has rejected the step', async () => {
  const { id } = await startEmpty('manifest-replaced', '--four-eyes');
  const faulty = await run('manifest', id, manifest('C-1,,8100000000000001,1'), ...AS_CLIENT);
  expect(faulty.exitCode).toBe(1);
  expect(faulty.out).toMatch(/error.*2.*name/);
  const first = await runJson(orchestrator, 'manifest', id, manifest('C-1,Acme,8100000000000001,1'), ...AS_CLIENT);
  expect(first.json).toMatchObject({
    companies: 1,
    decision: { outcome: 'applied', text: 'the manifest has 1 company' },
    preflight: { companies: 1, suppliedBy: 'Cleo', problems: [] },
  });
  const file = manifest('C-1,Acme,8100000000000001,1', 'C-2,Bolt,8100000000000002,1');
  const second = await run('manifest', id, file, ...AS_CLIENT);
  expect(second.out).toContain(`✓ ${id}: the manifest has 2 companies`);
  const { counts } = await waitForProgress(orchestrator.ferry, id, ({ preflight }) => preflight?.companies === 2);
  expect(counts).toMatchObject({ total: 2, waiting: 2 });
  // The four-eyes rule lets Sam approve: Sam started the migration, but only Cleo has supplied the manifest.
  expect((await run('approve', id, 'supply-details', '--yes', '--by', 'Sam')).exitCode).toBe(0);
  const late = await run('manifest', id, file, ...AS_CLIENT);
  expect(late.exitCode).toBe(1);
  expect(late.out).toContain('support or the client must first reject step 1');
  expect((await run('reject', id, 'supply-details', '--reason', 'a company is missing')).exitCode).toBe(0);
  expect((await run('manifest', id, file, ...AS_CLIENT)).exitCode).toBe(0);
});

test('the first company of a manifest that was supplied after the start is moved', async () => {
  const { id } = await startEmpty('moved-later');
  expect((await run('manifest', id, manifest('C-1,Acme,8100000000000021,1'), ...AS_CLIENT)).exitCode).toBe(0);
  const { db } = orchestrator.ferry;
  const commands = [
    ['approve', id, 'supply-details', '--yes', '--by', SUPPORT.by],
    ['propose-time', id, 'now', '--by', SUPPORT.by],
    ...['schedule', 'update-application'].flatMap((step) => [
      ['approve', id, step, '--yes', '--by', SUPPORT.by],
      ['approve', id, step, '--yes', ...AS_CLIENT],
    ]),
    ['confirm-sync-disabled', id, '--all', ...AS_CLIENT],
  ];
  for (const command of commands)
    expect({ command, exitCode: (await run(...command)).exitCode }).toEqual({ command, exitCode: 0 });
  const credentials = tempFile('reference,accessToken,refreshToken,realmId\nC-1,any,sbx-ok-1.later,8100000000000021');
  expect((await run('credentials', id, credentials, '--obtained-at', 'now', ...AS_CLIENT)).exitCode).toBe(0);
  const reached = await waitForProgress(
    orchestrator.ferry,
    id,
    ({ firstCompany }) => firstCompany?.stage === 'verified',
  );
  expect(reached.firstCompany).toMatchObject({ reference: 'C-1' });
  await until(async () => (await readMigration(db, id))?.released === 'first-company');
  const audit = await run('audit', id);
  expect(audit.out).toContain('supply a manifest of 1 company');
});

test('an organization of another open migration is refused without naming that migration', async () => {
  const other = await startTestMigration(orchestrator, 'keeper', ['sbx-ok-1.keeper']);
  const { organization } = await orchestrator.ferry.db
    .selectFrom('companies')
    .select('organization')
    .where('migration_id', '=', other.id)
    .executeTakeFirstOrThrow();
  const { id } = await startEmpty('taker');
  const refused = await run('manifest', id, manifest(`C-1,Acme,${organization},1`), ...AS_CLIENT);
  expect(refused.exitCode).toBe(1);
  expect(refused.out).toContain('1 company (C-1) has an organization that is already part of another open migration');
  expect(refused.out).not.toContain('keeper');
});

test('a refused manifest that is not signed says who can sign it', async () => {
  const approvers = ['client:Cleo', 'support:Sam'].flatMap((who) => ['--approver', `${who}:${keyOf(who)}`]);
  const { id, out: started } = await startEmpty('unsigned', ...approvers);
  // The command has no `--as client`, because support cannot sign as the client.
  expect(started).toContain(`    ferry manifest ${id} manifest.csv\n`);
  const { exitCode, out } = await run('manifest', id, manifest('C-1,Acme,8100000000000091,1'), ...AS_CLIENT);
  expect(exitCode).toBe(1);
  expect(out).toContain(`✗ refused: ${id}: `);
  expect(out).toContain(
    'to sign the decision, Cleo must run the command on their own machine, where their signing key is',
  );
});

test('start requires either a manifest or --manifest-later', async () => {
  const target = ['--platform', 'quickbooks-online', '--client', 'neither'];
  const neither = await run('start', ...target);
  expect(neither).toMatchObject({
    exitCode: 2,
    err: expect.stringContaining("missing required argument 'manifest'") as string,
  });
  const both = await run('start', 'manifest.csv', '--manifest-later', ...target);
  expect(both).toMatchObject({ exitCode: 2, err: expect.stringContaining('--manifest-later') as string });
  expect((await run('start', '--manifest-later', '--first-company', 'C-1', ...target)).exitCode).toBe(2);
});
