import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createTemporaryFolder } from '../../stack/folders';
import { createMarker, encodingsOf, findMarkers } from './leak-search';

let folder: string;
beforeAll(() => {
  folder = createTemporaryFolder();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('finds a marker in every encoding, including inside other text', () => {
  const file = path.join(folder, 'hidden');
  const text = createMarker('content');
  for (const { name, form } of encodingsOf(text)) {
    writeFileSync(file, Buffer.concat([Buffer.from('before'), Buffer.from(form), Buffer.from('after')]));
    expect(findMarkers('content', [file])).toContain(`${file}: ${text} ${name}`);
  }
  for (const before of ['', 'a', 'ab', 'abc']) {
    for (const encoding of ['base64', 'base64url', 'hex', 'utf16le'] as const) {
      const long = Buffer.from(`${before}${text} and more`, encoding === 'utf16le' ? encoding : 'utf8');
      writeFileSync(file, encoding === 'utf16le' ? long : long.toString(encoding));
      expect(findMarkers('content', [file])).not.toEqual([]);
    }
  }
});
