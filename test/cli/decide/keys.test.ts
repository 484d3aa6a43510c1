/** Tests `ferry keys`, which creates and shows the signing key of a person. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ferry } from '../captured-terminal';

test('keys show prints the --approver option of each role, and the help explains the default of --by', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const run = (...args: string[]) => ferry(args, undefined, { TOKENFERRY_HOME: home });
  const created = await run('keys', 'create', '--by', 'Sam', '--json');
  const { publicKey } = JSON.parse(created.out) as { publicKey: string };
  const { out } = await run('keys', 'show');
  for (const role of ['support', 'client']) expect(out).toContain(`  ${role}: --approver ${role}:Sam:${publicKey}\n`);
  const help = await run('approve', '--help');
  expect(help.out.replace(/\s+/g, ' ')).toContain('(default: the name in your signing key, or else your user name)');
  rmSync(home, { recursive: true });
});
