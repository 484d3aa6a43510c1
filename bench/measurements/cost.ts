/** Measures how many Temporal Cloud actions a migration takes. */
import type { Benchmark } from '../figures';
import { actionsOf, historiesOf } from '../histories';
import { moveBatch, prepareBatch } from '../migration';
import { startMeasuredService, UNLIMITED } from '../processes/service';
import { withEnvironment } from '../environment';

/** Measured without a rate limit, so that the actions depend mainly on the number of companies. */
export const cost: Benchmark = {
  description: 'Temporal Cloud actions of a migration, from its start to the end of its batch',
  measure: costOf('cost', { companies: 10_000, requestsPerMinute: UNLIMITED, goal: 0.1 }),
};

/**
 * Measured with the rate limit of a usual account. A batch then takes longer, and therefore needs more heartbeats and
 * timers.
 */
export const limitedCost: Benchmark = {
  description: 'Temporal Cloud actions of a migration at 1,000 requests a minute',
  measure: costOf('cost-limited', { companies: 1_000, requestsPerMinute: 1_000 }),
};

interface Size {
  readonly companies: number;
  readonly requestsPerMinute: number;
  readonly goal?: number;
}

function costOf(name: string, { companies: all, requestsPerMinute, goal }: Size): Benchmark['measure'] {
  return async ({ quick, report }) => {
    const companies = quick ? Math.min(all, 200) : all;
    const settings = { requestsPerMinute };
    return withEnvironment(
      () => startMeasuredService(settings),
      async ({ ferry, startWorker }) => {
        await startWorker();
        const batch = await prepareBatch(ferry, companies);
        await moveBatch(ferry, batch, (moved) => report(moved, companies, 'companies'));
        const actions = Object.entries(actionsOf(await historiesOf(ferry, batch.id)));
        const total = actions.reduce((sum, [, times]) => sum + times, 0);
        return [
          {
            name,
            value: total / companies,
            unit: 'actions per company',
            ...(goal !== undefined && { goal: ['<=', goal] as const }),
            note: `companies: ${companies}; ${actions.map(([kind, times]) => `${kind}: ${times}`).join(', ')}`,
          },
        ];
      },
    );
  };
}
