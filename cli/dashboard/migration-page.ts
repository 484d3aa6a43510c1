/** Shows one migration: who must act, companies, steps, the latest decisions and the exceptions. */
import { decisionText } from '../../presentation/wording/decisions';
import { isOver } from '../../domain/migration/terminated';
import { isPartial } from '../../domain/migration/partial-outcome';
import { retriedText } from '../../domain/progress/retried';
import { countExceptions } from '../../domain/companies/counts';
import { heldBackForSupport } from '../../domain/companies/credential-state';
import { inSupportWords } from '../../domain/companies/call-words';
import { failureText } from '../../domain/companies/failures';
import { findPlatform } from '../../platforms/platforms';
import type { AuditEntry, LedgerCompany } from '../../store';
import { NOT_PAUSED, withPausedWindows } from '../reporting/paused-windows';
import type { Size } from '../terminal/full-screen';
import { fitted, truncated, widthOf, wrapped, type StyledLine } from '../terminal/styled-text';
import { shortTime } from '../terminal/times';
import { companyLines, stepLines, statusLines } from './migration-lines';
import type { Page, MigrationDetail, DashboardState } from './state';

const MIN_DECISIONS = 2;
const REASON_LINES = 2;
/**
 * The lines that stay free when decisions are listed: the titles of both lists (2), two exceptions (2), and the reason
 * for the selected exception.
 */
const LINES_BESIDE_DECISIONS = 4 + REASON_LINES;

export function migrationPage(state: DashboardState, { columns, rows }: Size, now: Date): Page {
  const { detail, selected } = state;
  const lines = detail ? linesOf(detail, state.selectedException, { columns, rows }, now) : [[]];
  const platform = detail && (findPlatform(detail.progress.platformKey)?.name ?? detail.progress.platformKey);
  return {
    title: [{ text: selected ?? '', style: 'bold' }, platform ? `  ${platform}` : ''],
    lines,
    keys: [
      ['Esc', 'back'],
      ['Enter', 'in full'],
      ...(detail && isOver(detail.progress.state) ? [] : decisionKeys(detail)),
      ['?', 'help'],
      ['q', 'quit'],
    ],
  };
}

function decisionKeys(detail: MigrationDetail | null): Page['keys'] {
  return [
    ['a', 'approve'],
    ['x', 'reject'],
    ['p', detail?.progress.state === 'paused' ? 'resume' : 'pause'],
    ['r', 'retry'],
  ];
}

function linesOf(
  detail: MigrationDetail,
  selectedRow: number | null,
  { columns, rows }: Size,
  now: Date,
): readonly StyledLine[] {
  const { progress, outages, exceptions } = detail;
  const steps = stepLines(progress, detail.confirmers, columns, now);
  const above = [
    ...statusLines(detail, columns, now),
    ...outageLines(outages.slice(0, 1), columns, REASON_LINES),
    [],
    ...companyLines(detail, now, columns),
    [],
    ...steps,
    ...(steps.length === 0 ? [] : [[]]),
  ];
  const availableLines = rows - above.length;
  // Exceptions get their lines first, because people act on them. Decisions get the remaining lines, but at least
  // `MIN_DECISIONS` if `LINES_BESIDE_DECISIONS` still fit.
  const needed = exceptions.length === 0 ? 1 : exceptions.length + 2;
  const least =
    exceptions.length === 0 ? MIN_DECISIONS : Math.min(MIN_DECISIONS, availableLines - LINES_BESIDE_DECISIONS);
  const decisions = Math.max(least, Math.min(detail.decisions.length, availableLines - needed - 2));
  const shown = decisions > 0 ? decisionLines(detail.decisions.slice(0, decisions), now, columns) : [];
  const room = decisions > 0 ? availableLines - decisions - 1 : availableLines;
  return [...above, ...shown, ...exceptionLines(detail, selectedRow, room, columns, now)];
}

function outageLines(outages: readonly string[], columns: number, maxLines: number): readonly StyledLine[] {
  return outages
    .flatMap((reason) => wrapped(`Retrying: ${reason}`, columns, maxLines))
    .map((text): StyledLine => [{ text, style: 'red' }]);
}

/** @param maxLines number of lines for each decision */
function decisionLines(
  decisions: readonly AuditEntry[],
  now: Date,
  columns: number,
  maxLines = 1,
): readonly StyledLine[] {
  return [
    [{ text: 'Latest decisions', style: 'bold' }, decisions.length === 0 ? ': none yet' : ''],
    ...decisions.flatMap(({ decision, outcome }): readonly StyledLine[] => {
      const who = `${decision.by} (${decision.role})`;
      const isDone = outcome.applied && !isPartial(outcome);
      const mark = isDone ? ({ text: '✓', style: 'green' } as const) : ({ text: '✗', style: 'red' } as const);
      const why = isDone ? '' : `: ${outcome.text}`;
      const text = `${shortTime(outcome.at, now)} ${who} ${decisionText(decision)}${why}`;
      return wrapped(text, columns - 2, maxLines).map((line, index) => [index === 0 ? mark : ' ', ` ${line}`]);
    }),
  ];
}

