/** Temporal: the server, the namespace, what migrations are found by, and the workers. */
import { Client, Connection } from '@temporalio/client';
import type { TemporalConfig } from '../../config';
import { createSearchAttributes } from '../../domain/migration/search-attributes';
import { counted } from '../../domain/text/sentences';
import type { KeyRing } from '../../security';
import { createPayloadCodec, UnknownPayloadKey } from '../../security';
import { MIGRATIONS, SEARCH_ATTRIBUTES } from '../../workflows/messages';
import { readWorkers } from '../../client';
import type { Configured } from './configured';
import type { Examined } from './finding';
import { examine, notChecked, ok, PATIENCE_MS, problem } from './finding';

const ABOUT = {
  server: 'Temporal',
  namespace: 'namespace',
  searchAttributes: 'search attributes',
  worker: 'worker',
  payloadKey: 'payload key',
} as const;

const NO_NAMESPACE = notChecked(ABOUT.namespace, 'Temporal has to answer first');

/** So many of the latest migrations are tried with the payload key. */
const TRIED_AT_MOST = 100;

export async function examineTemporal(
  temporal: Configured<'temporal'>,
  payloadKeys: Configured<'payloadKeys'>,
): Promise<readonly Examined[]> {
  if ('found' in temporal) return [temporal.found, NO_NAMESPACE, ...unasked(payloadKeys)];
  const { address, connectionOptions } = temporal.value;
  let connection: Connection;
  try {
    connection = await Connection.connect({ ...connectionOptions, connectTimeout: PATIENCE_MS });
  } catch {
    const advice = 'start it, correct TEMPORAL_ADDRESS or the profile, or start everything with: ferry up';
    return [problem(ABOUT.server, `does not answer at ${address}`, advice), NO_NAMESPACE, ...unasked(payloadKeys)];
  }
  try {
    return await connection.withDeadline(Date.now() + PATIENCE_MS, () =>
      examineServer(connection, temporal.value, payloadKeys),
    );
  } finally {
    await connection.close();
  }
}

/** What cannot be asked for before this is mended. */
function unasked(payloadKeys: Configured<'payloadKeys'>, first = 'Temporal has to answer first'): readonly Examined[] {
  return [
    ...[ABOUT.searchAttributes, ABOUT.worker].map((about) => notChecked(about, first)),
    'found' in payloadKeys ? payloadKeys.found : notChecked(ABOUT.payloadKey, first),
  ];
}

async function examineServer(
  connection: Connection,
  { address, namespace }: TemporalConfig,
  payloadKeys: Configured<'payloadKeys'>,
): Promise<readonly Examined[]> {
  const { workflowService } = connection;
  const server = await examine(ABOUT.server, 'look whether its frontend is well', async () => {
    const { serverVersion } = await workflowService.getSystemInfo({});
    return ok(ABOUT.server, `${serverVersion || 'of an unknown version'} at ${address}`);
  });
  const create = `correct TEMPORAL_NAMESPACE, or create it: temporal operator namespace create --namespace ${namespace}`;
  const found = await examine(ABOUT.namespace, create, async () => {
    await workflowService.describeNamespace({ namespace });
    return ok(ABOUT.namespace, namespace);
  });
  if (found.some(({ verdict }) => verdict === 'problem')) {
    return [...server, ...found, ...unasked(payloadKeys, 'the namespace has to be there first')];
  }
  const within = await Promise.all([
    examine(ABOUT.searchAttributes, ASK_SERVER, () => searchAttributes(connection, namespace)),
    examine(ABOUT.worker, ASK_SERVER, () => worker(connection, namespace)),
    'found' in payloadKeys
      ? [payloadKeys.found]
      : examine(ABOUT.payloadKey, ASK_SERVER, () => payloadKey(connection, namespace, payloadKeys.value)),
  ]);
  return [...server, ...found, ...within.flat()];
}

const ASK_SERVER = 'ask whoever runs Temporal whether this may be asked';

async function searchAttributes(connection: Connection, namespace: string): Promise<Examined> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(SEARCH_ATTRIBUTES).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return ok(ABOUT.searchAttributes, 'all there');
  const names = missing.map(([name]) => name).join(', ');
  return problem(ABOUT.searchAttributes, `missing: ${names}`, createSearchAttributes(namespace, missing));
}

async function worker(connection: Connection, namespace: string): Promise<Examined> {
  const { workflows, activities } = await readWorkers({ temporal: new Client({ connection, namespace }) });
  if (workflows > 0 && activities > 0) return ok(ABOUT.worker, `${counted(workflows, 'worker')} at work`);
  const lacking = workflows + activities === 0 ? 'none asks for work' : 'none asks for one of the two kinds of work';
  const advice = 'start one: node dist/worker/main.js, or everything with: ferry up; decisions are kept until then';
  return problem(ABOUT.worker, lacking, advice);
}

/** Whether what Temporal keeps of migrations opens with the keys that are here. */
async function payloadKey(connection: Connection, namespace: string, keys: KeyRing): Promise<Examined> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const { executions } = await connection.workflowService.listWorkflowExecutions({
    namespace,
    query: `WorkflowType IN (${types.join(', ')})`,
    pageSize: TRIED_AT_MOST,
  });
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
  if (missing.size > 0) {
    const advice = 'ask whoever runs the workers for it, and add it to TOKENFERRY_PAYLOAD_KEY or its file';
    return problem(ABOUT.payloadKey, `migrations here need payload key ${[...missing].join(', ')} as well`, advice);
  }
  const tried =
    executions.length === 0 ? 'no migration is here to try it on' : `opens ${counted(executions.length, 'migration')}`;
  return ok(ABOUT.payloadKey, `${keys.newest.id}: ${tried}`);
}
