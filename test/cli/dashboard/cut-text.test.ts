/** Tests how the text of a dialog is shortened on a low screen. */
import { printCut } from '../../../cli/dashboard/cut-text';
import type { Terminal } from '../../../cli/terminal/terminal';
import { capturedStream } from '../captured-terminal';

test.each([
  [3, '… (1 more line; to read them all, run in another terminal: ferry show acme.xero)'],
  [4, '… (2 more lines; to read them all, run in another terminal: ferry show acme.xero)'],
])('of %d lines, a screen with 12 rows shows two, and says how many are missing', (count, note) => {
  const stdout = Object.assign(capturedStream(), { rows: 12 });
  const lines = Array.from({ length: count }, (_, index) => `line ${index + 1}`);
  printCut({ stdout } as unknown as Terminal, 'ferry show acme.xero', (output) => {
    for (const line of lines) output.line(line);
  });
  expect(stdout.text).toBe(`line 1\nline 2\n${note}\n`);
});

test.each([1, 5, 10, 11, 12])('a text of two lines is shown in full on a screen with %d rows', (rows) => {
  const stdout = Object.assign(capturedStream(), { rows });
  printCut({ stdout } as unknown as Terminal, 'ferry show acme.xero', (output) => {
    output.line('line 1');
    output.line('line 2');
  });
  expect(stdout.text).toBe('line 1\nline 2\n');
});
