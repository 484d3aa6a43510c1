/** Explains the keys and the columns. */
import type { Page } from './state';

const HELP = [
  ['Moving', ''],
  ['↑ ↓  k j', 'select a migration, or on its page an exception'],
  ['PgUp PgDn Home End', 'select in larger steps'],
  ['Enter →', 'open the selected migration; Esc or ← goes back'],
  ['', ''],
  ['Deciding: you enter role, name and reason, then confirm; Esc cancels', ''],
  ['a', 'approve the open step; it is shown first'],
  ['x', 'reject it, with a reason'],
  ['p', 'pause (no further company is started) or resume'],
  ['r', 'retry companies that were not moved'],
  ['', ''],
  ['Columns', ''],
  ['Waiting for', 'who has to act, and for how long; on hold: an outage'],
  ['/min', 'companies moved per minute, over the last ten minutes'],
  ['Ends', 'when the rest will be moved at that rate, in its windows'],
  ['Exc.', 'companies that were not moved, or need a correction first'],
] as const;

const KEY_WIDTH = 20;

export function helpPage(): Page {
  return {
    title: [{ text: 'Ferry desk', style: 'bold' }, '  help'],
    lines: HELP.map(([key, does]) =>
      does === '' ? [{ text: key, style: 'bold' }] : [`  ${key.padEnd(KEY_WIDTH)}${does}`],
    ),
    keys: [
      ['any key', 'back'],
      ['q', 'quit'],
    ],
  };
}
