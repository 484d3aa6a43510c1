import { existsSync, mkdirSync, statSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig, readRunningStack } from '../../config';
import { startStack, type Stack, type StackOptions } from '../../stack/stack';
import { createTemporaryFolder } from '../../stack/folders';
import { reservePort } from '../../stack/ports';
import { openStackDatabases } from '../../stack/postgres/databases';
import { startPostgres } from '../../stack/postgres/postgres';
import { sharedPostgres, temporalCli } from '../support/servers/shared-servers';
import { execute } from '../support/servers/database';

const stacks: Stack[] = [];

afterEach(async () => {
  for (const stack of stacks.splice(0)) await stack.stop();
});

function optionsFor(dataFolder: string): StackOptions {
  return {
    dataFolder,
    ephemeral: true,
    env: { ...process.env, TEMPORAL_CLI_PATH: temporalCli() },
    logLevel: 'silent',
    workers: 0,
    log: () => undefined,
    warn: () => undefined,
  };
}

async function start(changes: Partial<StackOptions> = {}): Promise<Stack> {
  const stack = await startStack({ ...optionsFor(changes.dataFolder ?? createTemporaryFolder()), ...changes });
  stacks.push(stack);
  return stack;
}

async function freePort(): Promise<number> {
  const { port, release } = await reservePort(0);
  release();
  return port;
}

async function expectReleased(port: number): Promise<void> {
  const again = await reservePort(port);
  again.release();
  expect(again.port).toBe(port);
}

test('two stacks run at once on different ports, and stopping one removes only its data', async () => {
  const [one, other] = await Promise.all([start(), start()]);
  expect(one.config.temporal.address).not.toBe(other.config.temporal.address);
  for (const { config, temporalUiUrl, serviceDocsUrl } of [one, other]) {
    const authorization = `Basic ${Buffer.from(config.service.apiKey.reveal()).toString('base64')}`;
    const account = await fetch(`${config.service.url}/companies`, { headers: { authorization } });
    expect(account.status).toBe(200);
    expect((await fetch(temporalUiUrl)).status).toBe(200);
    expect((await fetch(`${config.clientUi.url}/m/nobody.xero`)).status).toBe(404);
    expect(serviceDocsUrl).toBe(`${config.service.url}/docs`);
  }

  await one.stop();
  expect(existsSync(one.config.home)).toBe(false);
  await expect(fetch(one.config.service.url)).rejects.toThrow();
  expect((await fetch(other.temporalUiUrl)).status).toBe(200);
});

test('a running stack writes private files with which commands find it', async () => {
  const stack = await start();
  const { config } = stack;
  const env = { TOKENFERRY_HOME: config.home, TEMPORAL_CONFIG_FILE: '/nonexistent' };
  expect(loadConfig([], env, ['clientUi']).clientUi).toEqual(config.clientUi);
  const found = loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys'], env);
  expect(found.temporal.address).toBe(config.temporal.address);
  expect(found.databaseUrl.reveal()).toBe(config.databaseUrl.reveal());
  expect(found.service.apiKey.reveal()).toBe(config.service.apiKey.reveal());
  expect(found.masterKeys.newest.id).toBe(config.masterKeys.newest.id);
  expect(found.payloadKeys.newest.id).toBe(config.payloadKeys.newest.id);
  for (const file of [
    'stack.json',
    'master.key',
    'payload.key',
    'administrator.key',
    'postgres-password',
    'temporal.db',
  ]) {
    expect([file, statSync(path.join(config.home, file)).mode & 0o077]).toEqual([file, 0]);
  }

  await expect(startStack(optionsFor(config.home))).rejects.toThrow(
    `a stack is already running: process ${process.pid}`,
  );
  await stack.stop();
  expect(readRunningStack(config.home)).toBeUndefined();
});

test('a stack whose portal could not get its database role runs without a portal', async () => {
  const stack = await start({ allowPortal: async () => false });
  expect(stack.portalUrl).toBeUndefined();
  expect(readRunningStack(stack.config.home)?.portalUrl).toBeUndefined();
});

test('startStack stops everything if a worker fails to start', async () => {
  const dataFolder = createTemporaryFolder();
  const log = path.join(dataFolder, 'logs', 'worker-1.log');
  mkdirSync(path.dirname(log));
  symlinkSync('/nowhere/worker.log', log); // so that the log cannot be opened
  const port = await freePort();
  const portal = await freePort();
  const ports = { service: port, portal };
  const start = startStack({ ...optionsFor(dataFolder), ports, workers: 1, allowPortal: async () => true });
  await expect(start).rejects.toThrow(`A worker did not start. Nothing could be read from its log, ${log}.`);
  await expect(fetch(`http://127.0.0.1:${port}/healthz`)).rejects.toThrow();
  await expectReleased(portal);
  expect(existsSync(dataFolder)).toBe(false);
});

