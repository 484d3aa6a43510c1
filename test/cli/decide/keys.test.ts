/** Tests `ferry keys`, which creates and shows the signing key of a person. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ferry } from '../captured-terminal';

test('keys show prints the --approver option of each role, and the help explains the default of --by', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const run = (...args: string[]) => ferry(args, undefined, { TOKENFERRY_HOME: home });
  const created = await run('keys', 'create', '--by', 'Sam', '--json');
  const { publicKey } = JSON.parse(created.out) as { publicKey: string };
  const { out } = await run('keys', 'show');
  for (const role of ['support', 'client']) {
    expect(out).toContain(`  ${role}: --approver ${role}:Sam:${publicKey}\n`);
    expect(out).toContain(`  ${role}: ferry approver add "id of the migration" ${role}:Sam:${publicKey}\n`);
  }
  const help = await run('approve', '--help');
  expect(help.out.replace(/\s+/g, ' ')).toContain('(default: the name in your signing key, or else your user name)');
  rmSync(home, { recursive: true });
});

test('a signing key that cannot be read is named without a variable that is not set', async () => {
  const home = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const file = path.join(home, 'signing.key');
  mkdirSync(file);
  const pause = async (env: NodeJS.ProcessEnv) => (await ferry(['pause', 'acme.xero'], undefined, env)).err;
  const unset = await pause({ TOKENFERRY_HOME: home });
  expect(unset).toContain(`The signing key ${file} cannot be used: `);
  expect(unset).toContain('. Check that this is a file, and your permissions.');
  expect(unset).not.toContain('TOKENFERRY_SIGNING_KEY_FILE');
  expect(await pause({ TOKENFERRY_HOME: home, TOKENFERRY_SIGNING_KEY_FILE: file })).toContain(
    '. Check the path (TOKENFERRY_SIGNING_KEY_FILE) and your permissions.',
  );
  rmSync(home, { recursive: true });
});
