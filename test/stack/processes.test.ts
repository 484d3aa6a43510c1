/** The service and the codec server as processes of a deployment: waiting, health, logs and shutdown. */
import { randomBytes } from 'node:crypto';
import { startRelay, type Relay } from '../cli/terminal/tcp-relay';
import { until } from '../support/async';
import { createTestDatabase } from '../support/servers/database';
import { startJsonProcess, type JsonProcess } from '../support/servers/json-process';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let relay: Relay;
let running: JsonProcess | undefined;
beforeAll(async () => {
  database = await createTestDatabase();
  relay = await startRelay(new URL(database.url).host);
});
afterEach(async () => {
  await running?.end('SIGKILL');
});
afterAll(async () => {
  await relay.cut();
  await database.drop();
});

const key = randomBytes(32).toString('base64');
const SERVICE = ['stack/processes/service.js', '--port', '0'] as const;
const CODEC_SERVER = [
  'stack/processes/codec-server.js',
  ...['--port', '0', '--origin', 'https://temporal.example.com'],
] as const;

function variables(): NodeJS.ProcessEnv {
  const url = new URL(database.url);
  url.host = relay.address;
  return {
    ...{ DATABASE_URL: url.href, TOKENFERRY_SERVICE_KEY: key, TOKENFERRY_PAYLOAD_KEY: key },
    ...{ TOKENFERRY_HEALTH_ADDRESS: '127.0.0.1:0', TOKENFERRY_HOME: '/no-such-folder' },
  };
}

async function get(path: string): Promise<{ status: number; body: unknown }> {
  if (!running) throw new Error('no process is running');
  const { url } = await running.untilLogged('health checks are served');
  const response = await fetch(`${String(url)}${path}`);
  return { status: response.status, body: await response.json() };
}

test('the service waits for its database, is then ready, and ends at SIGTERM', async () => {
  await relay.cut();
  running = startJsonProcess(SERVICE, variables());
  await running.untilLogged('the database cannot be used: connect ECONNREFUSED');
  expect(await get('/health/live')).toMatchObject({ status: 200 });
  expect(await get('/health/ready')).toMatchObject({ status: 503, body: { status: 'failing' } });
  await relay.restore();
  await until(async () => (await get('/health/ready')).status === 200);

  await relay.cut();
  await until(async () => (await get('/health/ready')).status === 503);
  expect(await get('/health/ready')).toMatchObject({
    body: { checks: { database: { status: 'failing', why: '/healthz answers 503' } } },
  });
  await relay.restore();
  await until(async () => (await get('/health/ready')).status === 200);
  expect(await running.end()).toBe(0);
  expect(running.lines()[0]).toMatchObject({ msg: 'the service is starting' });
  expect(running.lines().at(-1)).toMatchObject({ msg: 'the service has stopped' });
});

test('the codec server is ready when it listens, and ends at SIGTERM', async () => {
  running = startJsonProcess(CODEC_SERVER, variables());
  await until(async () => (await get('/health/ready')).status === 200);
  expect(await get('/nothing')).toMatchObject({ status: 404 });
  expect(await running.end()).toBe(0);
  expect(running.lines().at(-1)).toMatchObject({ msg: 'the codec server has stopped' });
});

test.each([
  { program: SERVICE, changes: { TOKENFERRY_SERVICE_KEY: '' }, why: 'TOKENFERRY_SERVICE_KEY' },
  { program: [...SERVICE, '--colour'], changes: {}, why: '--colour' },
  { program: SERVICE, changes: { DATABASE_URL: '/no-such-database' }, why: 'no-such-database' },
  { program: CODEC_SERVER, changes: { TOKENFERRY_PAYLOAD_KEY: 'short' }, why: 'TOKENFERRY_PAYLOAD_KEY' },
  { program: [...CODEC_SERVER, '--issuer', 'https://id.example.com'], changes: {}, why: '--audience' },
  { program: [...CODEC_SERVER, '--host', '0.0.0.0'], changes: {}, why: 'loopback' },
])('$program.0 ends with the reason as a JSON line: $why', async ({ program, changes, why }) => {
  const { DATABASE_URL: url } = variables();
  const { DATABASE_URL: path, ...others }: Readonly<Record<string, string>> = changes;
  const [file = '', ...args] = program;
  running = startJsonProcess([file, ...args], {
    ...variables(),
    ...others,
    ...(path !== undefined && { DATABASE_URL: new URL(path, url).href }),
  });
  expect(await running.exited).toBe(1);
  expect(running.lines().at(-1)).toMatchObject({
    level: 60,
    err: { message: expect.stringContaining(why) as string },
  });
});
