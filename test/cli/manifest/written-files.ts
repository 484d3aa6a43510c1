import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** Writes a file as a client would hand it over, in a folder of its own. */
export function written(content: string | Buffer, name = 'companies.csv'): string {
  const folder = mkdtempSync(join(tmpdir(), 'ferry manifest '));
  folders.push(folder);
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** To be called after all tests of a file. */
export function removeWrittenFiles(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}
