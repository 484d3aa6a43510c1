/** Lets contenders take turns moving companies, and takes medians of their speeds. */
import type { Batch, Contender, Moved } from '../contenders';
import { median, type Report } from '../figures';
import type { ServiceUnderTest } from '../processes/service';
import type { StandIn } from '../processes/stand-in';
import type { CONCURRENCY } from '../companies';

export interface Case {
  /** Delay of every response: set for each turn on the stand-in, but only once on the real service, when it starts. */
  readonly latencyMs: number;
  readonly limits: { readonly [Limit in keyof typeof CONCURRENCY]: number };
}

export interface Turn extends Moved {
  readonly contender: string;
  readonly case: Case;
  readonly companies: number;
}

export interface Comparison {
  readonly cases: readonly Case[];
  readonly contenders: readonly Contender[];
  readonly companies: number;
  readonly rounds: number;
  readonly firstCheckAfterMs: number;
  readonly report: Report;
  /** Called after each turn with all turns so far. */
  readonly save: (turns: readonly Turn[]) => void;
}

export const atOnce = ({ limits }: Pick<Batch, 'limits'>): number =>
  limits.slicesAtOnce * limits.companiesPerSliceAtOnce;

/** The maximum number of companies per contender in the warm-up, while code is compiled and caches are empty. */
const WARM_UP = 200;

/**
 * Runs the comparison.
 *
 * @throws if a contender does not send the stand-in each of the eight requests once for each company
 */
export async function compare(
  { cases, contenders, companies, rounds, firstCheckAfterMs, report, save }: Comparison,
  service: ServiceUnderTest | StandIn,
): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  const total = rounds * cases.length * contenders.length * companies;
  for (let round = 0; round <= rounds; round += 1) {
    // A different contender begins each round, because a turn can affect the turn after it.
    const order = contenders.map((_, index) => contenders[(index + round) % contenders.length] as Contender);
    // Round 0 is the warm-up.
    for (const each of round === 0 ? cases.slice(0, 1) : cases) {
      for (const contender of order) {
        const count = round === 0 ? Math.min(companies, WARM_UP) : companies;
        const done = turns.length * companies;
        const note = `${contender.name}, ${each.latencyMs} ms, ${atOnce(each)} at once, round ${round} of ${rounds}`;
        report(done, total, note);
        if ('reset' in service) await service.reset();
        const move = await contender.prepare({ companies: count, limits: each.limits, firstCheckAfterMs });
        if ('reset' in service) {
          await service.reset();
          await service.setLatency(each.latencyMs);
        }
        const moved = await move((some) => report(done + (round === 0 ? 0 : some), total, note));
        if ('reset' in service) {
          await service.setLatency(0);
          await assertSameWork(service, contender.name, count);
        }
        if (round === 0) continue;
        turns.push({ contender: contender.name, case: each, companies, ...moved });
        save(turns);
      }
    }
  }
  return turns;
}

/** The job's requests. */
const ROUTES = [
  'POST /companies',
  'POST /companies/{id}/connections',
  'PUT /companies/{id}/connections/{id}/authorization',
  'POST /companies/{id}/data/all',
  'GET /companies/{id}/dataStatus',
  'GET /companies/{id}/connections/{id}',
  'GET /companies/{id}/data/invoices',
  'GET /companies/{id}/syncSettings',
];

async function assertSameWork(service: StandIn, contender: string, companies: number): Promise<void> {
  const { routes, perCompany, refused, authorizedTwice, connections, maxInFlight } = await service.counts();
  const { cpuMs } = await service.usage();
  const others = Object.entries(routes).filter(([route]) => !ROUTES.includes(route));
  process.stderr.write(
    `${contender}: companies by number of requests ${JSON.stringify(perCompany)}, other requests ` +
      `${JSON.stringify(Object.fromEntries(others))}, ${connections} new connections, at most ${maxInFlight} in flight, ` +
      `stand-in ${cpuMs.toFixed(0)} ms of CPU so far\n`,
  );
  const isSame = perCompany[ROUTES.length] === companies && Object.keys(perCompany).length === 1;
  const isComplete = ROUTES.every((route) => routes[route] === companies);
  if (!isSame || !isComplete || refused + authorizedTwice > 0) {
    throw new Error(
      `${contender} has not sent each request once for each of ${companies} companies: ` +
        `${JSON.stringify(routes)}, ${refused} refused, ${authorizedTwice} authorized twice`,
    );
  }
}

/** Returns the turns of one contender in one case. */
export function turnsOf(turns: readonly Turn[], contender: string, each: Case): readonly Turn[] {
  return turns.filter((turn) => turn.contender === contender && turn.case === each);
}

export const perSecond = ({ companies, tookMs }: Turn): number => (companies * 1_000) / tookMs;

/** @returns CPU time per company, of all working processes together, in milliseconds */
export const cpuPerCompany = ({ companies, cpuMs }: Turn): number =>
  Object.values(cpuMs).reduce((sum, ms) => sum + ms, 0) / companies;

/** Returns the median, over the rounds, of one contender's companies per second divided by another's. */
export function speedRatio(turns: readonly Turn[], contender: string, other: string, each: Case): number {
  const others = turnsOf(turns, other, each);
  const ratios = turnsOf(turns, contender, each).flatMap((turn, round) => {
    const against = others[round];
    return against ? [perSecond(turn) / perSecond(against)] : [];
  });
  return median(ratios);
}

/** Returns the rounded values of all rounds, separated by spaces. */
export function eachRound(turns: readonly Turn[], valueOf: (turn: Turn) => number): string {
  return turns.map((turn) => valueOf(turn).toPrecision(3)).join(' ');
}
