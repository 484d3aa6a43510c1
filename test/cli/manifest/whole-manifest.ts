import { readCredentials, readManifest } from '../../../cli/manifest';

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** A manifest as a whole: what commands never hold. */
export async function wholeManifest(...asked: Parameters<typeof readManifest>) {
  const { findings, rows, credentials, ...manifest } = await readManifest(...asked);
  return { ...manifest, findings: findings.listed, rows: await all(rows), credentials: await all(credentials) };
}

export async function wholeCredentials(...asked: Parameters<typeof readCredentials>) {
  const { findings, credentials } = await readCredentials(...asked);
  return { findings: findings.listed, credentials: await all(credentials) };
}
