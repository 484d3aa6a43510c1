/** Moves companies through DBOS or Restate, and measures the time and the CPU time of this process. */
import { createRequire } from 'node:module';

const built = createRequire(new URL('../../dist/bench/processes/', import.meta.url));
const { createLimit } = built('./job.js');
const { companiesOf } = built('../companies.js');
const { usage } = built('./usage.js');

/** @param moveCompany moves one company; at most `concurrency` of these calls run at once */
export function createMover(moveCompany) {
  let moved = 0;
  return {
    async move({ companies, concurrency }) {
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
      return { tookMs: performance.now() - startedAt, cpuMs: cpuMs - before.cpuMs };
    },
    moved: async () => moved,
  };
}
