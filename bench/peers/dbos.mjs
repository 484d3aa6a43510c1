/** The job as a DBOS workflow of two steps, each a part of the job: import and verification. */
import { createRequire } from 'node:module';
import { DBOS } from '@dbos-inc/dbos-sdk';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { serveParent } = built('./child-process.js');
const { createLimit, openJob } = built('./job.js');
const { companiesOf } = built('../companies.js');
const { usage } = built('./usage.js');

/** Connections to Postgres. */
const POOL_SIZE = 40;
const SILENT = { debug() {}, info() {}, warn() {}, error: (...texts) => console.error(...texts) };

let settings;
let job;
let moved = 0;

const moveCompany = DBOS.registerWorkflow(
  async (company) => {
    const imported = await DBOS.runStep(() => job.importCompany(company), { name: 'import' });
    const isMoved = await DBOS.runStep(() => job.verifyCompany(company, imported), { name: 'verify' });
    if (!isMoved) throw new Error(`the syncs of ${company.name} have not ended`);
  },
  { name: 'moveCompany' },
);

/** Starts at most `concurrency` workflows at once. DBOS's queue would poll and write once more for each workflow. */
async function move({ companies, concurrency }) {
  job = openJob({ ...settings, connections: concurrency });
  const limit = createLimit(concurrency);
  moved = 0;
  const startedAt = performance.now();
  const before = usage();
  await Promise.all(
    companiesOf(companies).map((company) =>
      limit(async () => {
        await moveCompany(company);
        moved += 1;
      }),
    ),
  );
  const { cpuMs } = usage();
  const tookMs = performance.now() - startedAt;
  await job.close();
  return { tookMs, cpuMs: cpuMs - before.cpuMs };
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
    move,
    moved: async () => moved,
    usage: async () => usage(),
  },
  () => DBOS.shutdown(),
);
