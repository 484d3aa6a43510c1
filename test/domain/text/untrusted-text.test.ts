import {
  escapedUnsafeCharacters,
  hasUnsafeCharacters,
  withoutUnsafeCharacters,
  withoutUnsafeCharactersInMultilineText,
} from '../../../domain/text/untrusted-text';

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
