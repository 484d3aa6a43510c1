/** `npm run docs`: writes the pages of docs/ that are generated from the code. A test fails if one is out of date. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { cliPage } from '../cli/reference/cli-page';
import { jsonPage } from '../cli/reference/json-page';

const docs = path.join(__dirname, '..', '..', 'docs');

const PAGES = { 'cli.md': cliPage(), 'json.md': jsonPage() };

for (const [file, page] of Object.entries(PAGES)) {
  writeFileSync(path.join(docs, file), page);
  process.stdout.write(`docs/${file}\n`);
}
