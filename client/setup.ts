/** Prepares a Temporal namespace for workers. Leaves everything that exists as it is, so the setup can be repeated. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client, isGrpcServiceError, ScheduleAlreadyRunning, type Connection } from '@temporalio/client';
import { msToTs, optionalTsToMs } from '@temporalio/common/lib/time';
import { temporal } from '@temporalio/proto';
import type { Config } from '../config';
import { cloudSearchAttributesCommand } from '../domain/migration/temporal-names';
import { SEARCH_ATTRIBUTES, sweepSchedule } from '../workflows/messages';
import { connect } from './connect';
import { SetupFailed } from './errors';

/** The result of the setup: the namespace, and which of its parts were created. */
export interface NamespaceSetup {
  readonly namespace: string;
  readonly namespaceCreated: boolean;
  /** How long Temporal keeps ended migrations, in milliseconds. Null if the server does not say. */
  readonly retentionMs: number | null;
  readonly searchAttributesCreated: readonly string[];
  /** True if the Schedule of the sweep was created. */
  readonly sweepCreated: boolean;
}

/**
 * The longest wait until the server knows a new namespace or search attribute. The server reads both from caches that
 * it refreshes every few seconds.
 */
const KNOWN_WITHIN_MS = 60_000;
const ATTEMPT_EVERY_MS = 250;

/** The gRPC status codes that the setup handles. See https://grpc.io/docs/guides/status-codes/. */
const STATUS = {
  ...{ invalidArgument: 3, notFound: 5, alreadyExists: 6, permissionDenied: 7, unimplemented: 12, unavailable: 14 },
} as const;

/** The statuses with which a server answers for a namespace that is not in its caches yet. */
const NAMESPACE_NOT_KNOWN = [STATUS.notFound, STATUS.unavailable];
/** The statuses with which a server answers a query with a search attribute that is not in its caches yet. */
const ATTRIBUTE_NOT_KNOWN = [...NAMESPACE_NOT_KNOWN, STATUS.invalidArgument];

/**
 * Creates the namespace, the search attributes and the Schedule of the sweep if they are missing, and waits until the
 * server knows them.
 *
 * @param retentionMs how long a new namespace keeps ended migrations, in milliseconds
 * @throws {Unreachable}
 * @throws {SetupFailed} if the server refuses to create the namespace or the attributes, or an existing attribute has
 * the wrong type
 */
export async function setUpNamespace(
  config: Pick<Config<'temporal'>, 'temporal'>,
  retentionMs: number,
): Promise<NamespaceSetup> {
  const { namespace } = config.temporal;
  const connection = await connect(config);
  try {
    const namespaceCreated = await createNamespace(connection, namespace, retentionMs);
    const searchAttributesCreated = await createSearchAttributes(connection, namespace);
    await untilKnown(
      () => connection.workflowService.listWorkflowExecutions({ namespace, query: 'FerryStep = "none"', pageSize: 1 }),
      ATTRIBUTE_NOT_KNOWN,
    );
    const sweepCreated = await untilKnown(() => createSweep(connection, namespace));
    const { config: found } = await connection.workflowService.describeNamespace({ namespace });
    return {
      ...{ namespace, namespaceCreated, searchAttributesCreated, sweepCreated },
      retentionMs: optionalTsToMs(found?.workflowExecutionRetentionTtl) ?? null,
    };
  } finally {
    await connection.close();
  }
}

async function createNamespace(connection: Connection, namespace: string, retentionMs: number): Promise<boolean> {
  const { workflowService } = connection;
  try {
    await workflowService.describeNamespace({ namespace });
    return false;
  } catch (error) {
    if (!hasStatus(error, STATUS.notFound)) throw error;
  }
  try {
    await workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod: msToTs(retentionMs) });
  } catch (error) {
    if (hasStatus(error, STATUS.alreadyExists)) return false; // another process has just created it
    if (!isNotAllowed(error)) throw error;
    throw new SetupFailed(
      `namespace ${namespace} does not exist, and the server does not let you create it`,
      "ask your Temporal administrator to create the namespace, then run 'ferry setup' again. In Temporal Cloud, administrators create namespaces on Temporal Cloud's own web page",
      { cause: error },
    );
  }
  return true;
}

