/** Writes bench/RESULTS.md: the latest result of each figure, and the machine it was measured on. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, totalmem } from 'node:os';
import path from 'node:path';
import type { Figure, Table } from './figures';

const FILE = path.join(__dirname, '..', '..', 'bench', 'RESULTS.md');
const TITLES = ['Figure', 'Value', 'Goal', 'Met', 'Unit', 'Measured', 'Load', 'Details'] as const;

export interface Result {
  readonly name: string;
  readonly figure: Figure;
  readonly note: string;
  /** The machine's load average when the benchmark started. */
  readonly load: number;
}

/** Returns the load average of the last minute. */
export function systemLoad(): number {
  return loadavg()[0] ?? 0;
}

/** Writes results, replacing older ones of the same figures. Removes results from other machines. */
export function writeResults(results: readonly Result[]): void {
  const { rows, sections } = read();
  for (const result of results) rows.set(result.name, rowOf(result));
  write(rows, sections);
}

/** Writes a table below the figures, replacing the one with the same heading. */
export function writeTable({ heading, about, titles, rows: cells }: Table, load: number): void {
  const { rows, sections } = read();
  const measured = `Measured on ${today()}, at a load of ${load.toFixed(1)} at the start.`;
  sections.set(heading, `${about} ${measured}\n\n${tableOf(titles, cells)}`);
  write(rows, sections);
}

interface Content {
  /** The figures by name. */
  readonly rows: Map<string, Row>;
  /** The text below each heading. */
  readonly sections: Map<string, string>;
}

/** Reads the results of this machine. */
function read(): Content {
  const before = existsSync(FILE) ? readFileSync(FILE, 'utf8') : '';
  if (!before.includes(machine())) return { rows: new Map(), sections: new Map() };
  const [figures = '', ...sections] = before.split('\n## ');
  return { rows: new Map(rowsIn(figures)), sections: new Map(sections.map(sectionOf)) };
}

function sectionOf(text: string): readonly [string, string] {
  const end = text.indexOf('\n');
  return [text.slice(0, end), `${text.slice(end).trim()}\n`];
}

function write(rows: Content['rows'], sections: Content['sections']): void {
  const below = [...sections].map(([heading, text]) => `\n## ${heading}\n\n${text}`).join('');
  const figures = tableOf(TITLES, [...rows.values()]);
  writeFileSync(FILE, `# Benchmark results\n\n${machine()}\n\n${ABOUT}\n\n${figures}${below}`);
}

const ABOUT =
  '`npm run bench` writes this file. Load is the load average of the minute before the measurement, ' +
  'caused by other programs or an earlier benchmark; on two cores, a load of 2 leaves no free core.';

function machine(): string {
  const { length: cores } = cpus();
  const { platform, arch, versions } = process;
  return `${cores} cores, ${Math.round(totalmem() / 1024 ** 3)} GB of memory, ${platform} ${arch}, Node ${versions.node}.`;
}

type Row = readonly string[];

function rowOf({ name, figure, note, load }: Result): Row {
  const { value, goal, met, unit } = figure;
  return [name, String(Number(value.toPrecision(4))), goal ?? '-', metText(met), unit, today(), load.toFixed(1), note];
}

function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** @param met null if the figure has no goal */
export function metText(met: boolean | null): string {
  if (met === null) return '-';
  return met ? 'yes' : 'no';
}

function rowsIn(text: string): readonly [string, Row][] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)
    .map((line): Row =>
      line
        .slice(2, -2)
        .split(' | ')
        .map((cell) => cell.trim()),
    )
    .filter(([name = '']) => !name.startsWith('--'))
    .map((row) => [row[0] ?? '', row]);
}

/** Pads cells as the formatter does. */
function tableOf(titles: Row, rows: readonly Row[]): string {
  const widths = titles.map((_, column) => Math.max(3, ...[titles, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: Row, fill = ' ') =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  return [line(titles), line([], '-'), ...rows.map((row) => line(row))].map((each) => `${each}\n`).join('');
}
