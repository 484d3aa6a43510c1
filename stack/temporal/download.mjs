/**
 * Makes the Temporal SDK download its dev server into a folder: `node temporal-download.mjs <folder> <version>`.
 * The SDK does so only on the way to starting it, so it is started, and stopped at once. A process of its own, because
 * the SDK cannot be told to give up, and because its native part should not be loaded by whoever only looks.
 */
import testing from '@temporalio/testing'; // CommonJS: its names are not importable one by one

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
