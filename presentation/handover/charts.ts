/**
 * Draws charts as static SVG, without scripts or external resources. The style sheet of the page colours them by their
 * CSS classes. Lengths are in SVG user units. Every chart is `WIDTH` units wide.
 */
import type { Html } from './html';
import { markup } from './html';

const WIDTH = 680;

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value with its unit, as shown beside the bar. */
  readonly text: string;
}

const BAR_HEIGHT = 16;
const BAR_STEP = 26;
const LABELS_WIDTH = 240;
const TEXTS_WIDTH = 100;
/**
 * Maximum length of a label in characters. Labels are right-aligned, so a longer one would be cut off at the left edge.
 */
const MAX_LABEL_LENGTH = 38;

/** Draws horizontal bars, one per line. */
export function barChart(bars: readonly Bar[], cssClass: string): Html {
  const largest = Math.max(...bars.map(({ value }) => value), 1);
  const height = bars.length * BAR_STEP;
  const rows = bars.map(({ label, value, text }, index) => {
    const top = index * BAR_STEP + (BAR_STEP - BAR_HEIGHT) / 2;
    const width = Math.max(2, (value / largest) * (WIDTH - LABELS_WIDTH - TEXTS_WIDTH));
    const baseline = top + BAR_HEIGHT - 4;
    return markup`<g>
      <title>${label}: ${text}</title>
      <text class="label" x="${LABELS_WIDTH - 10}" y="${baseline}" text-anchor="end">${shortened(label)}</text>
      ${bar({ cssClass, left: LABELS_WIDTH, top, width, height: BAR_HEIGHT })}
      <text class="value" x="${rounded(LABELS_WIDTH + width + 8)}" y="${baseline}">${text}</text>
    </g>`;
  });
  return drawing(height, bars.map(({ label, text }) => `${label}: ${text}`).join('; '), rows);
}

function shortened(text: string): string {
  return text.length <= MAX_LABEL_LENGTH ? text : `${text.slice(0, MAX_LABEL_LENGTH - 1).trimEnd()}…`;
}

const COLUMNS_HEIGHT = 140;
/** Space above a chart for a value, and below it for the labels. */
const ABOVE = 18;
const BELOW = 24;

/** Draws columns side by side, with the value above and the label below each column. */
export function columnChart(
  columns: readonly { readonly label: string; readonly value: number }[],
  cssClass: string,
): Html {
  const largest = Math.max(...columns.map(({ value }) => value), 1);
  const step = WIDTH / columns.length;
  const width = Math.min(64, step * 0.7);
  const bottom = ABOVE + COLUMNS_HEIGHT;
  const drawn = columns.map(({ label, value }, index) => {
    const middle = rounded((index + 0.5) * step);
    const height = value === 0 ? 0 : Math.max(2, (value / largest) * COLUMNS_HEIGHT);
    return markup`<g>
      ${bar({ cssClass, left: middle - width / 2, top: bottom - height, width, height })}
      <text class="value" x="${middle}" y="${rounded(bottom - height - 6)}" text-anchor="middle">${value === 0 ? '' : withThousandsSeparators(value)}</text>
      <text class="label" x="${middle}" y="${bottom + 17}" text-anchor="middle">${label}</text>
    </g>`;
  });
  return drawing(
    bottom + BELOW,
    columns.map(({ label, value }) => `${label}: ${withThousandsSeparators(value)}`).join('; '),
    [markup`<line class="axis" x1="0" x2="${WIDTH}" y1="${bottom}" y2="${bottom}" />`, ...drawn],
  );
}

const STEPS_HEIGHT = 190;
/** Space to the left of the steps, for the labels of the vertical axis, and space to the right of the steps. */
const LEFT = 56;
const RIGHT = 26;

/**
 * Draws a line in steps: a number that grows over time.
 *
 * @param points in chronological order; `at` in milliseconds since 1970
 * @param total the number that the line can reach
 * @param unit what is counted, for the description
 */
