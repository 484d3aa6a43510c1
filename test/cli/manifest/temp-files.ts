import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders: string[] = [];

/** Writes a file into a new temporary folder and returns its path. */
export function tempFile(content: string | Buffer, name = 'companies.csv'): string {
  const folder = mkdtempSync(join(tmpdir(), 'ferry manifest '));
  folders.push(folder);
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

/** Removes the temporary folders. Call it in `afterAll`. */
export function removeTempFiles(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}
