/**
 * Preloaded into a process (`node --expose-gc --require`): in each of its threads, collects garbage regularly and adds
 * a {@link HeapEntry} to the file that `TOKENFERRY_HEAP_LOG` names. Temporal runs workflows in a thread of its own.
 */
import { appendFileSync } from 'node:fs';
import { isMainThread, threadId } from 'node:worker_threads';

export interface HeapEntry {
  readonly pid: number;
  /** 0: the main thread. */
  readonly thread: number;
  /** The heap in use after a garbage collection. */
  readonly heapBytes: number;
  /** Memory outside the heap that belongs to JavaScript objects. */
  readonly externalBytes: number;
}

const EVERY_MS = 30_000;
const file = process.env['TOKENFERRY_HEAP_LOG'];

function record(to: string): void {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  const thread = isMainThread ? 0 : threadId;
  const entry: HeapEntry = { pid: process.pid, thread, heapBytes: heapUsed, externalBytes: external };
  appendFileSync(to, `${JSON.stringify(entry)}\n`);
}

if (file !== undefined) setInterval(() => record(file), EVERY_MS).unref();
