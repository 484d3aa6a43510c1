/** Every failure that reaches the command, with what to do next: the one table of them. */
import { types } from 'node:util';
import { NamespaceNotFoundError, ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import { CompanyDataError } from '../../company-data-client';
import { ConfigurationError } from '../../config';
import { KeyInvalid, UnknownMasterKey, UnknownPayloadKey, VaultKeyMismatch, WrappedKeyBroken } from '../../security';
import {
  DatabaseUnavailable,
  isDatabaseError,
  ManifestClosed,
  MigrationExists,
  OrganizationTaken,
  VaultClosed,
} from '../../store';
import { CommandFailed } from './command-failed';
import { MigrationClosed, NoSuchMigration, NotReadable, NoWorker, Unreachable, WorkerFails } from '../../client';

/** What to do about a payload key that is missing here. */
export const ADD_PAYLOAD_KEY = 'ask whoever runs the workers for it, and add it to TOKENFERRY_PAYLOAD_KEY or its file';

type ErrorClass = abstract new (...args: never[]) => Error;

/** The message of each says what happened, and to what; this is what to do next. */
const ADVICE: readonly (readonly [ErrorClass, string])[] = [
  [Unreachable, 'start it, or start everything with: ferry up'],
  [DatabaseUnavailable, 'look at the database, or start everything with: ferry up'],
  [VaultKeyMismatch, 'nothing of this file is readable to anybody: it was not sealed'],
  [WorkerFails, 'its log says why: it lacks a payload key, or is of another version than the migration'],
  [NoWorker, 'decisions are kept and applied later; start a worker, or everything with: ferry up'],
  [NoSuchMigration, 'see them all with: ferry list'],
  [MigrationExists, 'give this one another --label'],
  [MigrationClosed, 'see what was decided with: ferry report'],
  [ManifestClosed, 'start a new migration for latecomers, with another --label'],
  [OrganizationTaken, 'an organization is moved by one migration only: take these rows out'],
  [VaultClosed, 'a worker has to run before credentials can be sealed; see: ferry show'],
  [NotReadable, ADD_PAYLOAD_KEY],
  [UnknownPayloadKey, ADD_PAYLOAD_KEY],
  [UnknownMasterKey, 'nothing is lost; run it again when that is mended'],
  [WrappedKeyBroken, 'nothing is lost; run it again when that is mended'],
  [KeyInvalid, 'name the right file; nothing was signed or changed'],
  [
    CompanyDataError,
    'look at the service and at its API key with: ferry doctor; it finds the call by its correlation id',
  ],
  [NamespaceNotFoundError, 'correct TEMPORAL_NAMESPACE; see what else is missing with: ferry doctor'],
  [WorkflowNotFoundError, 'see all migrations with: ferry list'],
];

/**
 * A failure in words, as far as a person can do something about it; any other error as it is: a mistake of ours.
 *
 * @returns CommandFailed, ConfigurationError, or the error itself
 */
export function withAdvice(error: unknown): unknown {
  if (!types.isNativeError(error) || error instanceof CommandFailed || error instanceof ConfigurationError)
    return error;
  const failed = (message: string, advice: string): CommandFailed =>
    new CommandFailed(message, advice, { cause: error });
  const known = ADVICE.find(([kind]) => error instanceof kind);
  if (known) return failed(error.message, known[1]);
  if (error instanceof ServiceError) {
    return failed(
      temporalSaid(error),
      'look whether Temporal runs with: ferry doctor; or start everything with: ferry up',
    );
  }
  if (isDatabaseError(error)) {
    return failed(`the database: ${error.message}`, 'look at it with: ferry doctor; what was stored stays stored');
  }
  const system = SYSTEM_ADVICE[codeOf(error)];
  return system === undefined ? error : failed(error.message, system);
}

/** By the code of the operating system. */
const SYSTEM_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program listens there: choose another --port',
  EACCES: 'look at the permissions',
  EPERM: 'look at the permissions',
  ENOENT: 'look at the path',
  EISDIR: 'name a file, not a folder',
  ENOSPC: 'make room on the disk, and run it again',
};

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** gRPC has the reason in the details of the cause. */
function temporalSaid(error: ServiceError): string {
  const { cause } = error;
  const details =
    cause instanceof Error && 'details' in cause && typeof cause.details === 'string' ? cause.details : '';
  return details === '' ? error.message : `Temporal: ${details}`;
}

/** Where in the program it arose, and what caused it. */
export function stacksOf(error: unknown): string {
  if (!types.isNativeError(error)) return '';
  const cause = error.cause === undefined ? '' : `caused by: ${stacksOf(error.cause)}`;
  return `${error.stack ?? error.message}\n${cause}`;
}
