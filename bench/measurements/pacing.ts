/** Whether the client finds the speed that a service allows, without being told, and stays there. */
import { randomUUID } from 'node:crypto';
import { createCompanyDataClient } from '../../company-data-client';
import { Secret } from '../../security';
import type { Benchmark, Report } from '../figures';
import type { MeasuredService } from '../processes/service';
import { startMeasuredService } from '../processes/service';

const ALLOWED_PER_SECOND = 100;
const CALLERS = 32;
const MINUTE_MS = 60_000;

export const pacing: Benchmark = {
  about: `the client, at a service that allows ${ALLOWED_PER_SECOND} requests a second`,
  measure: async ({ quick, report }) => {
    const minutes = quick ? 0.05 : 3;
    const service = await startMeasuredService({ requestsPerMinute: ALLOWED_PER_SECOND * 60 });
    try {
      const { answered, refused } = await askFor(service, minutes * MINUTE_MS, report);
      return [
        {
          name: 'pacing.used',
          // A part of a minute allows as much as a whole one: a limit may be used up as soon as it has begun.
          value: answered / (Math.ceil(minutes) * 60 * ALLOWED_PER_SECOND),
          unit: 'share of what is allowed',
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
 * Asks as fast as the client lets, and counts what is answered in whole minutes: the service's minutes begin with the
 * first request, so no more than all that is allowed can be counted.
 */
async function askFor(
  { url, key }: MeasuredService,
  forMs: number,
  report: Report,
): Promise<{ readonly answered: number; readonly refused: number }> {
  let answered = 0;
  let refused = 0;
  const client = createCompanyDataClient({
    baseUrl: url,
    apiKey: new Secret(key),
    // Longer than the service's minute: the client waits for the next one itself.
    retryBudgetMs: 2 * MINUTE_MS,
    onWait: ({ failure }) => void (refused += failure.kind === 'answer' && failure.status === 429 ? 1 : 0),
  });
  const startedAt = Date.now();
  const isOver = (): boolean => Date.now() - startedAt >= forMs;
  const { value: company } = await client.createCompany({ name: 'Asked' }, { idempotencyKey: randomUUID() });
  const ask = async (): Promise<void> => {
    while (!isOver()) {
      await client.getCompany(company.id);
      if (!isOver()) answered += 1;
    }
  };
  const telling = setInterval(
    () =>
      report(Math.round((Date.now() - startedAt) / 1_000), forMs / 1_000, `${answered} answered, ${refused} refused`),
    1_000,
  );
  try {
    await Promise.all(Array.from({ length: CALLERS }, ask));
  } finally {
    clearInterval(telling);
    await client.close();
  }
  return { answered, refused };
}
