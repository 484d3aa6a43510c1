/**
 * The deployment version of a worker. If a worker is versioned, Temporal gives each workflow task only to a worker
 * whose code can continue the workflow (docs/upgrading.md, docs/decisions/0023-versioned-workers.md).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { WorkerOptions } from '@temporalio/worker';

/** Thrown when a worker with a deployment has no workflow bundle, because the build id is derived from the bundle. */
export class NoWorkflowBundle extends Error {
  override readonly name = 'NoWorkflowBundle';

  constructor() {
    super(
      'TOKENFERRY_WORKER_DEPLOYMENT or TEMPORAL_DEPLOYMENT_NAME is set, but there is no workflow bundle. ' +
        'Create it with: npm run build',
    );
  }
}

/**
 * Returns the options that make a worker versioned.
 *
 * Migrations move to the current version, because they take weeks. A batch run is pinned to the version that started
 * it, because it takes a day at most (workflows/batch-run.ts).
 *
 * @param deploymentName undefined if the worker is not versioned
 * @param givenBuildId the build id that the Temporal Worker Controller expects of this worker; default: the hash of the
 * bundle
 * @throws {NoWorkflowBundle}
 */
export function versioningOptions(
  deploymentName: string | undefined,
  workflowBundle: WorkerOptions['workflowBundle'],
  givenBuildId?: string,
): Pick<WorkerOptions, 'workerDeploymentOptions'> {
  if (deploymentName === undefined) return {};
  if (workflowBundle === undefined) throw new NoWorkflowBundle();
  const code = 'code' in workflowBundle ? workflowBundle.code : readFileSync(workflowBundle.codePath, 'utf8');
  return {
    workerDeploymentOptions: {
      useWorkerVersioning: true,
      version: { deploymentName, buildId: givenBuildId ?? buildIdOf(code) },
      defaultVersioningBehavior: 'AUTO_UPGRADE',
    },
  };
}

/** The source map is the last line of a bundle. It is not part of the build id, because it does not change the code. */
const SOURCE_MAP = /\n\/\/# sourceMappingURL=.*\s*$/;
const BUILD_ID_LENGTH = 12;

/** Returns the build id of a workflow bundle: the beginning of the SHA-256 hash of its code, in hexadecimal. */
export function buildIdOf(code: string): string {
  return createHash('sha256').update(code.replace(SOURCE_MAP, '')).digest('hex').slice(0, BUILD_ID_LENGTH);
}
