/** Tests that `ferry seal` finds the migration key in the complete output of `ferry migration-key`. */
import { existsSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { temporaryFolder } from '../../support/temporary-folder';
import { ferry } from '../captured-terminal';
import { runJson } from '../command-line';
import { startTestMigration } from '../../workflows/running-migration';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();

function fileOf(name: string, content: string): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

test('the key is found in the complete output of ferry migration-key, and a file without a key is refused', async () => {
  const { id, until: reached } = await startTestMigration(orchestrator, 'keyed', ['sbx-ok-1.e1']);
  await reached(({ preflight, checking }) => preflight !== null && !checking);
  const provider = String((await runJson(orchestrator, 'migration-key', id)).json['signedBy']);
  const { out } = await ferry(['migration-key', id], undefined, orchestrator.env);
  const env = { TOKENFERRY_HOME: folder, TOKENFERRY_PROVIDER_FINGERPRINT: provider };
  const secret = fileOf('secret.txt', 'the client secret');
  const seal = (key: string, output: string) =>
    ferry(
      ['seal', secret, '--client-id', 'app', '--environment', 'production', '--for', key, '--output', output],
      undefined,
      env,
    );
  for (const [name, text] of [
    ['unix.key', out],
    ['windows.key', out.replaceAll('\n', '\r\n')],
  ] as const) {
    const sealed = path.join(folder, `${name}.sealed`);
    const { exitCode, err } = await seal(fileOf(name, text), sealed);
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: '' });
    expect(existsSync(sealed)).toBe(true);
  }
  const { exitCode, err } = await seal(secret, path.join(folder, 'refused.sealed'));
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: `ferry: ${secret}, which was specified with --for, does not contain a migration key; specify the migration key that support sent, or a file that contains it\n`,
  });
});
