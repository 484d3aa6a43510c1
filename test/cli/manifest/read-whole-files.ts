import { readCredentials, readManifest } from '../../../cli/manifest';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** Reads a manifest and keeps all of its rows in memory. Commands never do this. */
export async function readWholeManifest(...args: Parameters<typeof readManifest>) {
  const { findings, rows, credentials, ...manifest } = await readManifest(...args);
  return { ...manifest, findings: findings.listed, rows: await all(rows), credentials: await all(credentials) };
}

export async function readWholeCredentials(...args: Parameters<typeof readCredentials>) {
  const { findings, credentials } = await readCredentials(...args);
  return { findings: findings.listed, credentials: await all(credentials) };
}