/**
 * Shows the texts that the migration's page cuts: who must act and why, the selected exception, and the latest
 * decisions with their reasons. `state.fullTextTop` is the first line shown.
 */
export function fullTextPage(state: DashboardState, { columns, rows }: Size, now: Date): Page {
  const { detail, selected } = state;
  const top = Math.min(state.fullTextTop ?? 0, lastFullTextTop(state, { columns, rows }, now));
  return {
    title: [{ text: selected ?? '', style: 'bold' }, '  in full'],
    lines: detail ? fullTextLines(detail, state.selectedException, columns, now).slice(top) : [[]],
    keys: [
      ['↑↓', 'scroll'],
      ['any other key', 'back'],
      ['q', 'quit'],
    ],
  };
}

/** Returns the first line that is shown when the text is scrolled to its end. */
export function lastFullTextTop({ detail, selectedException }: DashboardState, size: Size, now: Date): number {
  const lines = detail ? fullTextLines(detail, selectedException, size.columns, now).length : 0;
  return Math.max(0, lines - size.rows);
}

function fullTextLines(
  detail: MigrationDetail,
  selectedRow: number | null,
  columns: number,
  now: Date,
): readonly StyledLine[] {
  const { outages, exceptions, decisions } = detail;
  const exception = exceptions.find(({ row }) => row === selectedRow);
  return [
    ...statusLines(detail, columns, now, Infinity),
    ...outageLines(outages, columns, Infinity),
    [],
    ...(exception ? exceptionInFull(exception, columns) : []),
    ...decisionLines(decisions, now, columns, Infinity),
  ];
}

function exceptionInFull(company: LedgerCompany, columns: number): readonly StyledLine[] {
  const { reference, name } = company;
  const title = wrapped(`${reference} ${name}: ${kindOf(company)}`, columns, Infinity);
  const reason = wrapped(reasonOf(company), columns - 2, Infinity);
  return [
    ...title.map((text): StyledLine => [{ text, style: 'bold' }]),
    ...reason.map((text): StyledLine => [`  ${text}`]),
    [],
  ];
}

function exceptionLines(
  { progress, schedule = NOT_PAUSED, ledgerBehind = false, exceptions }: MigrationDetail,
  selectedRow: number | null,
  room: number,
  columns: number,
  now: Date,
): readonly StyledLine[] {
  const count = countExceptions(progress.counts);
  const scheduled = withPausedWindows(progress, schedule, now);
  const retried = ledgerBehind ? null : retriedText(scheduled, now.toISOString(), (iso) => shortTime(iso, now));
  const title: StyledLine = [
    { text: 'Exceptions', style: 'bold' },
    truncated(`${count === 0 ? ': none' : `: ${count}`}${retried === null ? '' : `; ${retried}`}`, columns - 11),
  ];
  const at = Math.max(
    0,
    exceptions.findIndex(({ row }) => row === selectedRow),
  );
  const selected = exceptions[at];
  const reason = selected ? wrapped(reasonOf(selected), columns - 2, REASON_LINES) : [];
  const height = Math.max(1, room - 1 - reason.length);
  const top = Math.floor(at / height) * height;
  return [
    title,
    ...exceptions
      .slice(top, top + height)
      .map((company) => exceptionLine(company, company.row === selectedRow, columns)),
    ...reason.map((text): StyledLine => [{ text: `  ${text}`, style: 'dim' }]),
  ];
}

const REFERENCE_WIDTH = 14;
const MIN_NAME = 12;

function exceptionLine(company: LedgerCompany, isSelected: boolean, columns: number): StyledLine {
  const { reference, name } = company;
  const kind = kindOf(company);
  // A long name is cut, because people act on the text that follows the name.
  const room = Math.max(MIN_NAME, columns - REFERENCE_WIDTH - 5 - widthOf(kind));
  const shortName = widthOf(name) > room ? fitted(name, room) : name;
  const text = fitted(`${isSelected ? '▸' : ' '} ${fitted(reference, REFERENCE_WIDTH)} ${shortName}: ${kind}`, columns);
  return isSelected ? [{ text, style: 'inverse' }] : [text.trimEnd()];
}

function kindOf({ failure, state, deferred, heldBack }: LedgerCompany): string {
  if (failure !== null) return failureText(failure);
  if (state !== 'waiting') return 'outcome unknown';
  return heldBack !== null ? 'held back' : deferred ? 'deferred' : 'not moved';
}

/** Returns the reason with the correlation id, which the support team of the service needs. */
function reasonOf(company: LedgerCompany): string {
  const { failureText, correlationId } = company;
  const failed = failureText === null ? null : inSupportWords(failureText, () => 'the company');
  const reason = failed ?? heldBackForSupport(company) ?? 'it is not known whether the credential was used';
  return correlationId === null ? reason : `${reason} (correlation id ${correlationId})`;
}
