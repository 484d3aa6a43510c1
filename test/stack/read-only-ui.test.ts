/**
 * Tests the read-only Web UI against Temporal's dev server: the requests that it forwards or refuses, and its links.
 */
import { request } from 'node:http';
import { Client, Connection } from '@temporalio/client';
import { createTemporaryFolder } from '../../stack/folders';
import { startReadOnlyUi, type ReadOnlyUi } from '../../stack/temporal/read-only-ui';
import { startTemporal, type RunningTemporal } from '../../stack/temporal/server';
import { temporalCli } from '../support/servers/shared-servers';

const ID = 'acme.quickbooks-online';
const WORKFLOW = `/api/v1/namespaces/default/workflows/${ID}`;

let temporal: RunningTemporal;
let client: Client;
let ui: ReadOnlyUi;

beforeAll(async () => {
  temporal = await startTemporal({
    cli: temporalCli(),
    dataFolder: createTemporaryFolder(),
    ...{ port: 0, uiPort: 0, ephemeral: true },
  });
  client = new Client({ connection: await Connection.connect({ address: temporal.address }) });
  ui = await startReadOnlyUi({ uiUrl: temporal.uiUrl, namespace: 'default', port: 0 });
});
afterAll(async () => {
  await ui.stop();
  await client.connection.close();
  await temporal.stop();
});

/** Starts a workflow that no worker runs. */
async function startRun(): Promise<string> {
  const options = { workflowId: ID, taskQueue: 'none', workflowIdConflictPolicy: 'TERMINATE_EXISTING' } as const;
  const { firstExecutionRunId } = await client.workflow.start('managedMigration', options);
  return firstExecutionRunId;
}

/** Sends the path and the Host header exactly as given; `fetch` would change them. */
function send(method: string, path: string, headers: Record<string, string> = {}): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(ui.url, { method, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.once('error', reject).end();
  });
}

test('the link of a migration leads to the page of its current run', async () => {
  for (const start of [startRun, startRun]) {
    const run = await start();
    const { status, headers } = await fetch(`${ui.url}/m/${ID}`, { redirect: 'manual' });
    expect(status).toBe(302);
    expect(headers.get('location')).toBe(`/namespaces/default/workflows/${ID}/${run}/user-metadata`);
    expect(headers.get('cache-control')).toBe('no-store');
  }
  const missing = await fetch(`${ui.url}/m/other.xero`);
  expect([missing.status, await missing.text()]).toEqual([
    404,
    'Temporal has no migration other.xero. Check the id in the address. Temporal also deletes a migration some time after its end: if you need its result, ask your contact for the handover report.\n',
  ]);
});

test('the read-only UI serves the pages and read requests of Temporal’s UI, and hides the buttons', async () => {
  expect(await (await fetch(`${ui.url}/`)).text()).toContain('<!doctype html>');
  const long = await fetch(`${ui.url}/render?content=${'*'.repeat(60_000)}`);
  expect([long.status, (await long.text()).includes('workflow-actions')]).toEqual([200, false]);
  await startRun();
  const described = (await (await fetch(`${ui.url}${WORKFLOW}`)).json()) as object;
  expect(described).toMatchObject({ workflowExecutionInfo: { status: 'WORKFLOW_EXECUTION_STATUS_RUNNING' } });
  const settings = (await (await fetch(`${ui.url}/api/v1/settings`)).json()) as object;
  const original = (await (await fetch(`${temporal.uiUrl}/api/v1/settings`)).json()) as object;
  expect(original).toMatchObject({ DisableWriteActions: false });
  expect(settings).toMatchObject({ DisableWriteActions: true, WorkflowCancelDisabled: true });
  expect(Object.keys(settings)).toEqual(expect.arrayContaining(Object.keys(original)));
  // Checks all settings that disable an action, because a later version of Temporal can add such a setting.
  const disabled = Object.entries(settings).filter(([name]) => /(?<!Counts)Disabled$|^Disable/.test(name));
  expect(disabled.filter(([, value]) => value !== true)).toEqual([]);
});

test.each([
  ['POST', `${WORKFLOW}/signal/approve`],
  ['POST', `${WORKFLOW}/terminate`],
  ['POST', `${WORKFLOW}/cancel`],
  ['POST', `${WORKFLOW}/update/approve`],
  ['POST', `${WORKFLOW}/reset`],
  ['POST', WORKFLOW],
  ['POST', `${WORKFLOW}%2Fquery%2F/signal/approve`],
  ['POST', `${WORKFLOW}/signal/approve?/query/x`],
  ['POST', `${WORKFLOW}/query/..%2Fterminate`],
  ['POST', `${WORKFLOW}/query/../terminate`],
  ['POST', '/api/v1/namespaces/default/schedules/s'],
  ['POST', '/m/acme.quickbooks-online'],
  ['PUT', WORKFLOW],
  ['PATCH', WORKFLOW],
  ['DELETE', '/api/v1/namespaces/default/schedules/s'],
  ['OPTIONS', WORKFLOW],
])('%s %s is refused', async (method, path) => {
  const run = await startRun();
  expect(await send(method, path)).toBe(405);
  const { status, runId } = await client.workflow.getHandle(ID).describe();
  expect([status.name, runId]).toEqual(['RUNNING', run]);
});

test('a query is forwarded, but not with another method', async () => {
  await startRun();
  // Temporal's UI itself answers 400, because the header with its CSRF token is missing.
  const query = `${WORKFLOW}/query/__temporal_workflow_metadata`;
  expect(await send('POST', query)).toBe(400);
  expect(await send('POST', query, { 'x-http-method-override': 'DELETE' })).toBe(400);
});

test.each(['evil.example', 'evil.example:80', '127.0.0.1.evil.example', 'a b'])(
  'a request with the host "%s" is refused',
  async (host) => expect(await send('GET', '/', { host })).toBe(403),
);

test('the page can be opened with localhost', async () =>
  expect(await send('GET', '/', { host: 'localhost:1' })).toBe(200));

test('while Temporal is being restarted, the response says what to do', async () => {
  const withoutTemporal = await startReadOnlyUi({ uiUrl: 'http://127.0.0.1:1', namespace: 'default', port: 0 });
  for (const path of ['/', `/m/${ID}`, '/api/v1/settings']) {
    const answer = await fetch(`${withoutTemporal.url}${path}`);
    expect([answer.status, await answer.text()]).toEqual([
      502,
      'This page could not be read from Temporal. Reload it in a few seconds.\n',
    ]);
  }
  await withoutTemporal.stop();
});
