/** Screens of the dashboard, as the tests compare them. */
import type { TerminalSession } from '../terminal/pseudo-terminal';

/** Returns the screen with times and durations replaced. */
export function withoutTimes(screen: TerminalSession): readonly string[] {
  return screen.lines().map((line) =>
    line
      .replace(/\d\d:\d\d:\d\d$/, 'hh:mm:ss')
      .replace(/\b(support|client|both|paused) \d+[smh] */g, '$1 ... ')
      .replace(/\b\d\d:\d\d\b/g, 'hh:mm')
      .replace(/\(\d+[smh]\)/g, '(...)'),
  );
}

export const blank = (lines: number): readonly string[] => Array.from({ length: lines }, () => '');
