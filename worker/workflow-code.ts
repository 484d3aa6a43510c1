import { existsSync } from 'node:fs';
import path from 'node:path';
import type { WorkerOptions } from '@temporalio/worker';

export type WorkflowCode = Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'>;

/**
 * The workflows for the sandbox: the bundle that the build made, where there is one beside the compiled code. Otherwise
 * the worker bundles them itself, which takes some seconds.
 */
export function workflowCode(): WorkflowCode {
  const built = path.join(__dirname, '..', 'workflow-bundle.js');
  if (existsSync(built)) return { workflowBundle: { codePath: built } };
  return { workflowsPath: require.resolve('../workflows') };
}
