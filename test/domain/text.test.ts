/** Tests the functions for sentences, streams and text that others wrote. */
import { nearest } from '../../domain/text/nearest';
import { counted, duration, hoursText, roughDuration } from '../../domain/text/sentences';
import { inChunks } from '../../domain/text/streams';
import {
  escapedMarkdown,
  escapedUnsafeCharacters,
  hasUnsafeCharacters,
  markdownLink,
  withoutUnsafeCharacters,
  withoutUnsafeCharactersInMultilineText,
} from '../../domain/text/untrusted-text';

test.each([
  [0, 'company', '0 companies'],
  [1, 'company', '1 company'],
  [2, 'token family', '2 token families'],
  [1_203, 'line', '1,203 lines'],
  [1.5, 'hour', '1.5 hours'],
])('the count %d of "%s" is formatted as %s', (count, noun, text) => {
  expect(counted(count, noun)).toBe(text);
});

test('a duration whose beginning is not exact is given in full minutes', () => {
  expect([10_000, 67_000, 102_000, 5_400_000].map(roughDuration)).toEqual([
    'less than a minute',
    'about 1 min',
    'about 2 min',
    'about 1.5 h',
  ]);
});

test('a number of hours is rounded up to full minutes or to tenths of an hour, and no full minute becomes two', () => {
  expect([10 / 3_600, 31 / 60, 62.5 / 60, 124].map(hoursText)).toEqual([
    '1 minute',
    '31 minutes',
    '1.1 hours',
    '124 hours',
  ]);
});

test.each([
  [0, '0 s'],
  [44_100, '45 s'],
  [89_999, '90 s'],
  [90_000, '2 min'],
  [5_399_999, '90 min'],
  [5_400_000, '1.5 h'],
  [360_000_000, '100 h'],
])('a duration of %d ms is formatted as %s', (ms, words) => {
  expect(duration(ms)).toBe(words);
});

async function all<T>(chunks: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const chunk of chunks) list.push(chunk);
  return list;
}

test.each([
  [[], []],
  [[1], [[1]]],
  [[1, 2], [[1, 2]]],
  [
    [1, 2, 3, 4, 5],
    [[1, 2], [3, 4], [5]],
  ],
])('%j is split into chunks of two: %j', async (items, chunks) =>
  expect(await all(inChunks(items, 2))).toEqual(chunks),
);

test('a stream is read one chunk at a time', async () => {
  let taken = 0;
  function* endless(): Generator<number> {
    for (;;) yield (taken += 1);
  }
  const chunks = inChunks(endless(), 100);
  await chunks.next();
  expect(taken).toBe(100);
  await chunks.next();
  expect(taken).toBe(200);
});

const UNSAFE = [
  ...['\0', '\u001b', '\u007f', '\u009b', '\u2028', '\u2029', '\u061c', '\u200e', '\u200f', '\u202a', '\u202e'],
  ...['\u2066', '\u2069', '\u206f', '\ufff9', '\u{e0041}'],
];

test.each(UNSAFE)('%j is found and replaced', (character) => {
  expect(hasUnsafeCharacters(`a${character}b`)).toBe(true);
  expect(withoutUnsafeCharacters(`a${character}${character}b`)).toBe('a b');
  expect(withoutUnsafeCharactersInMultilineText(`a${character}b\n`)).toBe('a b\n');
});

test.each(['Åsa & Söhne', 'שלום', 'نرم‌افزار', '👩‍👧', '会社'])('%j is unchanged', (text) => {
  expect(hasUnsafeCharacters(text)).toBe(false);
  expect(withoutUnsafeCharacters(text)).toBe(text);
});

test('JSON with escapes has the same value', () => {
  const value = { name: `a${UNSAFE.join('')}b`, lines: 'one\ntwo' };
  const json = escapedUnsafeCharacters(JSON.stringify(value, null, 2));
  expect(JSON.parse(json)).toEqual(value);
  expect(hasUnsafeCharacters(json.replaceAll('\n', ''))).toBe(false);
});

test.each([
  ['[Go](http://e.io)', '\\[Go\\](http\\://e.io)'],
  ['![x](https://e.io/x.png)', '!\\[x\\](https\\://e.io/x.png)'],
  ['see www.e.io', 'see www\\.e.io'],
  [
    '<img src=x> & `code` *b* _i_ ~~s~~ | cell',
    '\\<img src=x\\> \\& \\`code\\` \\*b\\* \\_i\\_ \\~\\~s\\~\\~ \\| cell',
  ],
  ['a\\[b', 'a\\\\\\[b'],
  ['one\ntwo\u202ethree\u2028four', 'one two three four'],
  ['Sam, +44 20 7946 0018 (09:00-17:00)', 'Sam, +44 20 7946 0018 (09:00-17:00)'],
])('%j is escaped for Markdown', (text, expected) => {
  expect(escapedMarkdown(text)).toBe(expected);
});

test('Markdown shows a plain web address as a link, and any other text is escaped', () => {
  expect(markdownLink('https://link.example/1?a=b&c=d_e')).toBe('https://link.example/1?a=b&c=d_e');
  expect(markdownLink('https://link.example/1) [Go](https://e.io')).toContain('\\[Go\\]');
  expect(markdownLink('javascript:alert(1)')).toBe('javascript:alert(1)');
});

test.each([
  ['Shedule', ['schedule'], 'schedule'],
  ['shedul', ['schedule'], 'schedule'],
  ['shedu', ['schedule'], undefined],
  ['wawes', ['waves'], 'waves'],
  ['wewes', ['waves'], 'waves'],
  ['wewe', ['waves'], undefined],
  ['stop', ['shop'], 'shop'],
  ['show', ['stop'], undefined],
  ['it', ['id'], 'id'],
  ['x', ['y'], undefined],
  ['approvers', ['approve', 'approver'], 'approver'],
  ['step', ['stop', 'stew'], 'stop'],
])('the word nearest to %s in %j is %s', (word, candidates, expected) => {
  expect(nearest(word, candidates)).toBe(expected);
});
