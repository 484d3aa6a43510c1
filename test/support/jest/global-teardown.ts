import { Connection } from '@temporalio/client';
import { MIGRATIONS } from '../../../workflows/messages';
import { offeredServers } from './global-setup';
import { testNamespaces, type JestRun } from './namespaces';

/**
 * Checks the migration ids of the run, and stops the shared servers. If the run is killed, their supervisors stop them:
 * see stack/process/supervisor.mjs.
 */
export default async function globalTeardown({ maxWorkers }: JestRun): Promise<void> {
  const servers = offeredServers();
  try {
    const address = await servers?.temporalAddress();
    if (address !== undefined) await assertIdsUsedOnce(address, testNamespaces(maxWorkers));
  } finally {
    await servers?.stop();
  }
}

/**
 * Asserts, at the end of a run, that no two test files have used the same migration id. A second migration with the
 * same id fails only in the same namespace, and the namespaces of test files differ from run to run. Without this
 * check, a repeated id would fail only in some runs.
 *
 * @throws if an id was used in two namespaces
 */
async function assertIdsUsedOnce(address: string, namespaces: readonly string[]): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const seenIn = new Map<string, string>();
    const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
    const query = `WorkflowType IN (${types.join(', ')})`;
    for (const namespace of namespaces) {
      // One page is enough: a run starts far fewer migrations in one namespace.
      const page = { namespace, query, pageSize: 1_000 };
      const { executions } = await connection.workflowService.listWorkflowExecutions(page);
      for (const { execution } of executions) {
        const id = execution?.workflowId ?? '';
        const other = seenIn.get(id) ?? namespace;
        if (other !== namespace)
          throw new Error(`two test files start the migration ${id}; use another client in one of them`);
        seenIn.set(id, namespace);
      }
    }
  } finally {
    await connection.close();
  }
}
