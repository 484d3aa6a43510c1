/**
 * Saves and loads histories of real runs. A test replays them to prove that changed workflows are compatible with
 * earlier runs.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Client } from '@temporalio/client';
import { temporal } from '@temporalio/proto';

const { History } = temporal.api.history.v1;
type IHistory = temporal.api.history.v1.IHistory;

const FOLDER = path.join(__dirname, '../../workflows/histories');

/** The fields to clear. They reveal machines and paths, and a replay does not need them. */
const CLEARED_FIELDS = new Set(['identity', 'stackTrace']);

/** Larger histories are not saved: they contain floods of messages, and saving more of them would prove nothing new. */
const MAX_BYTES = 1_000_000;

/**
 * Test files whose histories cannot be replayed, because they use other payload keys, hostile messages or changed
 * workflow code.
 */
const NOT_SAVED = ['missing-keys', 'message.fuzz', 'command-line.fuzz', 'foreign-workflows', 'reset', 'versions'];

export interface SavedHistory {
  readonly workflowId: string;
  readonly history: IHistory;
}

/**
 * Saves the histories of the workflows that have started in this namespace since the given time, in a folder for each
 * test file and workflow type. Skips a history if any test has saved one of the same type and shape: see `shapeOf`.
 */
export async function saveHistories({ workflow }: Client, since: Date): Promise<void> {
  const testName = path.basename(expect.getState().testPath ?? 'unknown', '.test.ts');
  if (NOT_SAVED.includes(testName)) return;
  const executions = workflow.list({ query: `StartTime >= '${since.toISOString()}'` });
  for await (const { workflowId, runId, type, historySize } of executions) {
    if ((historySize ?? 0) > MAX_BYTES) continue;
    const history = withClearedFields(await workflow.getHandle(workflowId, runId).fetchHistory());
    const file = path.join(type, `${shapeOf(history)}.gz`);
    if (savedFiles().some((saved) => saved.endsWith(path.sep + file))) continue;
    mkdirSync(path.join(FOLDER, testName, type), { recursive: true });
    writeFileSync(path.join(FOLDER, testName, file), gzipSync(History.encode(history).finish()));
  }
}

/** Loads the saved histories. */
export function* loadHistories(): Generator<SavedHistory> {
  for (const file of [...savedFiles()].sort()) {
    const history = History.decode(gunzipSync(readFileSync(file)));
    const started = history.events[0]?.workflowExecutionStartedEventAttributes;
    yield { workflowId: started?.workflowId ?? file, history };
  }
}

/** Returns the paths of all saved histories. */
function savedFiles(): readonly string[] {
  return readdirSync(FOLDER, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.gz'))
    .map((file) => path.join(FOLDER, file));
}

/** Returns a hash that is equal for histories with the same events, activities and signals in the same order. */
function shapeOf({ events }: IHistory): string {
  const happened = (events ?? []).map((event) => [
    event.eventType,
    event.activityTaskScheduledEventAttributes?.activityType?.name,
    event.workflowExecutionSignaledEventAttributes?.signalName,
  ]);
  return createHash('sha256').update(JSON.stringify(happened)).digest('hex').slice(0, 12);
}

function withClearedFields<T>(part: T): T {
  if (Array.isArray(part)) for (const each of part) withClearedFields(each);
  else if (typeof part === 'object' && part !== null && !(part instanceof Uint8Array))
    for (const [name, value] of Object.entries(part))
      if (CLEARED_FIELDS.has(name)) Reflect.set(part, name, '');
      else withClearedFields(value);
  return part;
}
