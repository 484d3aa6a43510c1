/** Checks Temporal: server, namespace, search attributes, workers and their versions, and payload keys. */
import { Connection } from '@temporalio/client';
import type { TemporalConfig } from '../../config';
import { counted } from '../../domain/text/sentences';
import { createPayloadCodec, UnknownPayloadKey, type KeyRing } from '../../security';
import { SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { addPayloadKeys } from '../shared/errors';
import { checkWorker, recentMigrations, WORKER } from './worker';
import { checkWorkerVersions, VERSIONS } from './worker-versions';
import { temporalAdvice } from '../suggestions/stack-advice';
import { check, notChecked, ok, CHECK_TIMEOUT_MS, problem, type CheckResult, type ConfigPart } from './check-result';

export const PAYLOAD_KEY = 'payload key';

const ABOUT = {
  server: 'Temporal',
  namespace: 'namespace',
  searchAttributes: 'search attributes',
  worker: WORKER,
  payloadKey: PAYLOAD_KEY,
} as const;

const NO_TEMPORAL = 'not checked, because Temporal is not configured or does not answer';
const NO_NAMESPACE = notChecked(ABOUT.namespace, NO_TEMPORAL);

export async function checkTemporal(
  temporal: ConfigPart<'temporal'>,
  payloadKeys: ConfigPart<'payloadKeys'>,
  nowMs: Promise<number>,
  env: NodeJS.ProcessEnv,
): Promise<readonly CheckResult[]> {
  if ('unusable' in temporal) return [temporal.unusable, NO_NAMESPACE, ...checksSkipped(payloadKeys)];
  const { address, connectionOptions } = temporal.value;
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...connectionOptions, connectTimeout: CHECK_TIMEOUT_MS });
  } catch {
    return [
      problem(ABOUT.server, `cannot connect to Temporal at ${address}`, temporalAdvice(env)),
      NO_NAMESPACE,
      ...checksSkipped(payloadKeys),
    ];
  }
  try {
    return await connection.withDeadline(Date.now() + CHECK_TIMEOUT_MS, () =>
      examineServer(connection, temporal.value, payloadKeys, nowMs, env),
    );
  } finally {
    await connection.close();
  }
}

/** Returns whether the checks found that Temporal answers and that the namespace can be used. */
export function isNamespaceUsable(checks: readonly CheckResult[]): boolean {
  return checks.some(({ check: about, verdict }) => about === ABOUT.namespace && verdict === 'ok');
}

/** Returns the results of the checks that were skipped because an earlier check failed. */
function checksSkipped(payloadKeys: ConfigPart<'payloadKeys'>, first = NO_TEMPORAL): readonly CheckResult[] {
  return [
    ...[ABOUT.searchAttributes, ABOUT.worker].map((about) => notChecked(about, first)),
    'unusable' in payloadKeys ? payloadKeys.unusable : notChecked(ABOUT.payloadKey, first),
  ];
}

async function examineServer(
  connection: Connection,
  { address, namespace }: TemporalConfig,
  payloadKeys: ConfigPart<'payloadKeys'>,
  nowMs: Promise<number>,
  env: NodeJS.ProcessEnv,
): Promise<readonly CheckResult[]> {
  const { workflowService } = connection;
  const server = await check(ABOUT.server, "check that Temporal's frontend is healthy", async () => {
    const { serverVersion } = await workflowService.getSystemInfo({});
    return ok(ABOUT.server, `${serverVersion || 'unknown version'} at ${address}`);
  });
  const advice =
    'correct TEMPORAL_NAMESPACE, or the credentials if they give no access to this namespace; to create the namespace, run: ferry setup';
  const found = await check(ABOUT.namespace, advice, async () => {
    await workflowService.describeNamespace({ namespace });
    return ok(ABOUT.namespace, namespace);
  });
  if (found.some(({ verdict }) => verdict === 'problem')) {
    return [...server, ...found, ...checksSkipped(payloadKeys, 'not checked, because the namespace cannot be used')];
  }
  const inNamespace = await Promise.all([
    check(ABOUT.searchAttributes, ASK_ADMINISTRATOR, () => searchAttributes(connection, namespace)),
    check(ABOUT.worker, ASK_ADMINISTRATOR, () => checkWorker(connection, namespace, payloadKeys, nowMs, env)),
    check(VERSIONS, ASK_ADMINISTRATOR, () => checkWorkerVersions(connection, namespace, nowMs)),
    'unusable' in payloadKeys
      ? [payloadKeys.unusable]
      : check(ABOUT.payloadKey, ASK_ADMINISTRATOR, () => payloadKey(connection, namespace, payloadKeys.value)),
  ]);
  return [...server, ...found, ...inNamespace.flat()];
}

const ASK_ADMINISTRATOR =
  'if a permission is missing, ask your Temporal administrator for it; otherwise, run ferry doctor again';

async function searchAttributes(connection: Connection, namespace: string): Promise<CheckResult> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.keys(SEARCH_ATTRIBUTES).filter((name) => !(name in customAttributes));
  if (missing.length === 0) return ok(ABOUT.searchAttributes, 'complete');
  return problem(ABOUT.searchAttributes, `missing: ${missing.join(', ')}`, 'create them with: ferry setup');
}

/** Checks that the configured keys decrypt the memos of recent migrations. */
async function payloadKey(connection: Connection, namespace: string, keys: KeyRing): Promise<CheckResult> {
  const executions = await recentMigrations(connection, namespace);
  const codec = createPayloadCodec(keys);
  const missing = new Set<string>();
  for (const { memo } of executions) {
    try {
      await codec.decode(Object.values(memo?.fields ?? {}));
    } catch (error) {
      if (!(error instanceof UnknownPayloadKey)) throw error;
      missing.add(error.keyId);
    }
  }
  if (missing.size > 0)
    return problem(
      ABOUT.payloadKey,
      `this machine lacks ${missing.size === 1 ? 'payload key' : 'the payload keys'} ${[...missing].join(', ')}, which migrations in this namespace need`,
      addPayloadKeys(missing.size),
    );
  const testResult =
    executions.length === 0
      ? 'not tested, because the namespace has no migration'
      : `decrypts ${counted(executions.length, 'migration')}`;
  return ok(ABOUT.payloadKey, `${keys.newest.id}: ${testResult}`);
}
