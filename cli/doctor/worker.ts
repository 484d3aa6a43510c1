/**
 * Checks that a worker answers and can continue the open migrations (at most the newest 100). Temporal lists a dead
 * worker for minutes, so this check also sends queries, which only a running worker answers.
 */
import { Client, type Connection } from '@temporalio/client';
import type { temporal } from '@temporalio/proto';
import { askWorkers, readWorkers, readWorkflowTaskProblems } from '../../client';
import { CHECK_WORKERS } from '../../domain/progress/worker-advice';
import { counted } from '../../domain/text/sentences';
import { createDataConverter, createPlainDataConverter } from '../../security';
import { MIGRATIONS } from '../../workflows/messages';
import { isStackUsed, RESTART_STACK } from '../suggestions/stack-advice';
import { ok, problem, type CheckResult, type ConfigPart } from './check-result';

export const WORKER = 'worker';

/** Maximum number of recent migrations that are examined. */
const MAX_MIGRATIONS = 100;
/** Number of migrations that are queried. More than one, because a single migration could be busy. */
const MAX_QUERIED = 3;
/** Shorter than the time limit of the whole check. */
const ANSWER_WITHIN_MS = 3_000;

type Execution = temporal.api.workflow.v1.IWorkflowExecutionInfo;

/** Returns up to 100 migrations, the newest first. */
export async function recentMigrations(
  { workflowService }: Connection,
  namespace: string,
  onlyOpen = false,
): Promise<readonly Execution[]> {
  const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
  const { executions } = await workflowService.listWorkflowExecutions({
    namespace,
    query: `WorkflowType IN (${types.join(', ')})${onlyOpen ? " AND ExecutionStatus = 'Running'" : ''}`,
    pageSize: MAX_MIGRATIONS,
  });
  return executions;
}

/** @param nowMs the current time in milliseconds, from `sharedTimeMs` */
export async function checkWorker(
  connection: Connection,
  namespace: string,
  payloadKeys: ConfigPart<'payloadKeys'>,
  nowMs: Promise<number>,
  env: NodeJS.ProcessEnv,
): Promise<CheckResult> {
  const isOfStack = isStackUsed(env);
  const start = isOfStack ? RESTART_STACK : START;
  const howToStart = `decisions are kept until a worker answers; ${start}`;
  // The worker of a stack can only be restarted together with the stack.
  const howToPoll = isOfStack ? RESTART_STACK : `restart the worker that is running; if it has ended, ${START}`;
  const ferry = clientsOf(connection, namespace, payloadKeys);
  const open = idsOf(await recentMigrations(connection, namespace, true));
  const stuck = await readWorkflowTaskProblems(ferry, open);
  const [first] = stuck;
  if (first) {
    const [id, why] = first;
    const others = stuck.size > 1 ? ` and ${counted(stuck.size - 1, 'other migration')}; the reason for ${id}` : '';
    return problem(WORKER, `the worker cannot continue ${id}${others}: ${why}`, HOW_TO_CONTINUE);
  }
  // Workers also answer for migrations that have ended.
  const askable = open.length > 0 ? open : idsOf(await recentMigrations(connection, namespace));
  const asked = askable.slice(0, MAX_QUERIED);
  const [{ workflows, activities }, reactions] = await Promise.all([
    readWorkers(ferry, nowMs),
    askWorkers(ferry, asked, Date.now() + ANSWER_WITHIN_MS),
  ]);
  const rejected = asked.find((id) => reactions.get(id) === 'rejected');
  if (rejected !== undefined)
    return problem(
      WORKER,
      `the worker cannot continue ${rejected}; the reason is in the worker's log`,
      HOW_TO_CONTINUE,
    );
  const answered = asked.length === 0 ? null : asked.some((id) => reactions.get(id) === 'answered');
  const polled = Math.max(workflows, activities);
  const polledText = `${counted(polled, 'worker')} polled in the last two minutes`;
  if (answered === false) {
    return problem(
      WORKER,
      polled === 0 ? 'no worker is running' : `no worker answers, although ${polledText}`,
      howToStart,
    );
  }
  if (answered === null && polled === 0) return problem(WORKER, 'no worker is running', howToStart);
  if (activities === 0) return problem(WORKER, 'no worker polls for activity tasks', howToPoll);
  if (answered === null && workflows === 0) return problem(WORKER, 'no worker polls for workflow tasks', howToPoll);
  // A worker that has stopped stays in Temporal's list for minutes.
  const countText = polled > 1 ? `${polledText}, including any that have stopped since` : polledText;
  if (answered === null)
    return ok(WORKER, `${countText}; the workers were not queried, because the namespace has no migration`);
  return ok(WORKER, `answers; ${countText}`);
}

const START = 'start a worker (node dist/worker/main.js)';
const HOW_TO_CONTINUE = `decisions are kept until a worker can continue; ${CHECK_WORKERS}`;

/**
 * Creates the clients of the check. Without a payload key, the reason for a failure cannot be read, but everything else
 * can.
 */
function clientsOf(
  connection: Connection,
  namespace: string,
  payloadKeys: ConfigPart<'payloadKeys'>,
): { readonly temporal: Client; readonly temporalWithoutCodec: Client } {
  const temporalWithoutCodec = new Client({ connection, namespace, dataConverter: createPlainDataConverter() });
  if ('unusable' in payloadKeys) return { temporal: temporalWithoutCodec, temporalWithoutCodec };
  const dataConverter = createDataConverter(payloadKeys.value);
  return { temporal: new Client({ connection, namespace, dataConverter }), temporalWithoutCodec };
}

function idsOf(executions: readonly Execution[]): readonly string[] {
  return executions.flatMap(({ execution }) => execution?.workflowId ?? []);
}
