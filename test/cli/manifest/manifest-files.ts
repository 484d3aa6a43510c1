/** Writes manifests into temporary folders, and reads whole manifests into memory. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readCredentials, readManifest } from '../../../cli/manifest';

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

/** Reads a manifest and collects all of its rows and credentials, so that a test can compare them. */
export async function readWholeManifest(...args: Parameters<typeof readManifest>) {
  const { findings, rows, credentials, ...manifest } = await readManifest(...args);
  return { ...manifest, findings: findings.listed, rows: await all(rows), credentials: await all(credentials) };
}

export async function readWholeCredentials(...args: Parameters<typeof readCredentials>) {
  const { findings, credentials } = await readCredentials(...args);
  return { findings: findings.listed, credentials: await all(credentials) };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}
