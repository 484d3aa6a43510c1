/**
 * The logger of every process. Removes secrets from all fields and messages before a line is written.
 *
 * Values are handled by type, not by field name: a `Secret` prints `[secret]`. An error is reduced to name, message,
 * stack, code and causes, because errors of libraries carry requests, responses and database rows. Bytes print as their
 * length. The finished line is then redacted, which also covers text that quotes a credential.
 */
import { types } from 'node:util';
import { destination, pino, type DestinationStream, type Logger } from 'pino';
import { redactCredentials } from './redaction';

export interface LogOptions {
  /** One of pino's levels. Default `info`: debug and trace lines are dropped. */
  readonly level?: string;
  /** A file path (created with mode 0600, so only its owner can read it); 1 or 2 for stdout or stderr; or a stream. */
  readonly to: string | 1 | 2 | DestinationStream;
}

/** Creates the logger of one process. Child loggers redact in the same way. */
export function createLog({ level = 'info', to }: LogOptions): Logger {
  const stream = typeof to === 'string' ? destination({ dest: to, mkdir: true, mode: 0o600 }) : to;
  return pino(
    {
      level,
      formatters: { log: toLoggableFields },
      // pino's default serializer would serialize the already reduced error a second time.
      serializers: { err: (loggable: unknown) => loggable },
      hooks: { streamWrite: redactCredentials },
    },
    typeof stream === 'number' ? destination(stream) : stream,
  );
}

/** pino's own limit for nested objects. */
const MAX_DEPTH = 5;

function toLoggableFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, toLoggable(value, 1)]));
}

/** Leaves instances of other classes to their own `toJSON`, for example a `Secret` or a date. */
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
    stack,
    ...('code' in error && { code: error.code }),
    ...(cause !== undefined && { cause: toLoggable(cause, depth + 1) }),
    ...(Array.isArray(errors) && { errors: toLoggable(errors, depth + 1) }),
  };
}

/** True for an object literal, false for an instance of a class. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
