/** Histories of real runs, kept so that changed workflows can be shown to go on with them. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const { History } = temporal.api.history.v1;
type IHistory = temporal.api.history.v1.IHistory;

const FOLDER = path.join(__dirname, '../workflows/histories');

/** Who worked, and where a failure arose, is nobody's business afterwards, and no part of a replay. */
const LEFT_OUT = new Set(['identity', 'stackTrace']);

/** Larger ones are floods of messages, more of which show nothing more. */
const LARGEST_BYTES = 1_000_000;

export interface KeptHistory {
  readonly workflowId: string;
  readonly history: IHistory;
}

/** Keeps the histories of every workflow that was begun in this namespace since then: of those of one shape, one. */
export async function keepHistories({ workflow }: Client, since: Date): Promise<void> {
  mkdirSync(FOLDER, { recursive: true });
  const begun = workflow.list({ query: `StartTime >= '${since.toISOString()}'` });
  for await (const { workflowId, runId, type, historySize } of begun) {
    if ((historySize ?? 0) > LARGEST_BYTES) continue;
    const history = withoutTraces(await workflow.getHandle(workflowId, runId).fetchHistory());
    writeFileSync(path.join(FOLDER, `${type}.${shapeOf(history)}.gz`), gzipSync(History.encode(history).finish()));
  }
}

/** The histories that were kept. */
export function* keptHistories(): Generator<KeptHistory> {
  for (const file of readdirSync(FOLDER).sort()) {
    const history = History.decode(gunzipSync(readFileSync(path.join(FOLDER, file))));
    const started = history.events[0]?.workflowExecutionStartedEventAttributes;
    yield { workflowId: started?.workflowId ?? file, history };
  }
}

/** The same for histories in which the same happened in the same order. */
function shapeOf({ events }: IHistory): string {
  const happened = (events ?? []).map((event) => [
    event.eventType,
    event.activityTaskScheduledEventAttributes?.activityType?.name,
    event.workflowExecutionSignaledEventAttributes?.signalName,
  ]);
  return createHash('sha256').update(JSON.stringify(happened)).digest('hex').slice(0, 12);
}

function withoutTraces<T>(part: T): T {
  if (Array.isArray(part)) for (const each of part) withoutTraces(each);
  else if (typeof part === 'object' && part !== null && !(part instanceof Uint8Array))
    for (const [name, value] of Object.entries(part))
      if (LEFT_OUT.has(name)) Reflect.set(part, name, '');
      else withoutTraces(value);
  return part;
}
