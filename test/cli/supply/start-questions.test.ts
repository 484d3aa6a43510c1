/** Tests the wizard of `ferry start` in a pseudo-terminal. */
import { readMigration } from '../../../store';
import { ferry } from '../captured-terminal';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { KEY, startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestratorWithWorker();
let session: TerminalSession | undefined;
afterEach(() => session?.close());
afterAll(() => removeTempFiles());

function startWizard(...args: string[]): TerminalSession {
  session = startTerminalSession(['start', ...args], orchestrator.env, 180, 40);
  return session;
}

const manifest = (organization: number): string =>
  tempFile(`reference,name,realmId,expectedInvoices\nW-1,Acme,${organization},1\n`, `asked-${organization}.csv`);

test('the wizard asks for all arguments, checks them, shows the command, and starts after confirmation', async () => {
  const file = manifest(6_100_000_000_000_001);
  const start = startWizard();
  await start.waitFor('Which platform are the companies on?');
  start.type('quick');
  await start.waitFor(/❯ QuickBooks Online\n +QuickBooks Online Sandbox\n\n/);
  start.type(KEY.enter);
  await start.waitFor('QuickBooks Online companies are moved by the provider, in six steps.');
  await start.waitFor('Manifest file?');
  start.type(`nowhere.csv${KEY.enter}`);
  await start.waitFor('There is no file nowhere.csv');
  start.type('\x15');
  start.type(`'${file}'${KEY.enter}`);
  await start.waitFor('When a refresh token is used, QuickBooks Online can replace it');
  await start.waitFor('Export and supply the credentials later, after the client has confirmed that syncing is off.');
  await start.waitFor('Short name of the client, e.g. acme');
  start.type(`asked-wizard${KEY.enter}`);
  await start.waitFor('Who should the client call for help? (the solutions team)');
  start.type(KEY.enter);
  await start.waitFor('1 QuickBooks Online company, 0 credentials: no errors');
  await start.waitFor('The complete command:');
  await start.waitFor('--platform quickbooks-online --client asked-wizard');
  await start.waitFor('Start the migration? (y/N)');
  start.type(`y${KEY.enter}`);
  expect(await start.ended).toBe(0);
  expect(start.text()).toContain('asked-wizard.quickbooks-online: started with 1 QuickBooks Online company');
});

test('the wizard asks only for missing arguments, and starts nothing while the manifest has errors', async () => {
  const file = tempFile('reference,name,realmId\nW-1,,6100000000000002\n', 'faulty.csv');
  const start = startWizard(file, '-p', 'quickbooks-online', '--contact', 'Sam');
  await start.waitFor('Short name of the client, e.g. acme');
  start.type(`faulty-wizard${KEY.enter}`);
  await start.waitFor('Check again?');
  start.type(`n${KEY.enter}`);
  expect(await start.ended).toBe(1);
  expect(start.text()).toContain('nothing was stored or started');
  expect(await readMigration(orchestrator.ferry.db, 'faulty-wizard.quickbooks-online')).toBeUndefined();
});

test('the wizard offers to read a Windows-1252 file, and adds the option to the command', async () => {
  const text = 'reference,name,realmId,expectedInvoices\nW-1,M\xFCller,6100000000000005,1\n';
  const file = tempFile(Buffer.from(text, 'latin1'), 'excel.csv');
  const start = startWizard(file, '-p', 'quickbooks-online', '--contact', 'Sam');
  await start.waitFor('Short name of the client, e.g. acme');
  start.type(`excel-wizard${KEY.enter}`);
  await start.waitFor('it looks like Windows-1252');
  await start.waitFor('Read the files as windows-1252? (y/N)');
  start.type(`y${KEY.enter}`);
  await start.waitFor('1 QuickBooks Online company, 0 credentials: no errors');
  await start.waitFor('--client excel-wizard --encoding windows-1252');
  await start.waitFor('Start the migration? (y/N)');
  start.type(KEY.enter);
  expect(await start.ended).toBe(1);
});

test('the wizard asks for a label if the id already exists', async () => {
  const sameId = ['-p', 'quickbooks-online', '--client', 'twice-wizard'];
  await ferry(['start', manifest(6_100_000_000_000_003), ...sameId], undefined, orchestrator.env);
  const start = startWizard(...sameId, '--contact', 'Sam');
  await start.waitFor('Manifest file?');
  start.type(manifest(6_100_000_000_000_004) + KEY.enter);
  await start.waitFor('This migration already exists. Which label should the new migration have?');
  start.type(`again${KEY.enter}`);
  await start.waitFor('--label again');
  await start.waitFor('Start the migration? (y/N)');
  start.type(KEY.enter);
  expect(await start.ended).toBe(1);
});

test('for a self-service platform, the wizard continues with ferry self-service, which asks for confirmation', async () => {
  const file = tempFile(
    'reference,name,tenantId,accessToken,refreshToken\nW-1,Acme,t-61,a,sbx-ok-1.t-61\n',
    'own-key.csv',
  );
  const start = startWizard(file, '--client', 'own-wizard', '--contact', 'Sam');
  await start.waitFor('Which platform');
  start.type(`xero`);
  await start.waitFor('❯ Xero');
  start.type(KEY.enter);
  await start.waitFor('Xero companies are moved by the client, in self-service.');
  await start.waitFor(
    'Credential file? (press Enter if the manifest contains the credentials, or if you supply them later)',
  );
  start.type(KEY.enter);
  await start.waitFor(/ferry self-service .*own-key\.csv' --client own-wizard --contact Sam --platform xero/);
  await start.waitFor('Start? (y/N)');
  start.type(KEY.ctrlC);
  expect(await start.ended).toBe(1);
});

test('start without a terminal reports the missing option', async () => {
  const { exitCode, err } = await ferry(['start'], undefined, orchestrator.env);
  expect(exitCode).toBe(2);
  expect(err).toMatch(/required option '-p, --platform <name>' not specified\n\(Choose one of: .*quickbooks-online, /);
});
