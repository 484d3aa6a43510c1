/** The error that commands throw, and the advice for every failure that a user can do something about. */
import { types } from 'node:util';
import { NamespaceNotFoundError, ServiceError, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { CompanyDataError, DeferredUntil, ForeignResponse } from '../../company-data-client';
import { ConfigurationError } from '../../config';
import {
  isKeyId,
  KeyInvalid,
  MigrationKeyInvalid,
  UnknownMasterKey,
  UnknownPayloadKey,
  VaultKeyMismatch,
  VaultSecretElsewhere,
  VaultSecretMissing,
  WrappedKeyBroken,
} from '../../security';
import {
  DatabaseUnavailable,
  failureText,
  isDatabaseError,
  AmendedMigrationEnded,
  LedgerMissing,
  MigrationExists,
  OrganizationTaken,
  StagingFull,
  VaultClosed,
  VaultKeyAltered,
  VaultKeyNotSigned,
  VaultUsable,
} from '../../store';
import {
  LabelReserved,
  LedgerBehind,
  MigrationClosed,
  MigrationRunning,
  NoSuchMigration,
  NoWorker,
  PayloadKeyMissing,
  RepairUnfinished,
  Unreachable,
  WorkflowHadNoEffect,
  WorkflowIdOccupied,
  WorkflowTaskFailing,
} from '../../client';
import { CHECK_WORKERS, START_WORKER } from '../../domain/progress/worker-advice';
import {
  databaseAdvice,
  missingLedgerAdvice,
  temporalAdvice,
  USE_VERSION_OF_SCHEMA,
} from '../suggestions/stack-advice';

/** Thrown when a command cannot do what the user asked for. It is printed on one line, and the exit code is 1. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';

  /**
   * @param message what happened
   * @param advice what to do next
   */
  constructor(
    message: string,
    readonly advice: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Says how to get payload keys that are missing on this machine. */
export function addPayloadKeys(count = 1): string {
  const [these, them] = count === 1 ? ['this key', 'it'] : ['these keys', 'them'];
  return `ask the operator of the workers for ${these}, and add ${them} to TOKENFERRY_PAYLOAD_KEY or to the file in TOKENFERRY_PAYLOAD_KEY_FILE`;
}

export const ADD_PAYLOAD_KEY = addPayloadKeys();

/** Advice after `DeferredUntil`, whose message names the time. */
export const AFTER_THIS_TIME = 'run the command again after this time';

type ErrorClass = abstract new (...args: never[]) => Error;

/**
 * Returns the advice by error class; the first matching class is used. The error's own message states what happened.
 * This is a function, because the build loads each module at its first use (`LAZY_FILES` in scripts/build.mjs), and a
 * constant would use all these classes in every command.
 */
const adviceByClass = (): readonly (readonly [ErrorClass, string])[] => [
  [
    VaultKeyNotSigned,
    "nothing was sealed or stored; on a machine with the workers' keys, sign the key with: ferry vault rotate; if that does not help, correct TOKENFERRY_PROVIDER_FINGERPRINT",
  ],
  [
    MigrationKeyInvalid,
    'nothing was sealed or stored; get the key again from the provider (docs/security.md describes this under "Sealed files")',
  ],
  [VaultKeyMismatch, 'this command has neither sealed nor stored any credential with the changed key'],
  [WorkflowTaskFailing, `${CHECK_WORKERS}; then run the command again`],
  [NoWorker, `${START_WORKER}; then run the command again`],
  [NoSuchMigration, 'list all migrations with: ferry list'],
  [MigrationExists, 'choose another --label'],
  [
    StagingFull,
    'nothing was changed; supply a smaller file, or try again in a day: supplied data that no decision uses is deleted after a day',
  ],
  [LabelReserved, 'choose another --label'],
  [LedgerBehind, 'then make this decision again'],
  [WorkflowIdOccupied, 'then run this command again'],
  [
    WorkflowHadNoEffect,
    'check that ferry and the workers use the same DATABASE_URL, and that only your workers poll the task queue tokenferry (the Temporal UI shows who polls it); then run the command again',
  ],
  [AmendedMigrationEnded, 'start a new migration with another --label'],
  [
    OrganizationTaken,
    'in the file, correct or remove every such row, because an organization can be in only one row of one open migration',
  ],
  [PayloadKeyMissing, ADD_PAYLOAD_KEY],
  [UnknownPayloadKey, ADD_PAYLOAD_KEY],
  [UnknownMasterKey, 'this vault was not changed; once this master key is added, run the command again'],
  [WrappedKeyBroken, 'this vault was not changed; once the private key is restored, run the command again'],
  [VaultSecretElsewhere, 'this vault was not changed; once the right folder is in place, run the command again'],
  [VaultSecretMissing, 'nothing was changed; renew the vault only if its secret cannot be put back into the folder'],
  [VaultUsable, 'nothing was changed; single credentials can be replaced without renewing the vault'],
  [KeyInvalid, 'nothing was signed or changed; restore the key from a copy'],
  [DeferredUntil, AFTER_THIS_TIME],
  [
    ForeignResponse,
    'something other than the service has answered; check COMPANY_DATA_URL and the proxies in front of the service',
  ],
  [
    CompanyDataError,
    'check the service and COMPANY_DATA_API_KEY with: ferry doctor; if the message contains a correlation id, the support team of the service can find the request with it',
  ],
  [NamespaceNotFoundError, 'correct TEMPORAL_NAMESPACE; check the rest with: ferry doctor'],
  [WorkflowNotFoundError, 'list all migrations with: ferry list'],
];

/**
 * Adds advice to an error if the user can do something about it. Returns an error unchanged if it already says what to
 * do, or if it is a bug.
 *
 * @param env the environment variables, which decide whether the servers are those of the running stack
 * @returns CommandFailed, ConfigurationError, or the error itself
 */
export function withAdvice(error: unknown, env: NodeJS.ProcessEnv): unknown {
  if (!types.isNativeError(error) || error instanceof CommandFailed || error instanceof ConfigurationError)
    return error;
  const failed = (message: string, advice: string): CommandFailed =>
    new CommandFailed(message, advice, { cause: error });
  // No key with this id can exist, so no operator can add it.
  if (error instanceof UnknownPayloadKey && !isKeyId(error.keyId))
    return failed(
      error.message,
      'Tokenferry does not write such payloads: find out who has write access to the Temporal namespace, and follow docs/runbook.md under "A result that nobody can decrypt"',
    );
  if (error instanceof Unreachable)
    return failed(error.message, error.what === 'Temporal' ? temporalAdvice(env) : databaseAdvice(env));
  if (error instanceof LedgerMissing) return failed(error.message, missingLedgerAdvice(env));
  if (error instanceof DatabaseUnavailable)
    return failed(error.message, error.hasNewerSchema ? USE_VERSION_OF_SCHEMA : databaseAdvice(env, error));
  if (error instanceof VaultKeyAltered) {
    const { migrationId: id } = error;
    return failed(
      error.message,
      `nothing was sealed or stored; pause the migration with: ferry pause ${id}; find out who changed the database; then restore the migration's key in the database from a backup, or, a minute after the pause, replace it with: ferry vault renew ${id}; credentials supplied since the change may be compromised: docs/security.md says what to do under "Incidents"`,
    );
  }
  const known = adviceByClass().find(([errorClass]) => error instanceof errorClass);
  if (known) return failed(error.message, known[1]);
  if (error instanceof MigrationClosed) return failed(error.message, adviceAfterEnd(error));
  if (error instanceof RepairUnfinished)
    return failed(
      error.message,
      `make sure that a worker is running; to wait for the result, run: ferry reconcile ${error.migrationId}`,
    );
  if (error instanceof MigrationRunning)
    return failed(error.message, `see what to do next with: ferry show ${error.migrationId}`);
  if (error instanceof VaultClosed) {
    return failed(
      error.message,
      `make sure that a worker is running; to see whether the migration has ended, run: ferry show ${error.migrationId}`,
    );
  }
  if (error instanceof WorkflowFailedError)
    return failed(
      deepestMessage(error),
      "the workflow failed; its id is the migration's id, followed by .reconciliation or .closing. To see its history, open it in the Temporal UI",
    );
  if (error instanceof ServiceError) {
    return failed(temporalErrorText(error), 'check the connection with: ferry doctor');
  }
  if (isDatabaseError(error)) {
    return failed(
      `database error: ${failureText(error)}`,
      'check the database with: ferry doctor; if this command was storing a file, supply the whole file again, because it might have been stored only in part',
    );
  }
  const advice = SYSTEM_ADVICE[codeOf(error)];
  return advice === undefined ? error : failed(error.message, advice);
}

function adviceAfterEnd({ migrationId, ending }: MigrationClosed): string {
  if (ending === 'terminated') return `to close the migration, run: ferry sweep --close ${migrationId}`;
  // `closed` means that the ending is unknown: there is no ledger, which `ferry report` needs, or the ledger has not
  // recorded the end yet.
  if (ending === 'closed') return `to see the outcome of the migration, run: ferry show ${migrationId}`;
  return `to see the outcome of the migration, run: ferry report ${migrationId}`;
}

const SYSTEM_ADVICE: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program is using this port; choose another port with --port',
  EACCES: 'check the permissions',
  EPERM: 'check the permissions',
  ENOENT: 'check the path',
  EISDIR: 'specify a file, not a folder',
  ENOSPC: 'free some disk space and run the command again',
};

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Returns the reason for a gRPC error. The details of the error's cause contain it. */
function temporalErrorText(error: ServiceError): string {
  const { cause } = error;
  const details =
    cause instanceof Error && 'details' in cause && typeof cause.details === 'string' ? cause.details : '';
  return details === '' ? error.message : `Temporal: ${details}`;
}

/** Returns the stack of an error and of its causes; an empty string if the value is not an error. */
export function stackTrace(error: unknown): string {
  if (!types.isNativeError(error)) return '';
  const cause = error.cause === undefined ? '' : `caused by: ${stackTrace(error.cause)}`;
  return `${error.stack ?? error.message}\n${cause}`;
}

/** Returns the message of the original error, which Temporal wraps in one error per workflow and activity. */
function deepestMessage(error: Error): string {
  return error.cause instanceof Error ? deepestMessage(error.cause) : error.message;
}
