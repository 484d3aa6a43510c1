/** Checks that the targets of relative links and the paths in backquotes exist, in docs/ and the pages listed below. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.join(__dirname, '../..');
/** Paths that a build or a user creates. */
const NOT_IN_THE_REPOSITORY = /^dist\/|^my-manifest\//;

const PAGES = [
  ...['README.md', 'CONTRIBUTING.md', 'examples/README.md'],
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.posix.join('docs', file)),
];
const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'node_modules')
  .map(({ name }) => name);

const read = (page: string): string => readFileSync(path.join(ROOT, page), 'utf8');
const blocksOf = (text: string): readonly string[] => text.match(/^```[^]*?^```$/gm) ?? [];
const withoutBlocks = (text: string): string => text.replaceAll(/^```[^]*?^```$/gm, '');

/** Returns the anchors that GitHub generates for the headings of a page. */
function anchorsOf(page: string): ReadonlySet<string> {
  const headings = [...withoutBlocks(read(page)).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) => title);
  return new Set(
    headings.map((title) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test.each(PAGES)('every relative link in %s points to an existing file and heading', (page) => {
  const links = [...withoutBlocks(read(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const broken = links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? page : path.posix.join(path.posix.dirname(page), file);
    if (!existsSync(path.join(ROOT, target))) return true;
    return anchor !== undefined && !(target.endsWith('.md') && anchorsOf(target).has(anchor));
  });
  expect(broken).toEqual([]);
});

test.each(PAGES)('every path in backquotes in %s exists', (page) => {
  const words = [...withoutBlocks(read(page)).matchAll(/`([^`\s]+)`/g)].map(([, word = '']) => word);
  const paths = words.filter((word) => {
    if (!/^[\w.-]+(\/[\w.@-]+)*\/?$/.test(word) || NOT_IN_THE_REPOSITORY.test(word)) return false;
    return FOLDERS.some((folder) => word.startsWith(`${folder}/`)) || /\/$|\/.*\.(?:ts|mjs|cjs|md)$/.test(word);
  });
  expect(paths.filter((word) => !existsSync(path.join(ROOT, word)))).toEqual([]);
});

test('if docs/architecture.md links a file after a name, the file contains that name', () => {
  const named = [...read('docs/architecture.md').matchAll(/`(\w+)` (?:in )?\(?\[[^\]]+\]\(\.\.\/([^)]+)\)/g)];
  expect(named.length).toBeGreaterThan(3);
  const missing = named.filter(([, name = '', file = '']) => !read(file).includes(name));
  expect(missing.map(([text]) => text)).toEqual([]);
});

test.each(PAGES)('no code block runs ferry with npx, which can download another package: %s', (page) => {
  expect(blocksOf(read(page)).filter((block) => /\bnpx (-\S+ )*ferry\b/.test(block))).toEqual([]);
});
