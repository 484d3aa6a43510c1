/** A worker that runs only the empty workflow. */
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { loadConfig } from '../../config';
import { EMPTY_QUEUE, type BaselineCalls } from './baseline-updates';
import { serveParent } from './child-process';

let stop = async (): Promise<void> => undefined;

const served: BaselineCalls = {
  start: async (variables) => {
    Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
    const { namespace, connectionOptions } = loadConfig(['temporal'], variables).temporal;
    const connection = await NativeConnection.connect(connectionOptions);
    const workflowsPath = require.resolve('./empty-workflow');
    const worker = await Worker.create({ connection, namespace, taskQueue: EMPTY_QUEUE, workflowsPath });
    const ended = worker.run();
    stop = async () => {
      worker.shutdown();
      await ended;
      await connection.close();
    };
  },
};

serveParent(served, () => stop());
