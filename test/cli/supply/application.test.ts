/** The client's application: its secret goes to the service, and nowhere else. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Payload } from '@temporalio/common';
import type { Prompts } from '../../../cli/terminal/prompts';
import { createPayloadCodec } from '../../../security';
import { until } from '../../support/conditions';
import type { Orchestrator } from '../../support/orchestrator';
import { startOrchestrator } from '../../support/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson, MANIFEST } from '../command-line';

const ID = 'owner.quickbooks-online';
const CANARY = 'canary-7f3a-client-secret';
const CLIENT = ['--as', 'client', '--by', 'Cleo'];

let orchestrator: Orchestrator;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  await ferry(['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'owner'], undefined, orchestrator.env);
});
afterAll(async () => {
  await orchestrator.close();
  rmSync(folder, { recursive: true, force: true });
});

function secretFile(text: string): string {
  const file = path.join(folder, 'secret');
  writeFileSync(file, text);
  return file;
}

const answering = (secret: string): Partial<Prompts> => ({ confirm: async () => false, secret: async () => secret });
const application = async (id: string, environment: string, ...more: string[]) =>
  ferry(
    ['application', ID, '--client-id', id, '--environment', environment, ...CLIENT, ...more],
    undefined,
    orchestrator.env,
    answering(`${CANARY}\n`),
  );
const shown = async () => (await orchestrator.client().integration('qhyg')).value.application;

/** With every payload readable. */
function decoded(history: string): string {
  return history.replace(/"data":"([A-Za-z0-9+/=]*)"/g, (_, data: string) => Buffer.from(data, 'base64').toString());
}

test('is given to the service, and the details are checked again', async () => {
  const { exitCode, out, err } = await application('asked-for', 'production');
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
  expect(out).toBe(`✓ ${ID}: the application is asked-for (production)\n`);
  expect(await shown()).toEqual({ clientId: 'asked-for', environment: 'production' });
  await until(async () => (await runJson(orchestrator, 'show', ID)).json['preflight'] !== null);
});

test('comes with a secret from a file, which the client is told to destroy', async () => {
  const file = secretFile(`${CANARY}\n`);
  const { exitCode, out } = await application('from-file', 'production', '--secret-file', file);
  expect(exitCode).toBe(0);
  expect(out).toContain(`${file} still holds the secret readable: destroy it`);
  expect(await shown()).toEqual({ clientId: 'from-file', environment: 'production' });
});

test.each<[string, string[], string]>([
  [
    'an application of the wrong environment',
    ['--environment', 'sandbox'],
    'is of the production environment, not of sandbox',
  ],
  ['an empty secret', ['--secret-file', '/dev/null'], 'there is no secret; nothing was sent'],
  ['a file that is not there', ['--secret-file', '/nowhere/secret'], '/nowhere/secret cannot be read'],
])('%s is not sent', async (_, more, message) => {
  const before = await shown();
  const { exitCode, err } = await application('other', 'production', ...more);
  expect(exitCode).toBe(1);
  expect(err).toContain(message);
  expect(await shown()).toEqual(before);
});

test('nobody who could be asked is no hang, but an error', async () => {
  const { exitCode, err } = await ferry(
    ['application', ID, '--client-id', 'x', '--environment', 'production'],
    undefined,
    orchestrator.env,
  );
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: nobody is there to ask for the secret; put it into a file and name it by --secret-file\n',
  });
});

test('a secret given on the command line is not understood', async () => {
  const { exitCode, out, err } = await application('x', 'production', '--secret', CANARY);
  expect(exitCode).toBe(2);
  expect(out + err).not.toContain(CANARY);
});

test('its secret is in no output, whatever goes wrong, and neither in the history nor in the ledger', async () => {
  const said: string[] = [];
  for (const more of [[], ['--json'], ['--debug'], ['--secret-file', secretFile(CANARY)]]) {
    for (const env of [{}, { COMPANY_DATA_API_KEY: 'wrong' }, { COMPANY_DATA_URL: 'http://127.0.0.1:1' }]) {
      const { out, err } = await ferry(
        ['application', ID, '--client-id', 'x', '--environment', 'production', ...more],
        undefined,
        { ...orchestrator.env, ...env },
        answering(CANARY),
      );
      said.push(out, err);
    }
  }
  const { events } = await orchestrator.ferry.temporal.workflow.getHandle(ID).fetchHistory();
  const decisions = await orchestrator.ferry.db.selectFrom('decisions').selectAll().execute();
  const decrypted = await createPayloadCodec(orchestrator.config.payloadKeys).decode(payloadsIn(events));
  const history = decrypted.map(({ data }) => Buffer.from(data ?? []).toString());
  const everything = decoded(JSON.stringify([said, decisions, events])) + history.join('\n');
  // What is looked for would be found.
  expect(everything).toContain('"clientId":"from-file","environment":"production"');
  expect(everything.includes(CANARY)).toBe(false);
});

/** Every payload of a history, wherever it stands. */
function payloadsIn(value: unknown): Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('data' in value && value.data instanceof Uint8Array) return [value as Payload];
  return Object.values(value).flatMap(payloadsIn);
}
