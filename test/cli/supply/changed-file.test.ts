/** Tests commands that start a migration while the file with its credentials changes. */
import { appendFileSync } from 'node:fs';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { readMigration } from '../../../store';
import { ferry } from '../captured-terminal';

const orchestrator = useOrchestrator();
afterAll(() => removeTempFiles());

const obtainedAt = new Date().toISOString();
const CASES = {
  start: {
    platform: 'zoho-books',
    header: 'reference,name,organizationId,region,expectedInvoices,accessToken,refreshToken,obtainedAt\n',
    row: (number: number) => `Z-${number},Zoho,900000000000002${number},com,1,any,sbx-ok-1.c${number},${obtainedAt}\n`,
  },
  'self-service': {
    platform: 'wave',
    header: 'reference,name,businessId,expectedInvoices,accessToken,obtainedAt\n',
    row: (number: number) => `W-${number},Wave,900000000000003${number},1,sbx-ok-1.w${number},${obtainedAt}\n`,
  },
};

test('a credential file that changes after the start is not a reason to start again', async () => {
  const started = async (command: keyof typeof CASES, ...options: readonly string[]) => {
    const { platform, header, row } = CASES[command];
    const id = `changed.${platform}`;
    const file = tempFile(header + row(1));
    const args = [command, file, '--platform', platform, '--client', 'changed', ...options];
    const running = ferry(args, undefined, orchestrator.env);
    await until(async () => (await readMigration(orchestrator.ferry.db, id)) !== undefined);
    appendFileSync(file, row(2));
    return { id, file, running };
  };
  // No worker is running yet, so the commands wait between the check of the file and the storing of its credentials.
  const managed = await started('start');
  const selfService = await started('self-service', '--yes', '--detach');
  await orchestrator.startWorker();

  for (const [{ id, file, running }, actor] of [
    [managed, ''],
    [selfService, ' --as client --by tester'],
  ] as const) {
    const { exitCode, err } = await running;
    expect(exitCode).toBe(1);
    expect(err).toContain(`${id} has started, but ${file} changed while its credentials were being read`);
    expect(err).toContain(`supply the credentials with: ferry credentials ${id} '${file}'${actor}`);
    expect(err).not.toContain('run the command again');
  }
});
