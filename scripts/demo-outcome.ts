import { z } from 'zod';
import type { DemoTerminal } from './demo-terminal';

/** As much of `ferry.report/1` as the demo is judged by. */
const report = z.object({
  ending: z.literal('completed'),
  vaultDestroyedAt: z.iso.datetime(),
  companies: z.array(
    z.object({
      state: z.string(),
      failure: z.string().nullable(),
      failureText: z.string().nullable(),
      linkUrl: z.string().nullable(),
    }),
  ),
});

/** Looks at the handover report: anything but what the example is made for is a failure of the demo. */
export async function assertOutcome(desk: DemoTerminal, migrationId: string): Promise<void> {
  const { companies } = report.parse(await desk.ask('report', migrationId));
  const migrated = companies.filter(({ state }) => state === 'migrated');
  const reconnect = companies.filter(({ failure, linkUrl }) => failure === 'reauthorization-required' && linkUrl);
  const incomplete = companies.filter(
    ({ failure, failureText }) => failure === 'incomplete' && /\d+ expected, \d+ found/.test(failureText ?? ''),
  );
  const found = [companies.length, migrated.length, reconnect.length, incomplete.length].join(', ');
  if (found !== '25, 23, 1, 1') {
    throw new Error(`of 25 companies 23, 1 and 1 should be migrated, reconnect and be incomplete; found: ${found}`);
  }
}
