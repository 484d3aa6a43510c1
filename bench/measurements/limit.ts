/** Measures how much of the service's rate limit a batch uses. */
import type { Benchmark } from '../figures';
import { moveBatch, prepareBatch } from '../migration';
import { REQUESTS_PER_COMPANY } from '../companies';
import { startMeasuredService } from '../processes/service';
import { withEnvironment } from '../environment';

const ALLOWED_PER_SECOND = 200;

export const limit: Benchmark = {
  description: `a batch on a service that allows ${ALLOWED_PER_SECOND} requests a second`,
  measure: async ({ quick, report }) => {
    // Run for three minutes, because the service counts requests per minute.
    const companies = quick ? 100 : (3 * 60 * ALLOWED_PER_SECOND) / REQUESTS_PER_COMPANY;
    const settings = { requestsPerMinute: 60 * ALLOWED_PER_SECOND };
    return withEnvironment(
      () => startMeasuredService(settings),
      async ({ ferry, service, startWorker }) => {
        await startWorker();
        const batch = await prepareBatch(ferry, companies);
        const before = await service.answers();
        const tookMs = await moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies'));
        const after = await service.answers();
        const requests = after.requests - before.requests;
        const refused = after.refused - before.refused;
        return [
          {
            name: 'limit',
            value: (companies * REQUESTS_PER_COMPANY * 1_000) / ALLOWED_PER_SECOND / tookMs,
            unit: 'share of the rate limit',
            goal: ['>=', 0.95],
            note: `${companies} companies in ${Math.round(tookMs / 1_000)} s, ${requests} requests, ${companies * REQUESTS_PER_COMPANY} needed`,
          },
          {
            name: 'limit.refused',
            value: refused / requests,
            unit: 'share of requests answered with 429',
            goal: ['<', 0.01],
          },
        ];
      },
    );
  },
};
