/**
 * Draws charts as static SVG, without external resources. The style sheet of the page colours them by their CSS
 * classes. Each chart with text is drawn twice, once for wide screens and paper and once for phones, because SVG scales
 * its text with its width. The style sheet shows one of the two. Lengths are in SVG user units.
 */
import { markup, type Html } from './html';
import { dayText, numberText } from '../../domain/text/sentences';

/** One of the two drawings of a chart. */
interface Canvas {
  readonly cssClass: 'wide' | 'narrow';
  readonly width: number;
}

const WIDE: Canvas = { cssClass: 'wide', width: 760 };
const NARROW: Canvas = { cssClass: 'narrow', width: 270 };

/** Estimated widths of a Latin character, which can be bold, and of a Chinese, Japanese or Korean character. */
const LATIN_WIDTH = 7.4;
const WIDE_CHARACTER_WIDTH = 13;

function textWidth(text: string): number {
  return [...text].reduce(
    (sum, each) => sum + ((each.codePointAt(0) ?? 0) < 0x1100 ? LATIN_WIDTH : WIDE_CHARACTER_WIDTH),
    0,
  );
}

function shortened(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  const characters = [...text];
  while (characters.length > 0 && textWidth(`${characters.join('')}…`) > width) characters.pop();
  return `${characters.join('').trimEnd()}…`;
}

export interface Bar {
  readonly label: string;
  readonly value: number;
  /** The value as shown beside the bar. */
  readonly text: string;
}

const BAR_HEIGHT = 16;
/** Space above a bar for its label, where there is no space beside it. */
const LABEL_ABOVE = 20;
const LABELS_WIDTH = 270;
const GAP = 8;

/** Draws horizontal bars, one per line. A wide chart has the labels beside the bars, a narrow one above them. */
export function barChart(bars: readonly Bar[], cssClass: string): readonly Html[] {
  return [WIDE, NARROW].map((canvas) => drawBars(canvas, bars, cssClass));
}

function drawBars(canvas: Canvas, bars: readonly Bar[], cssClass: string): Html {
  const isWide = canvas === WIDE;
  const largest = Math.max(...bars.map(({ value }) => value), 1);
  const left = isWide ? LABELS_WIDTH : 0;
  const longest = canvas.width - left - Math.max(...bars.map(({ text }) => textWidth(text)), 0) - 2 * GAP;
  const step = isWide ? BAR_HEIGHT + 10 : BAR_HEIGHT + LABEL_ABOVE + 8;
  const rows = bars.map(({ label, value, text }, index) => {
    const top = index * step + (isWide ? 5 : LABEL_ABOVE);
    const width = Math.max(2, (value / largest) * longest);
    const baseline = top + BAR_HEIGHT - 4;
    const drawnLabel = isWide
      ? markup`<text class="label" x="${left - 10}" y="${baseline}" text-anchor="end">${shortened(label, left - 10)}</text>`
      : markup`<text class="label" x="0" y="${top - 5}">${shortened(label, canvas.width)}</text>`;
    return markup`<g>
      <title>${label}: ${text}</title>
      ${drawnLabel}
      ${bar({ cssClass, left, top, width, height: BAR_HEIGHT })}
      <text class="value" x="${rounded(left + width + GAP)}" y="${baseline}">${text}</text>
    </g>`;
  });
  return drawing(canvas, bars.length * step, bars.map(({ label, text }) => `${label}: ${text}`).join('; '), rows);
}

const COLUMNS_HEIGHT = 140;
/** Space above a chart for a value, and below it for the labels. */
const ABOVE = 18;
const BELOW = 24;

/** Draws columns side by side, with the value above and the label below each column; for phones, draws bars. */
export function columnChart(
  columns: readonly { readonly label: string; readonly value: number }[],
  cssClass: string,
): readonly Html[] {
  const bars = columns.map(({ label, value }) => ({ label, value, text: numberText(value) }));
  return [drawColumns(WIDE, columns, cssClass), drawBars(NARROW, bars, cssClass)];
}

function drawColumns(
  canvas: Canvas,
  columns: readonly { readonly label: string; readonly value: number }[],
  cssClass: string,
): Html {
  const largest = Math.max(...columns.map(({ value }) => value), 1);
  const step = canvas.width / columns.length;
  const width = Math.min(64, step * 0.7);
  const bottom = ABOVE + COLUMNS_HEIGHT;
  const drawn = columns.map(({ value }, index) => {
    const middle = rounded((index + 0.5) * step);
    const height = value === 0 ? 0 : Math.max(2, (value / largest) * COLUMNS_HEIGHT);
    return markup`<g>
      ${bar({ cssClass, left: middle - width / 2, top: bottom - height, width, height })}
      <text class="value" x="${middle}" y="${rounded(bottom - height - 6)}" text-anchor="middle">${value === 0 ? '' : numberText(value)}</text>
    </g>`;
  });
  const labels = columns.map(({ label }, index) => ({ text: label, x: (index + 0.5) * step }));
  return drawing(
    canvas,
    bottom + BELOW,
    columns.map(({ label, value }) => `${label}: ${numberText(value)}`).join('; '),
    [
      markup`<line class="axis" x1="0" x2="${canvas.width}" y1="${bottom}" y2="${bottom}" />`,
      ...drawn,
      ...axisLabels(canvas, labels, bottom + 17),
    ],
  );
}

