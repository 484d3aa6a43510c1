import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const MAIN = path.join(__dirname, '../../dist/bench/main.js');

/** Runs a benchmark as `npm run bench` does, except for the build, which the test run has already done. */
const bench = (...args: string[]) => promisify(execFile)(process.execPath, [MAIN, ...args]);

test('a quick run prints every figure of the selected benchmarks as one JSON object', async () => {
  const { stdout } = await bench('service', 'pacing', '--quick', '--json');
  const { figures } = JSON.parse(stdout) as { figures: Record<string, Record<string, unknown>> };
  expect(Object.keys(figures)).toEqual([
    'service.get-company',
    'service.post-company',
    'service.first-page',
    'service.last-page',
    'pacing.used',
    'pacing.refused',
  ]);
  for (const share of ['pacing.used', 'pacing.refused']) expect(figures[share]?.value).toBeLessThanOrEqual(1);
  for (const figure of Object.values(figures)) {
    expect(figure).toEqual({
      value: expect.any(Number) as number,
      goal: expect.stringMatching(/^(>=|<=|<) \d/) as string,
      met: expect.any(Boolean) as boolean,
      unit: expect.stringMatching(/./) as string,
    });
  }
});

test('an unknown benchmark is refused with the list of benchmarks', async () => {
  await expect(bench('speed')).rejects.toMatchObject({
    code: 1,
    stderr:
      'unknown benchmark: speed. Choose from: service, pacing, memory, throughput, latency, limit, cost, scale, decide, open, recover, portal, peers, cost-limited, service-throughput, service-latency, service-scale\n',
  });
});
