import { z } from 'zod';
import type { DemoTerminal } from './demo-terminal';

/** The fields of `ferry.report/1` that the demo checks. */
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

/** Throws unless the handover report shows the outcome that the example is designed to have. */
export async function assertOutcome(terminal: DemoTerminal, migrationId: string): Promise<void> {
  const { companies } = report.parse(await terminal.ask('report', migrationId));
  const moved = companies.filter(({ state }) => state === 'moved');
  const reconnect = companies.filter(({ failure, linkUrl }) => failure === 'reauthorization-required' && linkUrl);
  const incomplete = companies.filter(
    ({ failure, failureText }) => failure === 'incomplete' && /\d+ expected, \d+ found/.test(failureText ?? ''),
  );
  const found = [companies.length, moved.length, reconnect.length, incomplete.length].join(', ');
  if (found !== '25, 23, 1, 1') {
    throw new Error(`expected 25 companies: 23 moved, 1 must reconnect, 1 incomplete; found: ${found}`);
  }
}
