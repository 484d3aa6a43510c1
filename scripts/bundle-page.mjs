/**
 * Bundles the portal's page: `portal/page` becomes `dist/portal/page/index.html` and files in
 * `dist/portal/page/assets`, whose names contain a hash of their content, so that browsers may keep them forever. A
 * module that is imported with `import()` becomes a separate file, which the browser loads when needed.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** @param root the folder of the repository */
export async function bundlePage(root) {
  const source = path.join(root, 'portal', 'page');
  const target = path.join(root, 'dist', 'portal', 'page');
  const assets = path.join(target, 'assets');
  const { build } = await import('esbuild');
  const { outputFiles, metafile } = await build({
    entryPoints: [path.join(source, 'main.ts'), path.join(source, 'style.css')],
    bundle: true,
    write: false,
    metafile: true,
    splitting: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    outdir: assets,
    absWorkingDir: root,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    legalComments: 'none',
    logLevel: 'error',
  });
  mkdirSync(assets, { recursive: true });
  for (const { path: file, contents } of outputFiles) writeFileSync(file, contents);

  const outputOf = (entry) =>
    Object.entries(metafile.outputs).find(([, { entryPoint }]) => entryPoint === `portal/page/${entry}`);
  const nameOf = (entry) => path.basename(outputOf(entry)[0]);
  // Without these links, the browser would learn of the files only after reading the script.
  const preloads = outputOf('main.ts')[1]
    .imports.filter(({ kind }) => kind === 'import-statement')
    .map(({ path: file }) => `<link rel="modulepreload" href="/assets/${path.basename(file)}" />`);
  const html = readFileSync(path.join(source, 'index.html'), 'utf8')
    .replace('style.css', `/assets/${nameOf('style.css')}`)
    .replace('main.ts', `/assets/${nameOf('main.ts')}`)
    .replace('</head>', `${preloads.join('')}</head>`);
  const page = path.join(target, 'index.html');
  writeFileSync(`${page}.${process.pid}`, html);
  renameSync(`${page}.${process.pid}`, page);

  // Removes the previous page's files, because nothing refers to them now.
  const current = new Set(outputFiles.map(({ path: file }) => path.basename(file)));
  for (const file of readdirSync(assets)) if (!current.has(file)) rmSync(path.join(assets, file), { force: true });
}
