/** The result of a soak, and the lines that report it. */
import { counted } from '../../domain/text/sentences';
import { violationLines } from '../results';
import type { CheckResult } from '../checker';
import { tableOf, type JudgedFigure } from './figures';
import type { SoakedMigrations } from './migrations';

export interface SoakResult extends Omit<SoakedMigrations, 'migrations' | 'reports'> {
  readonly seed: number;
  readonly minutes: number;
  readonly migrations: number;
  readonly companies: number;
  readonly check: CheckResult;
  readonly figures: readonly JudgedFigure[];
  /** The parts whose process was restarted during the soak, or was not running at the end. */
  readonly restarted: readonly string[];
}

/**
 * Returns whether no figure grows, no invariant is broken, no retry has moved a company whose outcome was unknown,
 * every migration was completed and no process has ended.
 */
export function isSoakGood(result: SoakResult): boolean {
  const { figures, check, movedByRetry, unfinished, restarted } = result;
  const growing = figures.filter(({ verdict }) => verdict === 'grows');
  return [growing, check.violations, movedByRetry, unfinished, restarted].every(({ length }) => length === 0);
}

/** Returns the table of all figures, the problems, and the totals. */
export function soakLines(result: SoakResult): readonly string[] {
  const { minutes, migrations, companies, check, unknown, movedByRetry, unfinished, restarted, figures } = result;
  const count = (wanted: string): number => figures.filter(({ verdict }) => verdict === wanted).length;
  const growth =
    count('too short') > 0
      ? 'too short to say whether figures grow; run it for at least 35 minutes'
      : `${count('grows')} of ${count('grows') + count('flat')} figures grow`;
  return [
    ...tableOf(figures),
    ...violationLines(result),
    ...unfinished.map((reason) => `NOT COMPLETED: ${reason}`),
    ...restarted.map((name) => `ENDED: ${name} was not running at the end, or had been restarted`),
    `soak of ${counted(Math.round(minutes), 'minute')}: ${counted(migrations, 'migration')}, ` +
      `${counted(companies, 'company')}, ${counted(check.violations.length, 'violation')}, ` +
      `${counted(unknown, 'unknown outcome')}, moved by a retry: ${movedByRetry.length}; ${growth}`,
  ];
}
