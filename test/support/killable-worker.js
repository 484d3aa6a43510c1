/**
 * A worker in a process of its own, to be killed: what the build made of it, configured by its variables. It holds a
 * company for seconds, where a real one holds it for minutes. Ends when its standard input does.
 */
const { pino } = require('pino');
const { loadConfig } = require('../../dist/config');
const { startWorker } = require('../../dist/worker');
const { TIMING } = require('../../dist/worker/timing');

const hasty = { authorizationTimeoutMs: 3_000, sendWithinMs: 1_500, marginMs: 4_000 };

process.stdin.resume().on('end', () => process.exit());
void startWorker(
  loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'payloadKeys', 'webhook']),
  pino({ level: 'error' }, pino.destination(2)),
  undefined,
  { ...TIMING, ...hasty },
).then(() => console.log('runs'));
