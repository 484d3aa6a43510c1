/** Tests a self-service migration that is started before any worker is running. */
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestrator();
afterAll(() => removeTempFiles());

const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);

test('self-service stores no credentials without a worker, and the client can supply them once a worker is running', async () => {
  const id = 'early.wave';
  const header = 'reference,name,businessId,expectedInvoices,accessToken,obtainedAt\n';
  const file = tempFile(
    `${header}E-1,Early,9000000000000001,1,sbx-ok-1.9000000000000001,${new Date().toISOString()}\n`,
  );
  const started = await run('self-service', file, '--platform', 'wave', '--client', 'early', '--yes');
  expect(started.exitCode).toBe(1);
  expect(started.out).toContain('No worker is answering yet; make sure that a worker is running');
  expect(started.out).toContain(
    `Not stored yet: 1 credential. Once the preflight has finished, supply the file with: ferry credentials ${id} '${file}' --as client --by tester`,
  );
  expect(started.out).toContain(`Watch the migration with: ferry watch ${id}`);

  await orchestrator.startWorker();
  await until(async () => (await run('credentials', id, file, '--as', 'client')).exitCode === 0);
  const { exitCode, out } = await run('watch', id);
  expect({ exitCode, out }).toEqual({ exitCode: 0, out: expect.stringContaining(`${id}: completed`) as string });
});
