import { EventEmitter } from 'node:events';
import { openLiveBlock } from '../../../cli/terminal/live-block';
import type { TerminalStream } from '../../../cli/terminal/terminal';

/** A terminal of this size, and what was written to it. */
function terminal(rows: number) {
  const written: string[] = [];
  const stream = Object.assign(new EventEmitter(), {
    ...{ isTTY: true, columns: 80, rows },
    write: (text: string) => written.push(text) > 0,
  });
  return { stream: stream as unknown as TerminalStream, written };
}

test('a small terminal shows the last line, which says whether the drawing is up to date', () => {
  const { stream, written } = terminal(3);
  const block = openLiveBlock(stream);
  block.draw([['one'], ['two'], ['three'], ['four'], ['read at 22:00; retrying automatically']]);
  const drawn = written.at(-1) ?? '';
  for (const line of ['one', 'two', 'read at 22:00; retrying automatically']) expect(drawn).toContain(line);
  expect(drawn).not.toContain('three');
  block.close();
  // The last drawing stays on the normal screen completely.
  expect(written.at(-1)).toContain('three\nfour\n');
});
