/**
 * Creates the loggers of all processes. They remove secrets from all fields and messages before a line is written.
 *
 * Values are handled by type, not by field name. A `Secret` prints as `[secret]`, and binary data prints as its length.
 * An error is reduced to its name, message, advice, stack, code and causes, because the errors of libraries contain
 * requests, responses and database rows. Finally, credentials in the whole line are masked, because a message can quote
 * one.
 */
import { types } from 'node:util';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import { redactCredentials } from './redaction';

export interface LogOptions {
  /** One of pino's levels. Default `info`, which drops debug and trace lines. */
  readonly level?: string;
  /** The path of a file, which only its owner can read (mode 0600); 1 for stdout; 2 for stderr; or a stream. */
  readonly to: string | 1 | 2 | DestinationStream;
}

/** Creates the logger of a process. Child loggers redact in the same way. */
export function createLog({ level = 'info', to }: LogOptions): Logger {
  // Opened synchronously, because the folder of an ephemeral stack can be removed before an asynchronous open has
  // finished.
  const stream = typeof to === 'string' ? destination({ dest: to, mkdir: true, mode: 0o600, sync: true }) : to;
  return pino(
    {
      level,
      formatters: { log: toLoggableFields },
      // Replaces pino's default serializer, which would serialize the reduced error a second time.
      serializers: { err: (loggable: unknown) => loggable },
      hooks: { streamWrite: redactCredentials },
    },
    typeof stream === 'number' ? destination(stream) : stream,
  );
}

/** Opens standard output for several loggers. Every line is written before the process ends. */
export function openStandardOutput(): ReturnType<typeof destination> {
  return destination(1);
}

/** Maximum depth of nested objects. It equals pino's own limit. */
const MAX_DEPTH = 5;

function toLoggableFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toLoggable(value, 1)]));
}

/**
 * Converts a value for logging. Converts errors, binary data, collections and plain objects. Returns an instance of any
 * other class, such as `Secret` or `Date`, unchanged, so that its own `toJSON` is used.
 */
function toLoggable(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (depth > MAX_DEPTH) return '...';
  if (types.isNativeError(value)) return toLoggableError(value, depth);
  if (types.isAnyArrayBuffer(value) || ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  const toLoggableChild = (each: unknown) => toLoggable(each, depth + 1);
  if (types.isMap(value) || types.isSet(value) || Array.isArray(value)) return [...value].map(toLoggableChild);
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, toLoggableChild(each)]));
}

function toLoggableError(error: Error, depth: number): object {
  const { name, message, stack, cause } = error;
  const errors: unknown = 'errors' in error ? error.errors : undefined;
  return {
    type: name,
    message,
    // Says what the reader can do about the error. Only errors of Tokenferry have it.
    ...('advice' in error && typeof error.advice === 'string' && { advice: error.advice }),
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: toLoggable(cause, depth + 1) }),
    ...(Array.isArray(errors) && { errors: toLoggable(errors, depth + 1) }),
  };
}

/** Returns true for an object literal and false for an instance of a class. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