export function stepChart(
  points: readonly { readonly at: number; readonly value: number }[],
  total: number,
  unit: string,
): Html {
  const from = points[0]?.at ?? 0;
  const last = points.at(-1) ?? { at: from, value: 0 };
  const to = Math.max(last.at, from + 1_000);
  const top = Math.max(total, last.value, 1);
  const bottom = ABOVE + STEPS_HEIGHT;
  const x = (at: number): number => rounded(LEFT + ((at - from) / (to - from)) * (WIDTH - LEFT - RIGHT));
  const y = (value: number): number => rounded(bottom - (value / top) * STEPS_HEIGHT);
  const steps = points.map(({ at, value }, index) => (index === 0 ? `M${x(at)} ${y(value)}` : `H${x(at)}V${y(value)}`));
  const line = steps.join('');
  return drawing(
    bottom + BELOW,
    `${withThousandsSeparators(last.value)} of ${withThousandsSeparators(total)} ${unit}`,
    [
      ...valueTicks(top).map(
        (value) =>
          markup`<g>
          <line class="grid" x1="${LEFT}" x2="${WIDTH - RIGHT}" y1="${y(value)}" y2="${y(value)}" />
          <text class="label" x="${LEFT - 8}" y="${rounded(y(value) + 4)}" text-anchor="end">${withThousandsSeparators(value)}</text>
        </g>`,
      ),
      ...timeTicks(from, to).map(
        ({ at, label }) =>
          markup`<g>
          <line class="axis" x1="${x(at)}" x2="${x(at)}" y1="${bottom}" y2="${bottom + 4}" />
          <text class="label" x="${x(at)}" y="${bottom + 18}" text-anchor="middle">${label}</text>
        </g>`,
      ),
      markup`<path class="area" d="${line}V${y(0)}H${x(from)}Z" />`,
      markup`<path class="line" d="${line}" />`,
      markup`<circle class="dot" cx="${x(last.at)}" cy="${y(last.value)}" r="3.5" />`,
    ],
  );
}

/** Returns the values to label on the vertical axis: zero, round numbers, and the maximum. */
function valueTicks(maximum: number): readonly number[] {
  const rough = maximum / 5;
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= rough) ?? power;
  const inside = Array.from({ length: Math.floor(maximum / step) + 1 }, (_, index) => index * step);
  // The label of a round number just below the maximum would overlap the label of the maximum.
  return [...inside.filter((value) => value === 0 || maximum - value >= step / 2), maximum];
}

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((each) => each * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((each) => each * MINUTE),
  ...[1, 2, 3, 6, 12].map((each) => each * HOUR),
  ...[1, 2, 7, 14, 28, 56].map((each) => each * DAY),
] as const;
const MAX_TICKS = 7;

/** Returns the labels of the time axis: round times of day in UTC, and the date at midnight. */
function timeTicks(from: number, to: number): readonly { readonly at: number; readonly label: string }[] {
  const step = TIME_STEPS.find((each) => (to - from) / each <= MAX_TICKS) ?? 365 * DAY;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => {
    const at = first + index * step;
    const iso = new Date(at).toISOString();
    const label = at % DAY === 0 ? iso.slice(5, 10) : iso.slice(11, step < MINUTE ? 19 : 16);
    return { at, label };
  });
}

interface Share {
  readonly cssClass: string;
  readonly label: string;
  readonly value: number;
}

/** Draws one bar that is divided in proportion to the values. */
export function shareBar(shares: readonly Share[]): Html {
  const total = shares.reduce((sum, { value }) => sum + value, 0);
  const HEIGHT = 22;
  let left = 0;
  const drawn = shares
    .filter(({ value }) => value > 0)
    .map(({ cssClass, value }) => {
      const width = (value / Math.max(total, 1)) * WIDTH;
      const at = left;
      left += width;
      return markup`<rect class="share ${cssClass}" x="${rounded(at)}" y="0" width="${rounded(Math.max(width, 1))}" height="${HEIGHT}"/>`;
    });
  return drawing(
    HEIGHT,
    shares.map(({ label, value }) => `${label}: ${withThousandsSeparators(value)}`).join('; '),
    drawn,
    'none',
  );
}

/**
 * @param description read by screen readers instead of the drawing
 * @param aspectRatio `none` stretches the chart to the available space; only for charts without text
 */
function drawing(height: number, description: string, parts: readonly Html[], aspectRatio = 'xMidYMid'): Html {
  return markup`<svg viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="${aspectRatio}" role="img" aria-label="${description}">
${parts}
</svg>`;
}

function bar(shape: {
  readonly cssClass: string;
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}): Html {
  const { cssClass, left, top, width, height } = shape;
  return markup`<rect class="bar ${cssClass}" x="${rounded(left)}" y="${rounded(top)}" width="${rounded(width)}" height="${rounded(height)}" rx="2"/>`;
}

const rounded = (number: number): number => Math.round(number * 10) / 10;

const withThousandsSeparators = (number: number): string => number.toLocaleString('en-US');
