/** Tests how a versioned worker gets its name and build id. */
import { loadConfig } from '../../config';
import { buildIdOf, versioningOptions } from '../../worker/versioning';

const BUNDLE = { code: 'the workflow code' };

function versionOf(env: NodeJS.ProcessEnv): unknown {
  const { workerDeployment, workerBuildId } = loadConfig([], env, ['workerDeployment', 'workerBuildId']);
  return versioningOptions(workerDeployment, BUNDLE, workerBuildId).workerDeploymentOptions?.version;
}

test('the build id is the hash of the workflow code', () => {
  expect(versionOf({})).toBeUndefined();
  expect(versionOf({ TOKENFERRY_WORKER_DEPLOYMENT: 'acme' })).toEqual({
    deploymentName: 'acme',
    buildId: buildIdOf(BUNDLE.code),
  });
});

test('the version that the Temporal Worker Controller gives takes precedence', () => {
  const version = { TEMPORAL_DEPLOYMENT_NAME: 'production/acme', TEMPORAL_WORKER_BUILD_ID: '1.1.0-5d8f' };
  expect(versionOf({ ...version, TOKENFERRY_WORKER_DEPLOYMENT: 'acme' })).toEqual({
    deploymentName: 'production/acme',
    buildId: '1.1.0-5d8f',
  });
});
