/** How every process of ours logs: whatever it is handed, what is secret is not written. */
import { types } from 'node:util';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import { withoutCredentials } from './masking';

export interface LogOptions {
  readonly level?: string;
  /** A file, which only its owner may read; 1 or 2 for the process's own output; or a stream. */
  readonly to: string | 1 | 2 | DestinationStream;
}

/**
 * A logger for one process. What it writes goes by what something is, not by where it stands: a `Secret` is `[secret]`,
 * an error is its name, message, stack and code, with those of its causes (errors of libraries hold requests, answers
 * and rows of the database), bytes are their number. What looks like a credential in any text is masked in the line.
 */
export function createLog({ level = 'info', to }: LogOptions): Logger {
  const stream = typeof to === 'string' ? destination({ dest: to, mkdir: true, mode: 0o600 }) : to;
  return pino(
    {
      level,
      formatters: { log: printedFields },
      // Its own would take what is printed here for an error, and print that anew.
      serializers: { err: (printedAlready: unknown) => printedAlready },
      hooks: { streamWrite: withoutCredentials },
    },
    typeof stream === 'number' ? destination(stream) : stream,
  );
}

/** As deep as pino itself prints. */
const DEEPEST = 5;

function printedFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, printed(value, 1)]));
}

/** What has a printed form of its own (a `Secret`, a date, a request that has a serializer) is left to it. */
function printed(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST) return '...';
  if (types.isNativeError(value)) return printedError(value, depth);
  if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const inside = (each: unknown) => printed(each, depth + 1);
  if (types.isMap(value) || types.isSet(value) || Array.isArray(value)) return [...value].map(inside);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, inside(each)]));
}

function printedError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  const errors: unknown = 'errors' in error ? error.errors : undefined;
  return {
    type: name,
    message,
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: printed(cause, depth + 1) }),
    ...(Array.isArray(errors) && { errors: printed(errors, depth + 1) }),
  };
}

/** Of no class. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
