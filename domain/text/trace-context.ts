/**
 * The context of a trace in W3C's `traceparent` format. Commands, workflows, activities and the service pass it on. It
 * contains only ids and flags, no data of a migration. Source: https://www.w3.org/TR/trace-context/
 */
import { sha256 } from '@noble/hashes/sha2';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils';

/** The name of the header, in HTTP and in Temporal. */
export const TRACE_HEADER = 'traceparent';

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface TraceContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Two hexadecimal digits. The lowest bit is set if the trace is recorded, as in `01`. */
  readonly flags: string;
}

/** Parses a `traceparent`; null if it is not valid, because anyone who can write to the namespace can send any. */
export function parseTraceparent(value: unknown): TraceContext | null {
  const [, traceId, spanId, flags] = (typeof value === 'string' && TRACEPARENT.exec(value)) || [];
  return traceId !== undefined && spanId !== undefined && flags !== undefined ? { traceId, spanId, flags } : null;
}

export function traceparentOf({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-${flags}`;
}

/** The ids of a trace and of its first span. */
export type TraceIds = Pick<TraceContext, 'traceId' | 'spanId'>;

/** Returns the ids of the trace of a slice. The workers that run its workflow and its activity derive the same ids. */
export function sliceIds(runId: string, activityId: string): TraceIds {
  return derivedIds(`slice ${runId} ${activityId}`);
}

/** Returns the id of the span that handles a message. It is not random, because a replay must derive the same id. */
export function messageSpanId(runId: string, number: number): string {
  return derivedIds(`message ${runId} ${number}`).spanId;
}

function derivedIds(text: string): TraceIds {
  const hex = bytesToHex(sha256(utf8ToBytes(text)));
  return { traceId: hex.slice(0, 32), spanId: hex.slice(32, 48) };
}
