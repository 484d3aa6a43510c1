/** Calls Restate's handler for each company, and waits for its result. */
import { createRequire } from 'node:module';
import { connect } from '@restatedev/restate-sdk-clients';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { serveParent } = built('./child-process.js');
const { createLimit } = built('./job.js');
const { companiesOf } = built('../companies.js');
const { usage } = built('./usage.js');

let client;
let moved = 0;

async function move({ companies, concurrency }) {
  const limit = createLimit(concurrency);
  moved = 0;
  const startedAt = performance.now();
  const before = usage();
  await Promise.all(
    companiesOf(companies).map((company) =>
      limit(async () => {
        await client.move(company);
        moved += 1;
      }),
    ),
  );
  const { cpuMs } = usage();
  return { tookMs: performance.now() - startedAt, cpuMs: cpuMs - before.cpuMs };
}

serveParent(
  {
    start: async ({ serverUrl }) => void (client = connect({ url: serverUrl }).serviceClient({ name: 'company' })),
    move,
    moved: async () => moved,
    usage: async () => usage(),
  },
  async () => process.exit(),
);
