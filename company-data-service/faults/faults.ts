/** Faults of the service itself, for tests of programs that call it: which requests fail, and how. */
import { z } from 'zod';

const Scope = {
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional().describe('Default: every method.'),
  path: z
    .string()
    .optional()
    .describe(
      'A path as in this OpenAPI document, for example `/companies/{companyId}`. Default: every path that requires an API key, except `/sandbox/faults`. No other path can be affected.',
    ),
  probability: z.number().min(0).max(1).default(1),
  times: z.int().min(1).optional().describe('How many requests are affected. Default: no limit.'),
};

const FaultSchema = z.discriminatedUnion('kind', [
  z.object({ ...Scope, kind: z.literal('latency'), latencyMs: z.int().min(0).max(600_000) }),
  z.object({ ...Scope, kind: z.literal('tooManyRequests'), retryAfterS: z.int().min(0).max(86_400).default(1) }),
  z.object({ ...Scope, kind: z.literal('internalError') }),
  z.object({ ...Scope, kind: z.literal('unavailable') }),
  z.object({
    ...Scope,
    kind: z.literal('droppedConnection').describe('Closes the HTTP connection before the request is processed.'),
  }),
  z.object({
    ...Scope,
    kind: z.literal('lostAnswer').describe('Closes the HTTP connection after the request has been processed.'),
  }),
]);
export type Fault = z.infer<typeof FaultSchema>;

export const FaultPlanSchema = z.object({
  seed: z.int().min(0).max(0xffff_ffff).default(1).describe('With the same seed, the same requests are affected.'),
  faults: z.array(FaultSchema).max(100),
});
export type FaultPlan = z.infer<typeof FaultPlanSchema>;

interface CountedFault {
  readonly fault: Fault;
  applied: number;
}

/** The configured faults of this process. */
export class Faults {
  private plan: FaultPlan = { seed: 1, faults: [] };
  private counted: CountedFault[] = [];
  private random = seeded(1);

  /** Replaces the configured faults and restarts the random numbers from the seed. */
  configure(plan: FaultPlan): void {
    this.plan = plan;
    this.counted = plan.faults.map((fault) => ({ fault, applied: 0 }));
    this.random = seeded(plan.seed);
  }

  get configuration(): FaultPlan {
    return this.plan;
  }

  /** Returns the faults for this request, in the configured order. */
  faultsFor(method: string, path: string): Fault[] {
    return this.counted.filter((counted) => this.applies(counted, method, path)).map(({ fault }) => fault);
  }

  /** Decides whether a fault applies to this request, and counts it if so. */
  private applies(counted: CountedFault, method: string, path: string): boolean {
    const { fault } = counted;
    if ((fault.method ?? method) !== method || (fault.path ?? path) !== path) return false;
    if (counted.applied >= (fault.times ?? Infinity) || this.random() >= fault.probability) return false;
    counted.applied += 1;
    return true;
  }
}

/**
 * Returns a generator of pseudo-random numbers that are at least 0 and less than 1: mulberry32, by Tommy Ettinger, in
 * the public domain.
 */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
