/** Measures whether the HTTP client finds the service's rate limit without configuration. */
import { randomUUID } from 'node:crypto';
import { createCompanyDataClient } from '../../company-data-client';
import { Secret } from '../../security';
import type { Benchmark, Report } from '../figures';
import { startMeasuredService, type MeasuredService } from '../processes/service';

const ALLOWED_PER_SECOND = 100;
const CALLERS = 32;
const MINUTE_MS = 60_000;

export const pacing: Benchmark = {
  description: `the HTTP client on a service that allows ${ALLOWED_PER_SECOND} requests a second`,
  measure: async ({ quick, report }) => {
    const minutes = quick ? 0.05 : 3;
    const service = await startMeasuredService({ requestsPerMinute: ALLOWED_PER_SECOND * 60 });
    try {
      const { answered, refused } = await measureFor(service, minutes * MINUTE_MS, report);
      return [
        {
          name: 'pacing.used',
          // A part of a minute counts as a whole minute, because the limit can be used up at the start of a minute.
          value: answered / (Math.ceil(minutes) * 60 * ALLOWED_PER_SECOND),
          unit: 'share of the rate limit',
          goal: ['>=', 0.95],
        },
        {
          name: 'pacing.refused',
          value: refused / (answered + refused),
          unit: 'share of requests answered with 429',
          goal: ['<', 0.01],
        },
      ];
    } finally {
      await service.stop();
    }
  },
};

/**
 * Sends requests as fast as the HTTP client allows and counts the responses. The first minute that the service counts
 * begins with the first request, so the count cannot exceed the limit.
 */
async function measureFor(
  { url, key }: MeasuredService,
  forMs: number,
  report: Report,
): Promise<{ readonly answered: number; readonly refused: number }> {
  let answered = 0;
  let refused = 0;
  const client = createCompanyDataClient({
    baseUrl: url,
    apiKey: new Secret(key),
    // The budget is longer than a minute, so that the HTTP client itself waits for the service's next minute.
    retryBudgetMs: 2 * MINUTE_MS,
    onWait: ({ failure }) => void (refused += failure.kind === 'response' && failure.status === 429 ? 1 : 0),
  });
  const startedAt = Date.now();
  const isOver = (): boolean => Date.now() - startedAt >= forMs;
  const { value: company } = await client.createCompany({ name: 'Pacing' }, { idempotencyKey: randomUUID() });
  const sendRequests = async (): Promise<void> => {
    while (!isOver()) {
      await client.getCompany(company.id);
      if (!isOver()) answered += 1;
    }
  };
  const reporting = setInterval(
    () =>
      report(Math.round((Date.now() - startedAt) / 1_000), forMs / 1_000, `${answered} answered, ${refused} refused`),
    1_000,
  );
  try {
    await Promise.all(Array.from({ length: CALLERS }, sendRequests));
  } finally {
    clearInterval(reporting);
    await client.close();
  }
  return { answered, refused };
}
