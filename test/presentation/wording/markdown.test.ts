import { escapedMarkdown, markdownLink } from '../../../presentation/wording/markdown';

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
])('escapes %j', (text, expected) => {
  expect(escapedMarkdown(text)).toBe(expected);
});

test('keeps a plain web address as a link, and escapes any other text', () => {
  expect(markdownLink('https://link.example/1?a=b&c=d_e')).toBe('https://link.example/1?a=b&c=d_e');
  expect(markdownLink('https://link.example/1) [Go](https://e.io')).toContain('\\[Go\\]');
  expect(markdownLink('javascript:alert(1)')).toBe('javascript:alert(1)');
});
