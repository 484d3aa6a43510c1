/**
 * Makes the Temporal SDK download its dev server into a folder: `node temporal-download.mjs <folder> <version>`.
 * The SDK does so only on the way to starting it, so it is started, and stopped at once. A process of its own, because
 * the SDK cannot be told to give up, and because its native part should not be loaded by whoever only looks.
 */
import { createRequire } from 'node:module';

const { TestWorkflowEnvironment } = createRequire(import.meta.url)('@temporalio/testing');
const [downloadDir, version] = process.argv.slice(2);

try {
  const environment = await TestWorkflowEnvironment.createLocal({
    server: { executable: { type: 'cached-download', downloadDir, version } },
  });
  await environment.teardown();
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
