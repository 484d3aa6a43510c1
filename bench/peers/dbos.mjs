/** The benchmarks' job (bench/processes/job.ts) as a DBOS workflow of two steps, import and verification. */
import { createRequire } from 'node:module';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { createMover } from './mover.mjs';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { serveParent } = built('./child-process.js');
const { openJob } = built('./job.js');

/** Connections to Postgres. */
const POOL_SIZE = 40;
const SILENT = { debug() {}, info() {}, warn() {}, error: (...texts) => console.error(...texts) };

let settings;
let job;

const moveCompany = DBOS.registerWorkflow(
  async (company) => {
    const imported = await DBOS.runStep(() => job.importCompany(company), { name: 'import' });
    const isMoved = await DBOS.runStep(() => job.verifyCompany(company, imported), { name: 'verify' });
    if (!isMoved) throw new Error(`the syncs of ${company.name} have not ended`);
  },
  { name: 'moveCompany' },
);

/** DBOS's queue is not used, because it would add a poll and a write to each workflow. */
const mover = createMover((company) => moveCompany(company));

async function move(work) {
  job = openJob({ ...settings, connections: work.concurrency });
  const times = await mover.move(work);
  await job.close();
  return times;
}

serveParent(
  {
    start: async ({ databaseUrl, ...others }) => {
      settings = others;
      DBOS.setConfig({
        name: 'peer',
        systemDatabaseUrl: databaseUrl,
        systemDatabasePoolSize: POOL_SIZE,
        logger: SILENT,
      });
      await DBOS.launch();
    },
    ...mover,
    move,
  },
  () => DBOS.shutdown(),
);
