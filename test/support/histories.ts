/** Histories of real runs, kept so that changed workflows can be shown to go on with them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const { History } = temporal.api.history.v1;
const FOLDER = path.join(__dirname, '../migration/histories');

/** Who worked, and where a failure arose, is nobody's business afterwards, and no part of a replay. */
const LEFT_OUT = new Set(['identity', 'stackTrace']);

export interface KeptHistory {
  readonly workflowId: string;
  readonly history: temporal.api.history.v1.IHistory;
}

/** Keeps the histories of every migration and batch run that was begun in this namespace since then. */
export async function keepHistories({ workflow }: Client, since: Date): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  for await (const { workflowId, runId } of workflow.list({ query: `StartTime >= '${since.toISOString()}'` })) {
    const history = withoutTraces(await workflow.getHandle(workflowId, runId).fetchHistory());
    writeFileSync(path.join(FOLDER, `${workflowId}.${runId}.gz`), gzipSync(History.encode(history).finish()));
  }
}

/** The histories that were kept. */
export function* keptHistories(): Generator<KeptHistory> {
  for (const file of readdirSync(FOLDER).sort()) {
    const history = History.decode(gunzipSync(readFileSync(path.join(FOLDER, file))));
    yield { workflowId: file.replace(/\.[-\da-f]{36}\.gz$/, ''), history };
  }
}

function withoutTraces<T>(part: T): T {
  if (Array.isArray(part)) for (const each of part) withoutTraces(each);
  else if (typeof part === 'object' && part !== null && !(part instanceof Uint8Array))
    for (const [name, value] of Object.entries(part))
      if (LEFT_OUT.has(name)) Reflect.set(part, name, '');
      else withoutTraces(value);
  return part;
}