async function createSearchAttributes(connection: Connection, namespace: string): Promise<readonly string[]> {
  const { operatorService } = connection;
  const { customAttributes } = await untilKnown(() => operatorService.listSearchAttributes({ namespace }));
  const types = temporal.api.enums.v1.IndexedValueType;
  const wanted = Object.entries(SEARCH_ATTRIBUTES).map(
    ([name, type]) => [name, types[`INDEXED_VALUE_TYPE_${type}`]] as const,
  );
  const wrong = wanted.filter(([name, type]) => name in customAttributes && customAttributes[name] !== type);
  if (wrong.length > 0) {
    const names = wrong.map(([name]) => name);
    const [have, them] = names.length === 1 ? ['has', 'this search attribute'] : ['have', 'these search attributes'];
    throw new SetupFailed(
      `${attributesText(names)} of namespace ${namespace} ${have} the wrong type`,
      `use another namespace, or remove ${them} and run 'ferry setup' again. On Temporal Cloud, only Temporal's support can remove search attributes; on your own server, run: temporal operator search-attribute remove -n ${namespace} ${names.map((name) => `--name ${name}`).join(' ')}`,
    );
  }
  const missing = wanted.filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return [];
  try {
    await untilKnown(() =>
      operatorService.addSearchAttributes({ namespace, searchAttributes: Object.fromEntries(missing) }),
    );
  } catch (error) {
    if (hasStatus(error, STATUS.alreadyExists)) return []; // another process has just created them
    const names = missing.map(([name]) => name);
    if (hasStatus(error, STATUS.invalidArgument)) {
      throw new SetupFailed(
        `${attributesText(names)} could not be added to namespace ${namespace}: ${error.details.replace(/\.$/, '')}`,
        "an SQL visibility store normally has room for only three integer and ten keyword attributes in a namespace; use another namespace, or remove search attributes that nothing uses and run 'ferry setup' again",
        { cause: error },
      );
    }
    if (!isNotAllowed(error)) throw error;
    throw new SetupFailed(
      `the server does not let you create ${attributesText(names)}, which namespace ${namespace} lacks`,
      `ask your Temporal administrator to run 'ferry setup'. On Temporal Cloud, run 'ferry setup' again after this command: ${cloudSearchAttributesCommand(namespace, SEARCH_ATTRIBUTES, names)}`,
      { cause: error },
    );
  }
  return missing.map(([name]) => name);
}

const attributesText = (names: readonly string[]): string =>
  `the search ${names.length === 1 ? 'attribute' : 'attributes'} ${names.join(', ')}`;

async function createSweep(connection: Connection, namespace: string): Promise<boolean> {
  try {
    await new Client({ connection, namespace }).schedule.create(sweepSchedule());
    return true;
  } catch (error) {
    if (error instanceof ScheduleAlreadyRunning) return false;
    throw error;
  }
}

/**
 * Repeats a call while the server answers that it does not know a namespace or search attribute that was created a
 * moment ago. Gives up after 60 s.
 */
async function untilKnown<Result>(call: () => Promise<Result>, statuses = NAMESPACE_NOT_KNOWN): Promise<Result> {
  const deadline = Date.now() + KNOWN_WITHIN_MS;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const isKnownSoon = statuses.some((status) => hasStatus(error, status));
      if (!isKnownSoon || Date.now() > deadline) throw error;
      await delay(ATTEMPT_EVERY_MS);
    }
  }
}

type ServerStatus = Error & Readonly<{ code: number; details: string }>;

function isNotAllowed(error: unknown): boolean {
  return hasStatus(error, STATUS.permissionDenied) || hasStatus(error, STATUS.unimplemented);
}

function hasStatus(error: unknown, status: number): error is ServerStatus {
  return isGrpcServiceError(error) && Number(error.code) === status;
}
