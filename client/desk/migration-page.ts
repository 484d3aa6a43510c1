/** One migration on the whole screen: steps, companies, what is waited for, the last decisions, the exceptions. */
import { movableCompanies, settledCompanies } from '../../domain/company-state';
import { whatWasDecided } from '../../domain/decision-in-words';
import { headline } from '../../domain/details';
import { inWords } from '../../domain/failures';
import { expectedEnd, perMinute, rateInWords } from '../../domain/headway';
import { findPlatform } from '../../domain/platforms';
import type { Progress, StepProgress } from '../../domain/progress';
import { STEP_RULES, stepNumber } from '../../domain/steps';
import { counted } from '../../domain/words';
import type { AuditEntry, LedgerCompany } from '../../store';
import type { Size } from '../screen/full-screen';
import type { Line } from '../screen/line';
import { bar, filled, wrapped } from '../screen/line';
import { nearTime, spanOfTime } from '../screen/times';
import type { Page } from './page';
import type { Detail, DeskState } from './state';

const BAR_WIDTH = 20;
const WAITING_LINES = 2;
const LEAST_DECISIONS = 2;

export function migrationPage(state: DeskState, { columns, rows }: Size, now: Date): Page {
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
  const { progress, exceptions } = detail;
  const above = [
    ...whereLines(detail, columns, now),
    [],
    ...companiesLines(detail, now),
    [],
    ...(progress.route === 'self-service' ? [] : [...progress.steps.map((step) => stepLine(step, now)), []]),
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

function whereLines({ progress, heldUp }: Detail, columns: number, now: Date): readonly Line[] {
  const { roles, what } = progress.waitingFor;
  const since = progress.waitingSince;
  const who = roles.length === 0 ? 'nobody' : roles.join(' and ');
  const forLong =
    since === null ? '' : ` since ${nearTime(since, now)} (${spanOfTime(now.getTime() - Date.parse(since))})`;
  const style = roles.includes('support') ? 'yellow' : 'reset';
  return [
    [{ text: headline(progress), style: progress.state === 'paused' ? 'yellow' : 'bold' }],
    ...wrapped(`Waiting for ${who}${forLong}: ${what}`, columns, WAITING_LINES).map((text): Line => [{ text, style }]),
    ...heldUp.slice(0, 1).map((reason): Line => [{ text: `Held up: ${reason}`, style: 'red' }]),
  ];
}

function companiesLines({ progress, overview }: Detail, now: Date): readonly Line[] {
  const { counts } = progress;
  const done = settledCompanies(counts);
  const rate = overview && perMinute(overview);
  const end = endOf(progress, overview, now);
  const lacking = [
    [counts.unconfirmed, 'not confirmed as disabled'],
    [counts.withoutCredential, 'without credential'],
  ] as const;
  return [
    [
      { text: bar(done, counts.total, BAR_WIDTH), style: 'green' },
      ` ${done} of ${counted(counts.total, 'company')} done`,
      rate === null ? '' : `, ${rateInWords(rate)} a minute`,
      end === null ? '' : `, ends about ${nearTime(end, now)}`,
    ],
    [
      `${counts.migrated} moved, ${counts.importing + counts.syncing} under way, ${counts.waiting} waiting, `,
      { text: `${counts.failed} failed`, style: counts.failed > 0 ? 'red' : 'reset' },
      `, ${counts.skipped + counts.excluded} left out`,
      ...lacking.filter(([count]) => count > 0).map(([count, what]) => `; ${count} ${what}`),
    ],
  ];
}

function endOf(
  { counts, windows, estimate, proposal }: Progress,
  overview: Detail['overview'],
  now: Date,
): string | null {
  const left = movableCompanies(counts);
  if (left === 0) return null;
  const at = now.toISOString();
  const estimated = proposal ? (estimate?.ends?.latest ?? '') : '';
  // An estimate that has not come true is none.
  return (overview && expectedEnd(overview, left, windows, at)) ?? (estimated > at ? estimated : null);
}

const MARKS = { done: { text: '✓', style: 'green' }, open: { text: '●', style: 'yellow' }, later: '·' } as const;
const TITLE_WIDTH = 28;
const STATE_WIDTH = 22;

function stepLine({ step, state, openedAt, endedAt, approvals }: StepProgress, now: Date): Line {
  const title = `${stepNumber(step)} ${STEP_RULES[step].title}`;
  const at = state === 'done' ? endedAt : openedAt;
  const when = state === 'later' || at === null ? '' : ` ${state === 'open' ? 'since ' : ''}${nearTime(at, now)}`;
  const approved = approvals.map(({ role, by }) => `${by} (${role})`).join(', ');
  return [MARKS[state], ` ${filled(title, TITLE_WIDTH)}`, filled(state + when, STATE_WIDTH), approved];
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
      return [became, ` ${nearTime(outcome.at, now)} ${who} ${whatWasDecided(decision)}${why}`];
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
  const kind = failure === null ? (state === 'waiting' ? 'held back' : 'outcome unknown') : inWords(failure);
  const text = `${isLooked ? '▸' : ' '} ${filled(reference, REFERENCE_WIDTH)} ${name}: ${kind}`;
  return isLooked ? [{ text: filled(text, columns), style: 'inverse' }] : [text];
}

/** What happened, and what the service's people ask for. */
function whyOf({ failureText, heldBack, correlationId }: LedgerCompany): string {
  const what = failureText ?? heldBack ?? 'it is not known whether the credential was used';
  return correlationId === null ? what : `${what} (correlation id ${correlationId})`;
}
