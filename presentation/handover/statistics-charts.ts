/**
 * The charts in the handover report: progress over time, duration per company, and failures by kind. A chart that would
 * show nothing, because it has too few companies or only equal bars, is left out.
 */
import { barChart, columnChart, stepChart, type Bar } from './charts';
import { duration, counted } from '../../domain/text/sentences';
import type { FailureKind } from '../../domain/companies/failures';
import type { MigrationStatistics } from '../../store';
import { markup, type Html } from './html';

/** With fewer companies, the tables say more than a chart. */
const MIN_COMPANIES = 5;

/** @param total companies in the manifest */
export function statisticsCharts(
  statistics: MigrationStatistics,
  startedAt: string | null,
  total: number,
): readonly Html[] {
  return [...progressChart(statistics, startedAt, total), ...durationCharts(statistics), ...failureChart(statistics)];
}

function progressChart({ moved }: MigrationStatistics, startedAt: string | null, total: number): readonly Html[] {
  const points = moved.map(({ at, companies }) => ({ at: Date.parse(at), value: companies }));
  const [first] = points;
  const last = points.at(-1);
  if (!first || !last || last.value < MIN_COMPANIES) return [];
  const from = startedAt === null ? first.at : Date.parse(startedAt);
  return [
    figure(
      'Progress over time',
      'The number of companies moved up to each point in time. Where the line is flat, no company was moved, for example outside the agreed hours or while the migration was paused.',
      stepChart([{ at: from, value: 0 }, ...points], total, 'companies moved'),
    ),
  ];
}

function durationCharts({
  durations,
  durationBoundsMs,
  medianMs,
  p95Ms,
  longestMs,
  slowest,
  moved,
}: MigrationStatistics): readonly Html[] {
  const measured = durations.reduce((sum, companies) => sum + companies, 0);
  if (medianMs === null || p95Ms === null || longestMs === null || measured < MIN_COMPANIES) return [];
  const first = durations.findIndex((companies) => companies > 0);
  const last = durations.findLastIndex((companies) => companies > 0);
  const columns = durations
    .map((companies, index) => ({ label: rangeText(durationBoundsMs, index), value: companies }))
    // An empty column on each side shows that the chart is complete.
    .slice(Math.max(0, first - 1), last + 2);
  const bars = slowest.map(({ reference, name, tookMs }) => ({
    label: `${reference} ${name}`,
    value: tookMs,
    text: duration(tookMs),
  }));
  const charts = [
    ...(differ(columns.map(({ value }) => value).filter((value) => value > 0))
      ? columnChart(columns, 'companies')
      : []),
    ...(differ(bars.map(({ text }) => text))
      ? [markup`<h4>Slowest companies</h4>`, ...barChart(bars, 'duration')]
      : []),
  ];
  if (charts.length === 0) return [];
  // A moved company can have no duration, for example if its end customer has reconnected it.
  const others = Math.max(0, (moved.at(-1)?.companies ?? 0) - measured);
  const notMeasured =
    others === 0 ? '' : ` ${counted(others, 'moved company')} ${others === 1 ? 'was' : 'were'} not measured.`;
  return [
    figure(
      'Duration per company',
      `Half of the moved companies took ${duration(medianMs)} or less, 95% took ${duration(p95Ms)} or less, and the slowest took ${duration(longestMs)}. This is the time taken to connect a company and sync its data, not counting time in queues.${notMeasured}`,
      charts,
    ),
  ];
}

/** Returns whether a chart of these values would show anything: whether at least two of them differ. */
function differ(values: readonly (number | string)[]): boolean {
  return new Set(values).size > 1;
}

/** Returns the label of a bucket: its upper bound or, for the last bucket, which has none, its lower bound. */
function rangeText(boundsMs: readonly number[], index: number): string {
  const to = boundsMs[index];
  return to === undefined ? `over ${boundText(boundsMs[index - 1] ?? 0)}` : `up to ${boundText(to)}`;
}

function boundText(ms: number): string {
  if (ms < 60_000) return `${ms / 1_000} s`;
  return ms < 3_600_000 ? `${ms / 60_000} min` : `${ms / 3_600_000} h`;
}

function failureChart({ failures }: MigrationStatistics): readonly Html[] {
  const companies = failures.reduce((sum, each) => sum + each.companies, 0);
  if (companies < MIN_COMPANIES || !differ(failures.map((each) => each.companies))) return [];
  const bars: Bar[] = failures.map((each) => ({
    label: FAILURE_LABELS[each.kind],
    value: each.companies,
    text: counted(each.companies, 'company'),
  }));
  return [
    figure(
      'Failures by kind',
      `${counted(companies, 'company')}, including any that were left out after they had failed.`,
      barChart(bars, 'failures'),
    ),
  ];
}

/** Why a company was not moved, in words that the client understands. */
const FAILURE_LABELS: Readonly<Record<FailureKind, string>> = {
  refused: 'refused by the service',
  'credential-unreadable': 'its credential could not be read',
  'reauthorization-required': 'the authorization no longer works',
  'wrong-organization': 'authorized for another organization',
  'application-refused': 'application rejected by the platform',
  incomplete: 'fewer records than expected',
  'sync-failed': 'its sync failed',
  'sync-timed-out': 'its sync did not finish in time',
};

function figure(title: string, caption: string, charts: readonly Html[]): Html {
  return markup`<figure>
<h3>${title}</h3>
<figcaption>${caption}</figcaption>
${charts}
</figure>`;
}
