/** The versions of the workers: docs/upgrading.md */
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { buildIdOf } from '../../worker/versioning';
import { NAMESPACE } from './temporal/services';

export const DEPLOYMENT = 'tokenferry';
const KNOWN_WITHIN_MS = 60_000;

/**
 * Sets the deployment's current version to the build of a workflow bundle, as soon as a worker has announced the build
 * to Temporal.
 *
 * @param address Temporal's address
 * @throws Temporal's error if Temporal does not know the build in time
 */
export async function makeCurrent(address: string, bundle: string): Promise<void> {
  const connection = Connection.lazy({ address });
  const buildId = buildIdOf(readFileSync(bundle, 'utf8'));
  const deadline = Date.now() + KNOWN_WITHIN_MS;
  try {
    for (;;) {
      try {
        const version = { namespace: NAMESPACE, deploymentName: DEPLOYMENT, buildId };
        await connection.workflowService.setWorkerDeploymentCurrentVersion({ ...version, identity: 'chaos' });
        return;
      } catch (error) {
        if (Date.now() > deadline) throw error;
        await delay(200);
      }
    }
  } finally {
    await connection.close();
  }
}
