/** The part of jest's global configuration that decides how many namespaces a run has. */
export interface JestRun {
  readonly maxWorkers: number;
}

/**
 * Namespaces for single test files. The migrations of `missing-keys` are encrypted under other keys, which
 * `ferry doctor` would report in other files. `list` is for a test that must not see the migrations of other files. In
 * `versions`, only workers of the current version get tasks.
 */
export const SEPARATE_NAMESPACES = {
  'missing-keys': 'test-missing-keys',
  list: 'test-list',
  versions: 'test-versions',
} as const;

/**
 * Returns all namespaces of a run: the separate ones, and one per jest worker, because Temporal workers in one
 * namespace would take each other's tasks.
 */
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
