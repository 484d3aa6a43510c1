/** Whether a batch uses what a limited service allows, and no more. */
import type { Benchmark } from '../figures';
import { moveBatch, readyBatch } from '../migration';
import { REQUESTS_EACH } from '../companies';
import { onWorkbench } from '../workbench';

const ALLOWED_PER_SECOND = 200;

export const limit: Benchmark = {
  about: `a batch at a service that allows ${ALLOWED_PER_SECOND} requests a second`,
  measure: async ({ quick, report }) => {
    // Three minutes, as the service counts by the minute.
    const companies = quick ? 100 : (3 * 60 * ALLOWED_PER_SECOND) / REQUESTS_EACH;
    const settings = { requestsPerMinute: 60 * ALLOWED_PER_SECOND, syncBaseMs: 20, syncMsPerRecord: 1 };
    return onWorkbench(settings, async ({ ferry, service, startWorker }) => {
      await startWorker();
      const batch = await readyBatch(ferry, companies);
      const before = await service.answers();
      const tookMs = await moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies'));
      const after = await service.answers();
      const requests = after.requests - before.requests;
      const refused = after.refused - before.refused;
      return [
        {
          name: 'limit',
          value: (companies * REQUESTS_EACH * 1_000) / ALLOWED_PER_SECOND / tookMs,
          unit: 'share of what is allowed',
          goal: ['>=', 0.95],
          note: `${companies} companies in ${Math.round(tookMs / 1_000)} s, ${requests} requests, ${companies * REQUESTS_EACH} needed`,
        },
        {
          name: 'limit.refused',
          value: refused / requests,
          unit: 'share of requests answered with 429',
          goal: ['<', 0.01],
        },
      ];
    });
  },
};
