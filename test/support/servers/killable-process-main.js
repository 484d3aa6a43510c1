/**
 * Runs the compiled worker or portal in its own process, so that a test can kill it. The arguments are `worker`, which
 * is configured by environment variables, or `portal <database URL> <port>`. The process ends when its standard input
 * is closed.
 */
const { pino } = require('pino');

const log = pino({ level: 'error' }, pino.destination(2));

/** The functions that start each kind of process. They return the line of output for which the test waits. */
const STARTS = {
  worker: async () => {
    const { loadConfig } = require('../../../dist/config');
    const { startWorker } = require('../../../dist/worker');
    const { TIMING } = require('../../../dist/worker/timing');
    // Leases of 8.5 s instead of 135 s.
    const shortTimes = { authorizationTimeoutMs: 3_000, sendWithinMs: 1_500, marginMs: 4_000 };
    await startWorker(
      loadConfig(['temporal', 'databaseUrl', 'service', 'masterKeys', 'vaultSecrets', 'payloadKeys', 'webhook']),
      log,
      undefined,
      { ...TIMING, ...shortTimes },
    );
    return 'runs';
  },
  portal: async (databaseUrl, port) => {
    const { startPortal } = require('../../../dist/portal/server');
    return (await startPortal({ databaseUrl, port: Number(port), log })).localUrl;
  },
};

const [kind, ...args] = process.argv.slice(2);
process.stdin.resume().on('end', () => process.exit());
void STARTS[kind](...args).then((line) => console.log(line));
