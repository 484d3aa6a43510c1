/** The benchmarks' job (bench/processes/job.ts) as a Restate handler of two steps, import and verification. */
import { createRequire } from 'node:module';
import * as restate from '@restatedev/restate-sdk';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { serveParent } = built('./child-process.js');
const { openJob } = built('./job.js');
const { usage } = built('./usage.js');

// Restate's SDK needs this function, which Node 20 lacks.
Promise.withResolvers ??= function () {
  const resolvers = {};
  resolvers.promise = new this((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return resolvers;
};

/** The number of connections to the service: one for each company that the largest case moves at the same time. */
const CONNECTIONS = 200;

let job;

/** Logs only errors and warnings, because Restate's own logger writes a line for each company. */
function logErrors({ level }, ...texts) {
  if (level === 'error' || level === 'warn') console.error(...texts);
}

const company = restate.service({
  name: 'company',
  handlers: {
    move: async (context, given) => {
      const imported = await context.run('import', () => job.importCompany(given));
      const isMoved = await context.run('verify', () => job.verifyCompany(given, imported));
      if (!isMoved) throw new restate.TerminalError(`the syncs of ${given.name} have not ended`);
    },
  },
});

serveParent(
  {
    /** Serves the handler, and registers it with the server. */
    start: async ({ serverUrl, ...settings }) => {
      job = openJob({ ...settings, connections: CONNECTIONS });
      const port = await restate.serve({ services: [company], port: 0, logger: logErrors });
      const answer = await fetch(`${serverUrl}/deployments`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ uri: `http://127.0.0.1:${port}` }),
      });
      if (!answer.ok) throw new Error(`the service was not registered: ${answer.status} ${await answer.text()}`);
    },
    usage: async () => usage(),
  },
  async () => process.exit(),
);
