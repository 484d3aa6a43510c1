/** Runs the compiled portal in its own process, so that a test can kill it. The arguments are the database and the port. */
const { pino } = require('pino');
const { startPortal } = require('../../dist/portal/server');

const [databaseUrl, port] = process.argv.slice(2);
process.stdin.resume().on('end', () => process.exit());
void startPortal({ databaseUrl, port: Number(port), log: pino({ level: 'error' }, pino.destination(2)) }).then(
  ({ localUrl }) => console.log(localUrl),
);
