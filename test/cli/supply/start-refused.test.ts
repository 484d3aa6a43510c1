/** Tests what `ferry start`, `self-service` and `amend` say if a credential or a decision is refused. */
import { WorkflowClient } from '@temporalio/client';
import { ferry } from '../captured-terminal';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { readRow, updateRow } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';

const orchestrator = useOrchestrator();
afterAll(() => removeTempFiles());

test('start and self-service say why a credential is not stored if its company is left out while the details are checked', async () => {
  const id = 'raced.zoho-books';
  const { db } = orchestrator.ferry;
  const row = (number: number): string =>
    `Z-${number},Zoho ${number},900000000000000${number},com,1,any,sbx-ok-1.z${number},${new Date().toISOString()}\n`;
  const header = 'reference,name,organizationId,region,expectedInvoices,accessToken,refreshToken,obtainedAt\n';
  const file = tempFile(header + row(1) + row(2));
  const started = ferry(['start', file, '-p', 'zoho-books', '--client', 'raced'], undefined, orchestrator.env);
  const ownId = 'raced.wave';
  const own = (number: number): string =>
    `W-${number},Wave ${number},910000000000000${number},1,sbx-ok-1.w${number},${new Date().toISOString()}\n`;
  const ownFile = tempFile(`reference,name,businessId,expectedInvoices,accessToken,obtainedAt\n${own(1)}${own(2)}`);
  const ownArgs = ['self-service', ownFile, '-p', 'wave', '--client', 'raced', '--yes', '--detach'];
  const selfService = ferry(ownArgs, undefined, orchestrator.env);
  for (const each of [id, ownId]) {
    await until(() => readRow(db, each, 2).then(Boolean, () => false));
    // No worker is running yet, so the details are checked only after the company has been left out.
    await updateRow(db, each, 2, { state: 'excluded' });
  }
  await orchestrator.startWorker();
  const { out } = await started;
  expect(out).not.toContain('must be checked first');
  expect(out).toContain(
    `Not stored: 1 credential, because its company is no longer waiting to be moved. See the states with: ferry companies ${id}`,
  );
  expect((await selfService).out).toContain(
    `Not stored: 1 credential, because its company is no longer waiting to be moved. See the states with: ferry companies ${ownId}`,
  );
});

test('self-service and amend say that the migration has refused their decision, and fail', async () => {
  const text = 'the migration has been cancelled';
  const prototype: WorkflowClient = WorkflowClient.prototype;
  const original = Object.getOwnPropertyDescriptor(prototype, 'getHandle')?.value as WorkflowClient['getHandle'];
  jest.spyOn(prototype, 'getHandle').mockImplementation(function (this: WorkflowClient, id: string) {
    const handle = original.call(this, id);
    const executeUpdate = async (_message: string, { args: [decision] }: { args: [{ decisionId: string }] }) => ({
      ...{ decisionId: decision.decisionId, applied: false, text, at: new Date().toISOString() },
    });
    return { ...handle, executeUpdate } as never;
  });
  const row = (invoices: number): string =>
    `W-1,Wave,9200000000000001,${invoices},sbx-ok-1.refused,${new Date().toISOString()}\n`;
  const file = (invoices: number): string =>
    tempFile(`reference,name,businessId,expectedInvoices,accessToken,obtainedAt\n${row(invoices)}`);
  const run = (...args: string[]) => ferry(args, undefined, orchestrator.env);
  const started = await run('self-service', file(1), '-p', 'wave', '--client', 'refused', '--yes', '--detach');
  expect(started.out).toContain(`Not stored: 1 credential. The migration has been cancelled`);
  expect(started.exitCode).toBe(1);
  const amended = await run('amend', 'refused.wave', file(2), '--as', 'client', '--by', 'Cleo');
  expect(amended.out).toMatch(/✗ refused\.wave: .* 1 corrected[^]*the migration has been cancelled/);
  expect(amended.exitCode).toBe(1);
});
