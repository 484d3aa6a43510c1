import { Readable, Writable } from 'node:stream';
import { openProgressBar } from '../../../cli/terminal/progress-bar';
import { Output } from '../../../cli/terminal/output';
import { writeCsv } from '../../../cli/shared/results';
import { localTime } from '../../../cli/terminal/times';
import { until } from '../../support/async';
import { capturedStream } from '../captured-terminal';

describe('a progress bar', () => {
  test('is drawn on a terminal, and restores the cursor when it is closed', () => {
    const stream = capturedStream(80);
    const bar = openProgressBar(stream);
    bar.update(5, 25, 'moving');
    bar.update(25, 25, 'moved');
    bar.close();
    expect(stream.text).toContain('25/25  moved');
    expect(stream.text).toContain('█');
    expect(stream.text.lastIndexOf('\u001b[?25h')).toBeGreaterThan(stream.text.lastIndexOf('\u001b[?25l'));
  });

  test('writes a line for each new note and at the end if there is no terminal', () => {
    const stream = capturedStream();
    const bar = openProgressBar(stream);
    bar.update(5, 25, 'moving');
    bar.update(6, 25, 'moving');
    bar.update(7, 25, 'looking');
    bar.update(8, 25, 'looking');
    bar.close();
    bar.close();
    expect(stream.text).toBe('5/25  moving\n7/25  looking\n8/25  looking\n');
  });
});

test.each([
  ['2026-11-21T13:05:00Z', 'Europe/Berlin', 'Sat 21 Nov 2026, 14:05 UTC+01:00'],
  ['2026-07-01T23:30:00.000Z', 'Europe/London', 'Thu 2 Jul 2026, 00:30 UTC+01:00'],
  [new Date('2026-07-01T23:30:00Z'), 'UTC', 'Wed 1 Jul 2026, 23:30 UTC'],
])('localTime formats %s in the time zone %s', (moment, zone, expected) => {
  expect(localTime(moment, zone)).toBe(expected);
});

test('a table prints no control characters of its cells', () => {
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  new Output({ stdout, stderr }, false).table(
    [{ title: 'Name' }],
    [['Ac\u009b31mme'], ['Bo\u0007lt'], ['\u001b[2JCut']],
  );
  expect(stdout.text).toBe('Name\nAcme\nBo lt\nCut\n');
});

test('lines, failures and JSON contain nothing that reorders text or moves the cursor', async () => {
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  const foreign = 'a\u202egnp.exe\u2066 \u001b[2J\rb';
  const words = new Output({ stdout, stderr }, false);
  words.line(`${words.styled('bold', 'Acme')} ${foreign}`);
  words.fail(foreign, foreign);
  const json = new Output({ stdout, stderr }, true);
  json.show({ json: { schema: 'ferry.test/1', foreign }, print: () => undefined });
  await json.streamJson({ schema: 'ferry.test/1' }, 'list', Readable.from([{ foreign }]));
  expect(`${stdout.text}${stderr.text}`.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
  expect(stdout.text).toContain('\\u202egnp.exe');
});

test('no CSV cell can be run as a formula or reorder text', async () => {
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  const cells = ['=1', '＝1', '＋1', '－1', '＠1', '−1', '﹦1', ' =1', '\u202e=1', 'a\u202eb', 'Acme = 1'];
  await writeCsv(new Output({ stdout, stderr }, false), Readable.from(cells.map((name) => ({ name }))));
  expect(stdout.text.trimEnd().split('\n')).toEqual([
    ...['name', "'=1", "'＝1", "'＋1", "'－1", "'＠1", "'−1", "'﹦1", "' =1", "' =1", 'a b', 'Acme = 1'],
  ]);
});

test('a table never shortens an unbroken column, even in a narrow terminal', () => {
  const [stdout, stderr] = [capturedStream(40), capturedStream()];
  const id = 'acme-and-sons.quickbooks-online.again';
  new Output({ stdout, stderr }, false).table(
    [{ title: 'Migration', unbroken: true }, { title: 'What' }],
    [[id, 'a sentence that can be shortened']],
  );
  expect(stdout.text).toContain(id);
});

test('a failure is printed as one line', () => {
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  new Output({ stdout, stderr }, false).fail('there is no migration acme.wave', 'list all migrations with: ferry list');
  expect(stdout.text).toBe('');
  expect(stderr.text).toBe('ferry: there is no migration acme.wave; list all migrations with: ferry list\n');
});

describe('a streamed result', () => {
  async function* numbered(count: number, onItem: () => void = () => undefined): AsyncGenerator<{ number: number }> {
    for (let number = 1; number <= count; number += 1) {
      onItem();
      yield { number };
    }
  }

  test.each([0, 1, 3])('is one JSON value with a list of %i items', async (count) => {
    const [stdout, stderr] = [capturedStream(), capturedStream()];
    await new Output({ stdout, stderr }, true).streamJson(
      { schema: 'ferry.test/1', of: 'all' },
      'list',
      numbered(count),
    );
    const list = Array.from({ length: count }, (_, index) => ({ number: index + 1 }));
    expect(JSON.parse(stdout.text)).toEqual({ schema: 'ferry.test/1', of: 'all', list });
  });

  test('is produced only as fast as it is consumed', async () => {
    let produced = 0;
    const pendingWrites: (() => void)[] = [];
    const stdout = new Writable({
      highWaterMark: 1,
      write: (_piece, _encoding, done) => void pendingWrites.push(done),
    });
    const output = new Output({ stdout, stderr: capturedStream() }, true);
    const written = output.streamJson(
      { schema: 'ferry.test/1', of: 'all' },
      'list',
      numbered(1_000, () => (produced += 1)),
    );
    await until(async () => pendingWrites.length > 0);
    expect(produced).toBe(0);
    for (let line = 1; line <= 3; line += 1) {
      pendingWrites.shift()?.();
      await until(async () => pendingWrites.length > 0);
    }
    expect(produced).toBeLessThan(6);
    const rest = setInterval(() => pendingWrites.shift()?.(), 0);
    await written.finally(() => clearInterval(rest));
    expect(produced).toBe(1_000);
  });

  test('is a table with one header and aligned columns, whose rows are read in parts', async () => {
    let produced = 0;
    const pendingWrites: (() => void)[] = [];
    const pieces: string[] = [];
    const stdout = new Writable({
      highWaterMark: 1,
      write: (piece: Buffer, _encoding, done) => {
        pieces.push(piece.toString());
        pendingWrites.push(done);
      },
    });
    async function* rows() {
      for await (const { number } of numbered(2_500, () => (produced += 1))) yield [`row ${number}`, 'of many'];
    }
    const columns = [{ title: 'Which' }, { title: 'What' }];
    const written = new Output({ stdout, stderr: capturedStream() }, false).streamTable(columns, rows());
    await until(async () => pendingWrites.length > 0);
    expect(produced).toBe(1_000);
    const rest = setInterval(() => pendingWrites.shift()?.(), 0);
    await written.finally(() => clearInterval(rest));
    const lines = pieces.join('').trimEnd().split('\n');
    expect(lines).toHaveLength(2_501);
    expect([lines[0], lines[1], lines[2_500]]).toEqual(['Which     What', 'row 1     of many', 'row 2500  of many']);
  });

  test('is only a header if the table has no rows', async () => {
    const [stdout, stderr] = [capturedStream(), capturedStream()];
    await new Output({ stdout, stderr }, false).streamTable([{ title: 'Which' }], Readable.from([]));
    expect(stdout.text).toBe('Which\n');
  });
});
