/**
 * Checks that Temporal gives tasks to a version of the workers that is running (docs/upgrading.md). Changes nothing.
 */
import type { Connection } from '@temporalio/client';
import { readTaskQueue } from '../../client';
import { CHECK_TIMEOUT_MS, ok, problem, type CheckResult } from './check-result';

export const VERSIONS = 'worker versions';

/** `temporal.api.enums.v1.WorkerVersioningMode` and `VersionDrainageStatus` */
const VERSIONED = 2;
const DRAINING = 1;

interface Version {
  readonly deploymentName: string;
  readonly buildId: string;
}

/**
 * Returns no results if the workers are not versioned.
 *
 * @param nowMs the current time in milliseconds, from `sharedTimeMs`
 */
export async function checkWorkerVersions(
  connection: Pick<Connection, 'workflowService' | 'withDeadline'>,
  namespace: string,
  nowMs: Promise<number>,
): Promise<readonly CheckResult[]> {
  const { workflowService } = connection;
  const { versioning, pollers } = await readTaskQueue(workflowService, namespace, 'workflows', nowMs);
  const polling = pollers.flatMap(({ deploymentOptions }) =>
    Number(deploymentOptions?.workerVersioningMode) === VERSIONED ? [versionOf(deploymentOptions)] : [],
  );
  const isPolling = (version: Version): boolean => polling.some(({ buildId }) => buildId === version.buildId);
  const current = versioning?.currentDeploymentVersion ? versionOf(versioning.currentDeploymentVersion) : null;
  const [first] = polling;
  if (current === null) {
    if (first === undefined) return [];
    return [
      problem(
        VERSIONS,
        `build ${first.buildId} gets no tasks, because no build of the workers is current`,
        `make this build current with: ${makeCurrentCommand(first)}`,
      ),
    ];
  }
  if (!isPolling(current)) {
    const advice = first
      ? `start a worker with build ${current.buildId}, or make the running build ${first.buildId} current with: ${makeCurrentCommand(first)}`
      : `start a worker with build ${current.buildId}; decisions are kept until this worker runs`;
    return [problem(VERSIONS, `build ${current.buildId} is current, but no worker with that build is running`, advice)];
  }
  // Sets a new deadline, because `nowMs` waits for checks of other servers, and the earlier deadline can have passed.
  const pinned = await connection.withDeadline(Date.now() + CHECK_TIMEOUT_MS, () =>
    pinnedVersions(workflowService, namespace, current),
  );
  const abandoned = pinned.find((version) => !isPolling(version));
  if (abandoned !== undefined) {
    return [
      problem(
        VERSIONS,
        `no worker with build ${abandoned.buildId} is running, although a batch run still needs this build`,
        'start a worker with this build; docs/upgrading.md says what to do if the build no longer exists',
      ),
    ];
  }
  const older = pinned.map(({ buildId }) => buildId).join(', ');
  const finishing = older && `; builds still finishing batch runs: ${older}`;
  return [ok(VERSIONS, `build ${current.buildId} is current${finishing}`)];
}

function versionOf(version: { [Key in keyof Version]?: string | null } | null | undefined): Version {
  return { deploymentName: version?.deploymentName ?? '', buildId: version?.buildId ?? '' };
}

function makeCurrentCommand({ deploymentName, buildId }: Version): string {
  return `temporal worker deployment set-current-version --deployment-name ${deploymentName} --build-id ${buildId}`;
}

/** Returns the older versions that still have batch runs. */
async function pinnedVersions(
  workflowService: Connection['workflowService'],
  namespace: string,
  { deploymentName, buildId: currentId }: Version,
): Promise<readonly Version[]> {
  const { workerDeploymentInfo } = await workflowService.describeWorkerDeployment({ namespace, deploymentName });
  const older = (workerDeploymentInfo?.versionSummaries ?? []).flatMap(({ drainageInfo, deploymentVersion }) =>
    Number(drainageInfo?.status) === DRAINING && deploymentVersion?.buildId !== currentId
      ? [versionOf(deploymentVersion)]
      : [],
  );
  const counts = await Promise.all(
    older.map(({ buildId }) =>
      // Temporal updates the status of a version only every few minutes, so a draining version can already be without
      // batch runs.
      workflowService.countWorkflowExecutions({
        namespace,
        query: `TemporalWorkerDeploymentVersion = '${deploymentName}:${buildId}' AND WorkflowType = 'batchRun' AND ExecutionStatus = 'Running'`,
      }),
    ),
  );
  return older.filter((_, index) => Number(counts[index]?.count ?? 0) > 0);
}
