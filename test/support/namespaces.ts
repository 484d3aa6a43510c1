import { Connection } from '@temporalio/client';
import { MIGRATIONS } from '../../workflows/messages';

/** The part of jest's global configuration that decides how many namespaces a run has. */
export interface JestRun {
  readonly maxWorkers: number;
}

/** Returns one namespace per jest worker, so that files that run side by side do not take each other's tasks. */
export function testNamespaces(jestWorkers: number): string[] {
  return Array.from({ length: jestWorkers }, (_, index) => namespaceOf(`${index + 1}`));
}

/** Returns the namespace of the jest worker that runs this file. */
export function ownNamespace(): string {
  return namespaceOf(process.env['JEST_WORKER_ID'] ?? '1');
}

function namespaceOf(jestWorker: string): string {
  return `test-${jestWorker}`;
}

/**
 * Which files run in one namespace changes from run to run, and an id names one migration for ever: two files that use
 * the same one would fail only now and then. Asked at a run's end, it is seen in every run of all files.
 *
 * @throws where an id was used in two namespaces
 */
export async function assertIdsUsedOnce(address: string, namespaces: readonly string[]): Promise<void> {
  const connection = await Connection.connect({ address });
  try {
    const seenIn = new Map<string, string>();
    const types = Object.values(MIGRATIONS).map((type) => `'${type}'`);
    const query = `WorkflowType IN (${types.join(', ')})`;
    for (const namespace of namespaces) {
      // A whole run starts far fewer workflows in one namespace than fit on a page.
      const page = { namespace, query, pageSize: 1_000 };
      const { executions } = await connection.workflowService.listWorkflowExecutions(page);
      for (const { execution } of executions) {
        const id = execution?.workflowId ?? '';
        const other = seenIn.get(id) ?? namespace;
        if (other !== namespace) throw new Error(`two files start a migration ${id}: name another client in one`);
        seenIn.set(id, namespace);
      }
    }
  } finally {
    await connection.close();
  }
}
