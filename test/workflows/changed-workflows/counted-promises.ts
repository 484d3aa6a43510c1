import { defineQuery, setHandler } from '@temporalio/workflow';
import { managedMigration as original } from '../../../workflows';

export { batchRun } from '../../../workflows';

/** The SDK's own record of the promises that are pending in this workflow. */
interface Sandbox {
  readonly __TEMPORAL_ACTIVATOR__: {
    readonly promiseStackStore: { readonly promiseToStack: ReadonlyMap<unknown, { readonly formatted: string }> };
  };
}

/** Runs a migration that answers the query `pendingPromises` with the stack trace of each pending promise. */
export function managedMigration(...args: Parameters<typeof original>): ReturnType<typeof original> {
  setHandler(defineQuery('pendingPromises'), () => {
    const { promiseStackStore } = (globalThis as unknown as Sandbox).__TEMPORAL_ACTIVATOR__;
    return [...promiseStackStore.promiseToStack.values()].map(({ formatted }) => formatted);
  });
  return original(...args);
}
