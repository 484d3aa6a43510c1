/** Tests the texts of the charts in the handover report. */
import { statisticsCharts } from '../../../presentation/handover/statistics-charts';

const AT = '2026-11-22T21:40:00.000Z';

function chartsOf(moved: number): string {
  const statistics = {
    moved: [{ at: AT, companies: moved }],
    durationBoundsMs: [3_000, 10_000],
    durations: [20, 35, 1],
    ...{ medianMs: 4_000, p95Ms: 9_000, longestMs: 9_600 },
    slowest: [9_600, 8_000].map((tookMs, index) => ({ reference: `K-${index}`, name: 'Kite', tookMs })),
    failures: [],
  };
  return statisticsCharts(statistics, AT, 60).join('');
}

test('the chart of durations says how many moved companies were not measured', () => {
  expect(chartsOf(56)).not.toContain('not measured');
  expect(chartsOf(57)).toContain('1 moved company was not measured.');
  expect(chartsOf(58)).toContain('2 moved companies were not measured.');
});

test('the labels of the chart do not contradict durations, which are rounded up', () => {
  const charts = chartsOf(56);
  expect(charts).toContain('the slowest took 10 s');
  expect(charts).toContain('up to 10 s');
  expect(charts).toContain('over 10 s');
  expect(charts).not.toContain('under ');
});
