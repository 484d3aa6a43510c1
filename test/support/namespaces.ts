import { Connection } from '@temporalio/client';
import { MIGRATIONS } from '../../workflows/messages';

/** The part of jest's global configuration that decides how many namespaces a run has. */
export interface JestRun {
  readonly maxWorkers: number;
}

/**
 * Namespaces for single test files. The migrations of `missing-keys` are encrypted under other keys, which `ferry doctor`
 * would report in other files. `list` is for a test that must not see the migrations of other files. In `versions`, only
 * workers of the current version get tasks.
 */
export const SEPARATE_NAMESPACES = {
  'missing-keys': 'test-missing-keys',
  list: 'test-list',
  versions: 'test-versions',
} as const;

/** Returns one namespace per jest worker, because workers in one namespace would take each other's tasks. */
export function testNamespaces(jestWorkers: number): string[] {
  const shared = Array.from({ length: jestWorkers }, (_, index) => namespaceOf(`${index + 1}`));
  return [...shared, ...Object.values(SEPARATE_NAMESPACES)];
}

/** Returns the namespace of the jest worker that runs this file. */
export function ownNamespace(): string {
  return namespaceOf(process.env['JEST_WORKER_ID'] ?? '1');
}

function namespaceOf(jestWorker: string): string {
  return `test-${jestWorker}`;
}

/**
 * Asserts, at the end of a run, that no two test files have used the same migration id. An id cannot be reused, but two
 * files with the same id fail only when they happen to run in the same namespace, which differs from run to run.
 *
 * @throws if an id was used in two namespaces
 */
export async function assertIdsUsedOnce(address: string, namespaces: readonly string[]): Promise<void> {
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
