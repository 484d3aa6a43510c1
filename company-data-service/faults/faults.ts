/** Faults of the service itself, for tests of its clients: which requests fail, and how. */
import { z } from 'zod';

const Place = {
  /** Absent: every method. */
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']).optional(),
  path: z.string().optional().describe('as this description writes it, `/companies/{companyId}`; absent: every path'),
  probability: z.number().min(0).max(1).default(1),
  times: z.int().min(1).optional().describe('after so many the fault is over; absent: never'),
};

const FaultSchema = z.discriminatedUnion('kind', [
  z.object({ ...Place, kind: z.literal('latency'), latencyMs: z.int().min(0).max(600_000) }),
  z.object({ ...Place, kind: z.literal('tooManyRequests'), retryAfterS: z.int().min(0).max(86_400).default(1) }),
  z.object({ ...Place, kind: z.literal('internalError') }),
  z.object({ ...Place, kind: z.literal('unavailable') }),
  z.object({ ...Place, kind: z.literal('droppedConnection').describe('before anything is done') }),
  z.object({ ...Place, kind: z.literal('lostAnswer').describe('after the work was done') }),
]);
export type Fault = z.infer<typeof FaultSchema>;

export const FaultPlanSchema = z.object({
  seed: z.int().min(0).max(0xffff_ffff).default(1).describe('the same seed meets the same requests'),
  faults: z.array(FaultSchema).max(100),
});
export type FaultPlan = z.infer<typeof FaultPlanSchema>;

interface ArmedFault {
  readonly fault: Fault;
  met: number;
}

/** The configured faults of this process. */
export class Faults {
  private plan: FaultPlan = { seed: 1, faults: [] };
  private armed: ArmedFault[] = [];
  private random = seeded(1);

  /** Replaces the configured faults and restarts the random numbers from the seed. */
  order(plan: FaultPlan): void {
    this.plan = plan;
    this.armed = plan.faults.map((fault) => ({ fault, met: 0 }));
    this.random = seeded(plan.seed);
  }

  get ordered(): FaultPlan {
    return this.plan;
  }

  /** Returns the faults for this request, in the configured order. */
  meet(method: string, path: string): Fault[] {
    return this.armed.filter((armed) => this.meets(armed, method, path)).map(({ fault }) => fault);
  }

  private meets(armed: ArmedFault, method: string, path: string): boolean {
    const { fault } = armed;
    if ((fault.method ?? method) !== method || (fault.path ?? path) !== path) return false;
    if (armed.met >= (fault.times ?? Infinity) || this.random() >= fault.probability) return false;
    armed.met += 1;
    return true;
  }
}

/** Returns deterministic random numbers from 0 to 1: mulberry32, by Tommy Ettinger, in the public domain. */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