/** Draws the labels below an axis. Leaves out labels that would touch another label, and keeps the last label. */
function axisLabels(
  { width }: Canvas,
  labels: readonly { readonly text: string; readonly x: number }[],
  y: number,
): readonly Html[] {
  let free = width;
  return labels.toReversed().flatMap(({ text, x }) => {
    const half = textWidth(text) / 2;
    const middle = Math.min(Math.max(x, half), width - half);
    if (middle + half > free) return [];
    free = middle - half - GAP;
    return [markup`<text class="label" x="${rounded(middle)}" y="${y}" text-anchor="middle">${text}</text>`];
  });
}

const STEPS_HEIGHT = 190;
/** Space to the left of the steps, for the labels of the vertical axis, and space to the right of the steps. */
const LEFT = 56;
const RIGHT = 26;

interface StepPoint {
  readonly at: number;
  readonly value: number;
}

/**
 * Draws a line in steps: a number that grows over time.
 *
 * @param points in chronological order; `at` in milliseconds since 1970
 * @param total the number that the line can reach
 * @param unit what is counted, for the description
 */
export function stepChart(points: readonly StepPoint[], total: number, unit: string): readonly Html[] {
  return [WIDE, NARROW].map((canvas) => drawSteps(canvas, points, total, unit));
}

function drawSteps(canvas: Canvas, points: readonly StepPoint[], total: number, unit: string): Html {
  const from = points[0]?.at ?? 0;
  const last = points.at(-1) ?? { at: from, value: 0 };
  const to = Math.max(last.at, from + 1_000);
  const top = Math.max(total, last.value, 1);
  const bottom = ABOVE + STEPS_HEIGHT;
  const x = (at: number): number => rounded(LEFT + ((at - from) / (to - from)) * (canvas.width - LEFT - RIGHT));
  const y = (value: number): number => rounded(bottom - (value / top) * STEPS_HEIGHT);
  const steps = points.map(({ at, value }, index) => (index === 0 ? `M${x(at)} ${y(value)}` : `H${x(at)}V${y(value)}`));
  const line = steps.join('');
  const ticks = timeTicks(from, to, canvas === WIDE ? 7 : 4);
  return drawing(canvas, bottom + BELOW, `${numberText(last.value)} of ${numberText(total)} ${unit}`, [
    ...valueTicks(top).map(
      (value) =>
        markup`<g>
          <line class="grid" x1="${LEFT}" x2="${canvas.width - RIGHT}" y1="${y(value)}" y2="${y(value)}" />
          <text class="label" x="${LEFT - 8}" y="${rounded(y(value) + 4)}" text-anchor="end">${numberText(value)}</text>
        </g>`,
    ),
    ...ticks.map(
      ({ at }) => markup`<line class="axis" x1="${x(at)}" x2="${x(at)}" y1="${bottom}" y2="${bottom + 4}" />`,
    ),
    ...axisLabels(
      canvas,
      ticks.map(({ at, label }) => ({ text: label, x: x(at) })),
      bottom + 18,
    ),
    markup`<path class="area" d="${line}V${y(0)}H${x(from)}Z" />`,
    markup`<path class="line" d="${line}" />`,
    markup`<circle class="dot" cx="${x(last.at)}" cy="${y(last.value)}" r="3.5" />`,
  ]);
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

/** Returns the labels of the time axis: round times of day in UTC, and the date at midnight. */
function timeTicks(from: number, to: number, most: number): readonly { readonly at: number; readonly label: string }[] {
  const step = TIME_STEPS.find((each) => (to - from) / each <= most) ?? 365 * DAY;
  const first = Math.ceil(from / step) * step;
  return Array.from({ length: Math.max(0, Math.floor((to - first) / step) + 1) }, (_, index) => {
    const at = first + index * step;
    const iso = new Date(at).toISOString();
    const label = at % DAY === 0 ? dayText(iso) : iso.slice(11, step < MINUTE ? 19 : 16);
    return { at, label };
  });
}

interface Share {
  readonly cssClass: string;
  readonly label: string;
  readonly value: number;
}

/** Draws one bar that is divided in proportion to the values. It has no text, so it can be stretched to any width. */
export function shareBar(shares: readonly Share[]): Html {
  const total = shares.reduce((sum, { value }) => sum + value, 0);
  const HEIGHT = 22;
  let left = 0;
  const drawn = shares
    .filter(({ value }) => value > 0)
    .map(({ cssClass, value }) => {
      const width = (value / Math.max(total, 1)) * WIDE.width;
      const at = left;
      left += width;
      return markup`<rect class="share ${cssClass}" x="${rounded(at)}" y="0" width="${rounded(Math.max(width, 1))}" height="${HEIGHT}"/>`;
    });
  const description = shares.map(({ label, value }) => `${label}: ${numberText(value)}`).join('; ');
  return markup`<svg class="shares" viewBox="0 0 ${WIDE.width} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${description}">
${drawn}
</svg>`;
}

/** @param description read by screen readers instead of the drawing */
function drawing({ cssClass, width }: Canvas, height: number, description: string, parts: readonly Html[]): Html {
  return markup`<svg class="${cssClass}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${description}">
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
