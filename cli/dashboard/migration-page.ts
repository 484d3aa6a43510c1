/** One migration on the whole screen: steps, companies, what is waited for, the last decisions, the exceptions. */
import { decisionText } from '../../presentation/wording/decisions';
import { failureText } from '../../domain/companies/failures';
import { findPlatform } from '../../platforms/platforms';
import type { AuditEntry, LedgerCompany } from '../../store';
import type { Size } from '../terminal/full-screen';
import type { Line } from '../terminal/line';
import { filled } from '../terminal/line';
import { nearTime } from '../terminal/times';
import { companiesLines, stepLines, whereLines } from './migration-lines';
import type { Page } from './page';
import type { Detail, DashboardState } from './state';

const LEAST_DECISIONS = 2;

export function migrationPage(state: DashboardState, { columns, rows }: Size, now: Date): Page {
  const { detail, selected } = state;
  const lines = detail ? linesOf(detail, state.exception, { columns, rows }, now) : [[]];
  const platform = detail && (findPlatform(detail.progress.platformKey)?.name ?? detail.progress.platformKey);
  return {
    title: [{ text: selected ?? '', style: 'bold' }, platform ? `  ${platform}` : ''],
    lines,
    keys: [
      ['Esc', 'back'],
      ['↑↓', 'exceptions'],
      ['a', 'approve'],
      ['x', 'reject'],
      ['p', detail?.progress.state === 'paused' ? 'resume' : 'pause'],
      ['r', 'retry'],
      ['?', 'help'],
      ['q', 'quit'],
    ],
  };
}

function linesOf(detail: Detail, looked: number | null, { columns, rows }: Size, now: Date): readonly Line[] {
  const { progress, heldUp, exceptions } = detail;
  const steps = stepLines(progress, now);
  const above = [
    ...whereLines(progress, columns, now),
    ...heldUp.slice(0, 1).map((reason): Line => [{ text: `Held up: ${reason}`, style: 'red' }]),
    [],
    ...companiesLines(detail, now),
    [],
    ...steps,
    ...(steps.length === 0 ? [] : [[]]),
  ];
  const left = rows - above.length;
  // Exceptions are acted on, decisions only looked up: these get what those leave.
  const wanted = exceptions.length === 0 ? 1 : exceptions.length + 2;
  const decisions = Math.max(LEAST_DECISIONS, Math.min(detail.decisions.length, left - wanted - 2));
  return [
    ...above,
    ...decisionLines(detail.decisions.slice(0, decisions), now),
    ...exceptionLines(detail, looked, left - decisions - 1, columns),
  ];
}

function decisionLines(decisions: readonly AuditEntry[], now: Date): readonly Line[] {
  return [
    [{ text: 'Last decisions', style: 'bold' }, decisions.length === 0 ? ': none yet' : ''],
    ...decisions.map(({ decision, outcome }): Line => {
      const who = `${decision.by} (${decision.role})`;
      const became = outcome.applied
        ? ({ text: '✓', style: 'green' } as const)
        : ({ text: '✗', style: 'red' } as const);
      const why = outcome.applied ? '' : `: ${outcome.text}`;
      return [became, ` ${nearTime(outcome.at, now)} ${who} ${decisionText(decision)}${why}`];
    }),
  ];
}

/** @param room how many lines there are */
function exceptionLines(
  { progress, exceptions }: Detail,
  looked: number | null,
  room: number,
  columns: number,
): readonly Line[] {
  const { failed, outcomeUnknown, heldBack } = progress.counts;
  const count = failed + outcomeUnknown + heldBack;
  const title: Line = [{ text: 'Exceptions', style: 'bold' }, count === 0 ? ': none' : `: ${count}`];
  const height = Math.max(1, room - 2);
  const at = Math.max(
    0,
    exceptions.findIndex(({ row }) => row === looked),
  );
  const top = Math.floor(at / height) * height;
  const chosen = exceptions[at];
  return [
    title,
    ...exceptions.slice(top, top + height).map((company) => exceptionLine(company, company.row === looked, columns)),
    ...(chosen ? [[{ text: `  ${whyOf(chosen)}`, style: 'dim' } as const]] : []),
  ];
}

const REFERENCE_WIDTH = 14;

function exceptionLine(company: LedgerCompany, isLooked: boolean, columns: number): Line {
  const { reference, name, failure, state } = company;
  const kind = failure === null ? (state === 'waiting' ? 'held back' : 'outcome unknown') : failureText(failure);
  const text = `${isLooked ? '▸' : ' '} ${filled(reference, REFERENCE_WIDTH)} ${name}: ${kind}`;
  return isLooked ? [{ text: filled(text, columns), style: 'inverse' }] : [text];
}

/** What happened, and what the service's people ask for. */
function whyOf({ failureText, heldBack, correlationId }: LedgerCompany): string {
  const what = failureText ?? heldBack ?? 'it is not known whether the credential was used';
  return correlationId === null ? what : `${what} (correlation id ${correlationId})`;
}
