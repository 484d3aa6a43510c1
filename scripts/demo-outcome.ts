import { z } from 'zod';
import type { DemoTerminal } from './demo-terminal';

/** The fields of `ferry.report/1` that the demo checks. */
const report = z.object({
  ending: z.literal('completed'),
  vaultDestroyedAt: z.iso.datetime(),
  companies: z.array(
    z.object({
      reference: z.string(),
      name: z.string(),
      state: z.string(),
      failure: z.string().nullable(),
      failureText: z.string().nullable(),
      linkUrl: z.string().nullable(),
    }),
  ),
});

/**
 * Reads the outcome from the handover report.
 *
 * @returns one line for each result
 * @throws Error if the outcome differs from the one that the example is designed to have
 */
export async function readOutcome(terminal: DemoTerminal, migrationId: string): Promise<readonly string[]> {
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
  const listed = (found: typeof companies, why: (company: (typeof companies)[number]) => string): string =>
    found.map((company) => `${company.reference} ${company.name}, ${why(company)}`).join('; ');
  return [
    `${moved.length} of ${companies.length} companies moved`,
    `${reconnect.length} must reconnect: ${listed(reconnect, () => 'whose authorization was revoked')}`,
    `${incomplete.length} not moved: ${listed(incomplete, ({ failureText }) => failureText ?? '')}`,
  ];
}