test('startStack leaves no data folder behind if its signal has already aborted', async () => {
  const dataFolder = createTemporaryFolder();
  const aborted = AbortSignal.abort(new Error('Ctrl-C'));
  await expect(startStack({ ...optionsFor(dataFolder), signal: aborted })).rejects.toThrow('Ctrl-C');
  expect(existsSync(dataFolder)).toBe(false);
});

test('an ephemeral stack in an external Postgres drops its ledger database when it stops', async () => {
  const databaseUrl = await sharedPostgres();
  const stack = await start({ databaseUrl });
  const { config } = stack;
  const database = new URL(config.databaseUrl.reveal());
  expect(database.host).toBe(new URL(databaseUrl).host);
  await stack.stop();

  const name = database.pathname.slice(1);
  const { rowCount } = await execute(databaseUrl, 'select from pg_database where datname = $1', [name]);
  expect(rowCount).toBe(0);
});

test('startStack reports an unreachable Postgres without its password and says what to do', async () => {
  const codec = await freePort();
  const start = startStack({
    ...optionsFor(createTemporaryFolder()),
    ports: { codec },
    databaseUrl: 'postgres://me:hunter2@127.0.0.1:1/db',
  });
  await expect(start).rejects.toThrow(
    /^Postgres at 127\.0\.0\.1:1\/db \(DATABASE_URL\) cannot be used: .*ECONNREFUSED.* Start this Postgres, correct DATABASE_URL, or unset DATABASE_URL/,
  );
  await expectReleased(codec);
});

test('openStackDatabases reports a DATABASE_URL that is not a URL', async () => {
  const start = openStackDatabases({ ...optionsFor(tmpdir()), externalUrl: 'my database' });
  await expect(start).rejects.toThrow(/^Postgres at \(not a URL\) \(DATABASE_URL\) cannot be used: ./);
});

test('openStackDatabases does not blame DATABASE_URL if its embedded Postgres cannot be used', async () => {
  const dataFolder = createTemporaryFolder();
  const postgres = await startPostgres({ ...optionsFor(dataFolder), port: 0, ephemeral: false });
  await execute(postgres.url, 'alter system set default_transaction_read_only = on');
  await postgres.stop();

  const start = openStackDatabases({ ...optionsFor(dataFolder), port: 0, ephemeral: false });
  await expect(start).rejects.toThrow(
    `The embedded Postgres in ${dataFolder} cannot be used: cannot execute CREATE DATABASE in a read-only transaction. See its log, ${dataFolder}/postgres.log`,
  );
});

test('a permanent stack keeps its data and keys across restarts', async () => {
  const dataFolder = createTemporaryFolder();
  const first = await start({ dataFolder, ephemeral: false });
  const { service, masterKeys, payloadKeys } = first.config;
  await first.stop();
  const second = await start({ dataFolder, ephemeral: true }); // ephemeral, so that the folder is removed at the end
  expect(second.config.service.apiKey.reveal()).toBe(service.apiKey.reveal());
  expect(second.config.masterKeys.newest.id).toBe(masterKeys.newest.id);
  expect(second.config.payloadKeys.newest.id).toBe(payloadKeys.newest.id);
  const authorization = `Basic ${Buffer.from(service.apiKey.reveal()).toString('base64')}`;
  const companies = await fetch(`${second.config.service.url}/companies`, { headers: { authorization } });
  expect(companies.status).toBe(200);
});

test('a stack keeps the ports of the pages to which links were sent, and says if such a page has moved', async () => {
  const dataFolder = createTemporaryFolder();
  const ports = { clientUi: 0, service: 0, portal: 0 };
  const first = await start({ dataFolder, ephemeral: false, ports });
  await first.stop();
  const warnings: string[] = [];
  const warn = (text: string): void => void warnings.push(text);
  const second = await start({ dataFolder, ephemeral: false, ports, warn });
  expect(second.config.clientUi.url).toBe(first.config.clientUi.url);
  expect(second.config.service.url).toBe(first.config.service.url);
  expect(warnings).toEqual([]);
  await second.stop();

  const taken = createServer();
  const port = Number(new URL(first.config.clientUi.url).port);
  await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
  try {
    const third = await start({ dataFolder, ephemeral: true, ports, warn });
    expect(third.config.clientUi.url).not.toBe(first.config.clientUi.url);
    expect(warnings).toEqual([
      `The Temporal UI for clients now has the address ${third.config.clientUi.url}, because port ${port} is in use. Links with the old port no longer work; send new links.`,
    ]);
  } finally {
    taken.close();
  }
});
