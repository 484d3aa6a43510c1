/**
 * Uses the SDK to download Temporal's dev server into a folder: `node download.mjs <folder> <version>`. The SDK
 * downloads the server only in order to start it, so this script starts it and stops it at once. Runs as a separate
 * process, because the download cannot be cancelled, and because the caller should not load the SDK's native module.
 */
import testing from '@temporalio/testing'; // CommonJS without named exports

const [downloadDir, version] = process.argv.slice(2);

try {
  const environment = await testing.TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version } },
  });
  await environment.teardown();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
