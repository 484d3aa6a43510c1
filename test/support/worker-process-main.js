/**
 * Runs the compiled worker in its own process, so that a test can kill it. Environment variables configure it. Its
 * leases last seconds instead of minutes. The process ends when its standard input is closed.
 */
const { pino } = require('pino');
const { loadConfig } = require('../../dist/config');
const { startWorker } = require('../../dist/worker');
const { TIMING } = require('../../dist/worker/timing');

const shortTimes = { authorizationTimeoutMs: 3_000, sendWithinMs: 1_500, marginMs: 4_000 };

process.stdin.resume().on('end', () => process.exit());
void startWorker(
  loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook']),
  pino({ level: 'error' }, pino.destination(2)),
  undefined,
  { ...TIMING, ...shortTimes },
).then(() => console.log('runs'));
