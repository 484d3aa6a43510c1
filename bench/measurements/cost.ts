/** Measures how many Temporal Cloud actions a migration takes. */
import type { Benchmark } from '../figures';
import { actionsOf, historiesOf } from '../histories';
import { moveBatch, prepareBatch } from '../migration';
import { startMeasuredService, UNLIMITED } from '../processes/service';
import { withEnvironment } from '../environment';

export const cost: Benchmark = {
  description: 'Temporal Cloud actions of a migration, from its start to the end of its batch',
  measure: async ({ quick, report }) => {
    const companies = quick ? 200 : 10_000;
    const settings = { requestsPerMinute: UNLIMITED, syncBaseMs: 20, syncMsPerRecord: 1 };
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
            name: 'cost',
            value: total / companies,
            unit: 'actions per company',
            goal: ['<=', 0.1],
            note: `companies: ${companies}; ${actions.map(([kind, times]) => `${kind}: ${times}`).join(', ')}`,
          },
        ];
      },
    );
  },
};
