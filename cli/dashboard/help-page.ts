/** Explains the keys and the columns. */
import type { Page } from './state';

const HELP = [
  ['Navigating', ''],
  ['↑ ↓  k j', 'select a migration, or an exception on its page'],
  ['PgUp PgDn Home End', 'select in larger steps'],
  ['Enter →', 'open the migration; on its page: read texts in full'],
  ['Esc ←', 'go back'],
  ['', ''],
  ['Deciding: you enter role, name and reason, then confirm; Esc cancels', ''],
  ['a', 'approve the open step, after reviewing it'],
  ['x', 'reject the open step, with a reason'],
  ['p', 'pause or resume; while paused, no more moves begin'],
  ['r', 'retry companies that were not moved'],
  ['', ''],
  ['Columns', ''],
  ['Waiting for', 'who must act, time waited; "on hold": retries by itself'],
  ['Moved', 'companies that have moved, out of all companies'],
  ['/min', 'companies moved per minute in the last ten minutes'],
  ['Ends', 'expected end; below the list: when moves continue'],
  ['Exc.', 'exceptions: number of companies with problems'],
] as const;

const KEY_WIDTH = 20;

export function helpPage(): Page {
  return {
    title: [{ text: 'Ferry dashboard', style: 'bold' }, '  help'],
    lines: HELP.map(([key, does]) =>
      does === '' ? [{ text: key, style: 'bold' }] : [`  ${key.padEnd(KEY_WIDTH)}${does}`],
    ),
    keys: [
      ['any key', 'back'],
      ['q', 'quit'],
    ],
  };
}
