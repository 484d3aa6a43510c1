/** Tests `ferry setup` on a real server: the parts that it creates, the parts that it keeps, and its errors. */
import { randomBytes } from 'node:crypto';
import { msToTs } from '@temporalio/common/lib/time';
import { temporal } from '@temporalio/proto';
import { cloudSearchAttributesCommand } from '../../../domain/migration/temporal-names';
import { SEARCH_ATTRIBUTES, sweepSchedule } from '../../../workflows/messages';
import { until } from '../../support/async';
import { createTestDatabase } from '../../support/servers/database';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const { INDEXED_VALUE_TYPE_INT: INT, INDEXED_VALUE_TYPE_TEXT: TEXT } = temporal.api.enums.v1.IndexedValueType;

const orchestrator = useOrchestrator();

const newName = () => `setup-${randomBytes(4).toString('hex')}`;

function setup(namespace: string, ...args: readonly string[]) {
  return ferry(['setup', ...args], undefined, { ...orchestrator.env, TEMPORAL_NAMESPACE: namespace });
}

/** Creates a namespace with these search attributes, as an administrator can before `ferry setup` runs. */
async function existingNamespace(searchAttributes: Readonly<Record<string, number>>): Promise<string> {
  const namespace = newName();
  const { workflowService, connection } = orchestrator.ferry.temporal;
  await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs('2 days') });
  await until(() =>
    connection.operatorService.addSearchAttributes({ namespace, searchAttributes }).then(
      () => true,
      () => false,
    ),
  );
  return namespace;
}

test('creates what is missing, and changes nothing when it runs again', async () => {
  const namespace = newName();
  const first = await setup(namespace, '--json', '--retention-days', '90');
  expect(JSON.parse(first.out)).toEqual({
    schema: 'ferry.setup/1',
    namespace,
    namespaceCreated: true,
    retentionMs: 90 * 86_400_000,
    searchAttributesCreated: Object.keys(SEARCH_ATTRIBUTES),
    sweepCreated: true,
    ledger: 'ready',
    ledgerCreated: false,
    portalRole: null,
  });
  const { connection } = orchestrator.ferry.temporal;
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  expect(Object.keys(customAttributes)).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
  await connection.workflowService.describeSchedule({ namespace, scheduleId: sweepSchedule().scheduleId });

  const second = await setup(namespace);
  expect(second).toMatchObject({ exitCode: 0 });
  expect(second.out).toContain(`namespace          ${namespace} exists; it keeps ended migrations for 90 days\n`);
  expect(second.out).toContain('search attributes  exist\n');
  expect(second.out).toContain('closes terminated migrations exists\n');
});

test('says that it has created the ledger, and says so only once', async () => {
  const empty = await createTestDatabase();
  const env = { ...orchestrator.env, DATABASE_URL: empty.url };
  const [first, again] = [await ferry(['setup'], undefined, env), await ferry(['setup', '--json'], undefined, env)];
  await empty.drop();
  expect(first.out).toContain('✓ ledger             was created\n');
  expect(JSON.parse(again.out)).toMatchObject({ ledger: 'ready', ledgerCreated: false });
});

test("creates the portal's database role, which can only call the portal's functions", async () => {
  const namespace = newName();
  const url = new URL(orchestrator.env['DATABASE_URL'] ?? '');
  [url.username, url.password] = [`portal_${randomBytes(4).toString('hex')}`, 'a-password'];
  const withPortal = (portalUrl: string, ...args: readonly string[]) =>
    ferry(['setup', ...args], undefined, {
      ...{ ...orchestrator.env, TEMPORAL_NAMESPACE: namespace, PORTAL_DATABASE_URL: portalUrl },
    });
  const first = await withPortal(url.href);
  expect(first).toMatchObject({ exitCode: 0 });
  expect(first.out).toContain(`✓ portal             database role ${url.username} was created\n`);
  const second = await withPortal(url.href, '--json');
  expect(JSON.parse(second.out)).toMatchObject({ portalRole: url.username });

  url.password = 'another-password';
  const wrong = await withPortal(url.href);
  expect(wrong).toMatchObject({ exitCode: 1 });
  expect(wrong.err).toContain('PORTAL_DATABASE_URL');
  expect(wrong.err).not.toContain('another-password');

  const owner = await withPortal(orchestrator.env['DATABASE_URL'] ?? '');
  expect(owner).toMatchObject({ exitCode: 1 });
  expect(owner.err).toContain("but the portal's role must have none");
});

test('can run in several places at the same time', async () => {
  const namespace = newName();
  const results = await Promise.all([1, 2, 3].map(() => setup(namespace)));
  expect(results.map(({ exitCode, err }) => ({ exitCode, err }))).toEqual(Array(3).fill({ exitCode: 0, err: '' }));
});

test('refuses a namespace in which a search attribute has another type', async () => {
  const namespace = await existingNamespace({ FerryCompaniesDone: TEXT });
  const { exitCode, err } = await setup(namespace);
  expect(exitCode).toBe(1);
  expect(err).toContain(`the search attribute FerryCompaniesDone of namespace ${namespace} has the wrong type; `);
  expect(err).toContain(`temporal operator search-attribute remove -n ${namespace} --name FerryCompaniesDone`);
});

test('says why a namespace has no room for the search attributes', async () => {
  const namespace = await existingNamespace({ First: INT, Second: INT });
  const { exitCode, err } = await setup(namespace);
  expect(exitCode).toBe(1);
  expect(err).toContain('cannot have more than 3 search attribute of type Int; ');
  expect(err).toContain('use another namespace');
});

test('names the command that creates search attributes on Temporal Cloud', () => {
  expect(cloudSearchAttributesCommand('acme.a1b2c', SEARCH_ATTRIBUTES, ['FerryStep', 'FerryCompaniesTotal'])).toBe(
    'tcld namespace search-attributes add --namespace acme.a1b2c --search-attribute FerryStep=Keyword --search-attribute FerryCompaniesTotal=Int',
  );
});
