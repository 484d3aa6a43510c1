/** Tests that the live views follow the running stack, whose addresses can change when `ferry up` is restarted. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { removeRunningStack, writeRunningStack } from '../../../config';
import { createTemporaryFolder } from '../../../stack/folders';
import { until } from '../../support/async';
import { PAYLOAD_KEY } from '../../support/servers/keys';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { startTestMigration, SUPPORT, type TestMigration } from '../../workflows/running-migration';
import { startRelay, type Relay } from '../terminal/tcp-relay';
import { startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestratorWithWorker();
let session: TerminalSession | undefined;
const relays: Relay[] = [];
afterEach(async () => {
  session?.close();
  await Promise.all(relays.splice(0).map((relay) => relay.cut()));
});

/** The relays in front of a stack's Temporal and Postgres. */
interface Ports {
  readonly temporal: Relay;
  readonly postgres: Relay;
}

async function openPorts(): Promise<Ports> {
  const { host } = new URL(orchestrator.env['DATABASE_URL'] ?? '');
  const ports = { temporal: await startRelay(orchestrator.config.temporal.address), postgres: await startRelay(host) };
  relays.push(ports.temporal, ports.postgres);
  return ports;
}

const cut = ({ temporal, postgres }: Ports): Promise<unknown> => Promise.all([temporal.cut(), postgres.cut()]);

/** Writes the file of a running stack, with the addresses of these relays. */
function runStack(home: string, { temporal, postgres }: Ports): void {
  const payloadKeyFile = path.join(home, 'payload.key');
  writeFileSync(payloadKeyFile, PAYLOAD_KEY, { mode: 0o600 });
  const database = new URL(orchestrator.env['DATABASE_URL'] ?? '');
  database.host = postgres.address;
  writeRunningStack(home, {
    pid: process.pid,
    temporal: { address: temporal.address, namespace: orchestrator.config.temporal.namespace },
    databaseUrl: database.href,
    service: { url: orchestrator.service.url, apiKey: 'key' },
    ...{ masterKeyFile: '/nowhere', vaultSecretsFolder: '/nowhere', payloadKeyFile },
  });
}

/** Starts a command that uses a stack, stops the stack, and starts it again with other ports. */
async function restartDuring(args: readonly string[], shown: string): Promise<TerminalSession> {
  const home = createTemporaryFolder();
  const before = await openPorts();
  runStack(home, before);
  const screen = startTerminalSession(args, { TOKENFERRY_HOME: home });
  session = screen;
  await screen.waitFor(shown);
  await cut(before);
  removeRunningStack(home, process.pid);
  await screen.waitFor('cannot read from Temporal; retrying automatically');
  runStack(home, await openPorts());
  await until(() => !screen.text().includes('retrying automatically'));
  return screen;
}

async function checkedMigration(client: string): Promise<TestMigration> {
  const migration = await startTestMigration(orchestrator, client, [`sbx-ok-1.${client}`]);
  await migration.until(({ preflight }) => preflight !== null);
  return migration;
}

test('the dashboard reads from the new addresses after the stack was restarted with other ports', async () => {
  const { id, send, until: reached } = await checkedMigration('moved-desk');
  const screen = await restartDuring(['desk', '--by', 'Sam'], id);
  await send('approve', { step: 'supply-details', ...SUPPORT });
  await reached(({ step }) => step === 'schedule');
  await screen.waitFor(/moved-desk\S+ +2\/6/);
  screen.type('q');
  expect(await screen.ended).toBe(0);
}, 60_000);

test('watch reads from the new addresses after the stack was restarted with other ports', async () => {
  const { id, send } = await checkedMigration('moved-watch');
  const screen = await restartDuring(['watch', id], 'accept the supplied details');
  await send('cancel', { reason: 'enough', ...SUPPORT });
  expect(await screen.ended).toBe(1);
}, 60_000);
