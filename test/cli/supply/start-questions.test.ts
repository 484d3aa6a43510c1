/** `ferry start` by questions, as somebody answers them at a terminal. */
import { readMigration } from '../../../store';
import { ferry } from '../captured-terminal';
import { removeWrittenFiles, written } from '../manifest/written-files';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import type { Seat } from '../terminal/pseudo-terminal';
import { KEY, takeSeat } from '../terminal/pseudo-terminal';

let orchestrator: Orchestrator;
let seat: Seat | undefined;
beforeAll(async () => {
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
});
afterEach(() => seat?.close());
afterAll(async () => {
  removeWrittenFiles();
  await orchestrator.close();
});

function sit(...args: string[]): Seat {
  seat = takeSeat(['start', ...args], orchestrator.env, 180, 40);
  return seat;
}

const manifest = (organization: number): string =>
  written(`reference,name,realmId,expectedInvoices\nW-1,Acme,${organization},1\n`, `asked-${organization}.csv`);

test('everything is asked, checked and shown as a command, and started after a yes', async () => {
  const file = manifest(6_100_000_000_000_001);
  const start = sit();
  await start.sees('Which platform do the companies come from?');
  start.type('quick');
  await start.sees(/❯ QuickBooks Online\n +QuickBooks Online Sandbox\n\n/);
  start.type(KEY.enter);
  await start.sees("QuickBooks Online: moved with the provider's key, in six steps.");
  await start.sees('Which manifest?');
  start.type(`nowhere.csv${KEY.enter}`);
  await start.sees('There is no file nowhere.csv');
  start.type('\x15');
  start.type(`'${file}'${KEY.enter}`);
  await start.sees('credentials come later, once syncing is disabled');
  await start.sees('Which client?');
  start.type(`asked-wizard${KEY.enter}`);
  await start.sees('Whom does the client call? (the solutions team)');
  start.type(KEY.enter);
  await start.sees('1 company of QuickBooks Online, 0 credentials: no errors');
  await start.sees('The command that does the same:');
  await start.sees('--platform quickbooks-online --client asked-wizard');
  await start.sees('Start it? (y/N)');
  start.type(`y${KEY.enter}`);
  expect(await start.ended).toBe(0);
  expect(start.text()).toContain('asked-wizard.quickbooks-online: started with 1 company of QuickBooks Online');
}, 90_000);

test('only what was not typed is asked; a manifest with errors is checked again, or nothing is started', async () => {
  const file = written('reference,name,realmId\nW-1,,6100000000000002\n', 'faulty.csv');
  const start = sit(file, '-p', 'quickbooks-online', '--contact', 'Sam');
  await start.sees('Which client?');
  start.type(`faulty-wizard${KEY.enter}`);
  await start.sees('Is it corrected? Check again?');
  start.type(`n${KEY.enter}`);
  expect(await start.ended).toBe(1);
  expect(start.text()).toContain('nothing was stored, nothing was started');
  expect(await readMigration(orchestrator.ferry.db, 'faulty-wizard.quickbooks-online')).toBeUndefined();
}, 90_000);

test('an id that is taken is told apart by a word', async () => {
  const taken = ['-p', 'quickbooks-online', '--client', 'twice-wizard'];
  await ferry(['start', manifest(6_100_000_000_000_003), ...taken], undefined, orchestrator.env);
  const start = sit(...taken, '--contact', 'Sam');
  await start.sees('Which manifest?');
  start.type(manifest(6_100_000_000_000_004) + KEY.enter);
  await start.sees('A word that tells this migration apart?');
  start.type(`again${KEY.enter}`);
  await start.sees('--label again');
  await start.sees('Start it? (y/N)');
  start.type(KEY.enter);
  expect(await start.ended).toBe(1);
}, 90_000);

test("a platform of the client's own key leads to the other command, which asks for its own yes", async () => {
  const file = written(
    'reference,name,tenantId,accessToken,refreshToken\nW-1,Acme,t-61,a,sbx-ok-1.t-61\n',
    'own-key.csv',
  );
  const start = sit(file, '--client', 'own-wizard', '--contact', 'Sam');
  await start.sees('Which platform');
  start.type(`xero`);
  await start.sees('❯ Xero');
  start.type(KEY.enter);
  await start.sees("Xero: moved with the client's own key: self-service.");
  await start.sees('Which file holds the credentials?');
  start.type(KEY.enter);
  await start.sees(/ferry self-service .*own-key\.csv' --client own-wizard --contact Sam --platform xero/);
  await start.sees('Start? (y/N)');
  start.type(KEY.ctrlC);
  expect(await start.ended).toBe(1);
}, 90_000);

test('without a terminal the usual error says what is missing', async () => {
  const { exitCode, err } = await ferry(['start'], undefined, orchestrator.env);
  expect(exitCode).toBe(2);
  expect(err).toContain("required option '-p, --platform <name>' not specified");
});
