/** Checks .dockerignore without a container engine. `npm run images:test` builds the images. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');

/** The folders with TypeScript that the images do not need, because the product never imports them. */
const NOT_IN_IMAGES = ['bench', 'chaos', 'test'];
/** Everything else that the Dockerfile copies, or that the build reads. */
const OTHER_FILES = ['bin', 'package-lock.json', 'package.json', 'tsconfig.json'];

test('the images are built from every folder of the product', () => {
  const { include } = JSON.parse(readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8')) as {
    readonly include: readonly string[];
  };
  const folders = include.filter((folder) => !NOT_IN_IMAGES.includes(folder));
  const ignoreFile = readFileSync(path.join(ROOT, '.dockerignore'), 'utf8');
  const kept = [...ignoreFile.matchAll(/^!(.+)$/gm)].map(([, name]) => name);
  expect(kept).toEqual([...folders, ...OTHER_FILES].sort());
});
