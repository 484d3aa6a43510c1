import { areGood, runSeeds, seedLines, totalsLine, type SeedResult } from '../../chaos/results';
import type { RunResult } from '../../chaos/run';

const resultOf = (seed: number, recoveries: readonly (number | 'timed out' | null)[]): RunResult => ({
  ...{ seed, companies: 10, unknown: 0, movedByRetry: [] },
  faults: recoveries.map((recovery) => ({ name: 'kill worker-1', recovery })),
  check: { violations: [], checked: {} as RunResult['check']['checked'], unknown: [] },
});

test('a seed that throws is recorded with its error, and the other seeds run and keep their results', async () => {
  const saved: number[] = [];
  const run = async (seed: number): Promise<RunResult> => {
    if (seed === 2) throw new Error('companies of a are still open after 600 s');
    return resultOf(seed, [1_000]);
  };
  const results = await runSeeds([1, 2, 3], run, (soFar) => saved.push(soFar.length));
  expect(saved).toEqual([1, 2, 3]);
  expect(results).toEqual([
    resultOf(1, [1_000]),
    { seed: 2, error: 'companies of a are still open after 600 s' },
    resultOf(3, [1_000]),
  ]);
  expect(results.flatMap(seedLines)).toContain('seed 2: FAILED: companies of a are still open after 600 s');
  expect(totalsLine(results)).toBe('3 seeds (1 failed), 2 faults, recovery 1.0 s (median), 1.0 s (maximum of 2)');
  expect(areGood(results)).toBe(false);
});

test('a broken invariant and a company that only a retry moved fail a run', () => {
  const good = resultOf(1, [null]);
  const violation = { invariant: 'lost', migration: 'a', reference: 'R-1', detail: 'it is gone' } as const;
  const broken: SeedResult = { ...good, check: { ...good.check, violations: [violation] } };
  expect([areGood([good]), areGood([good, broken]), areGood([{ ...good, movedByRetry: ['a R-2'] }])]).toEqual([
    ...[true, false, false],
  ]);
  expect(seedLines(broken)[0]).toBe('VIOLATION lost: a R-1: it is gone');
});

test('the totals say that a recovery took too long, or that none was measured', () => {
  expect(totalsLine([resultOf(1, [500, 2_000, 'timed out'])])).toContain('2.0 s (median), over 60 s (maximum of 3)');
  expect(totalsLine([resultOf(1, [null])])).toBe('1 seed (0 failed), 1 fault, no recovery measured');
});
