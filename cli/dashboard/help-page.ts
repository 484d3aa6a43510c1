/** What the keys do and what the columns say. */
import type { Page } from './page';

const HELP = [
  ['Moving', ''],
  ['↑ ↓  k j', 'select a migration, or on its page an exception'],
  ['PgUp PgDn Home End', 'the same in larger steps'],
  ['Enter →', 'open the selected migration; Esc or ← goes back'],
  ['', ''],
  ['Deciding: each asks for role, name and reason, then for a last yes; Esc is no', ''],
  ['a', 'approve the open step; what there is to approve is shown'],
  ['x', 'reject it, with a reason'],
  ['p', 'pause: no further company is started; or resume'],
  ['r', 'try companies again that were not moved'],
  ['', ''],
  ['Columns', ''],
  ['Waits for', 'who has to act, since when; held up: nothing gets through'],
  ['/min', 'companies moved in a minute, over the last ten'],
  ['Ends', 'when the rest is moved at that rate, in its windows'],
  ['Exc.', 'companies that were not moved, or cannot be as they are'],
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
