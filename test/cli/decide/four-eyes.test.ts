/** Tests the four-eyes rule in a migration that accepts only signed decisions, with people on several machines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();
const approvers = new Map<string, string>();
const ID = 'eyes.quickbooks-online';
const ADD = `ferry approver add ${ID} "support:name:key"`;

const run = (machine: string, ...args: string[]) =>
  ferry(args, undefined, { ...orchestrator.env, TOKENFERRY_HOME: path.join(folder, machine) });
const approverOf = (name: string): string => approvers.get(name) ?? '';
const remove = (name: string) => run('Sam', 'approver', 'remove', ID, approverOf(name), '--yes');
const supply = async () => {
  const secret = path.join(folder, 'secret.txt');
  writeFileSync(secret, 'a-client-secret', { mode: 0o600 });
  const application = ['application', ID, '--client-id', 'eyes-app', '--environment', 'production'];
  return run('Sam', ...application, '--secret-file', secret);
};

beforeAll(async () => {
  for (const [name, role] of [
    ['Sam', 'support'],
    ['Ann', 'support'],
    ['Kim', 'support'],
    ['Cleo', 'client'],
    ['Carl', 'client'],
  ] as const) {
    mkdirSync(path.join(folder, name));
    const { out } = await run(name, 'keys', 'create', '--by', name, '--json');
    approvers.set(name, `${role}:${name}:${(JSON.parse(out) as { publicKey: string }).publicKey}`);
  }
  const manifest = path.join(folder, 'manifest.csv');
  writeFileSync(manifest, 'reference,name,realmId,expectedInvoices\nC-1,Corner Shop,7400000000000001,3\n');
  const start = [
    'start',
    manifest,
    '--platform',
    'quickbooks-online',
    '--client',
    'eyes',
    '--by',
    'Mia',
    '--four-eyes',
  ];
  const keys = ['Sam', 'Ann', 'Cleo', 'Carl'].flatMap((name) => ['--approver', approverOf(name)]);
  expect(await run('nobody', ...start, ...keys)).toMatchObject({ exitCode: 0 });
});

test('an unsigned approval names only people whose approval the rule accepts', async () => {
  const approval = ['approve', ID, 'supply-details', '--by', 'Kim', '--yes'];
  expect((await run('nobody', ...approval)).out).toContain('  to sign the decision, Sam or Ann must run the command');
  expect(await supply()).toMatchObject({ exitCode: 0 });
  expect((await run('nobody', ...approval)).out).toContain('  to sign the decision, Ann must run the command');
});

test('a key that the rule still needs is removed only after another approver was added', async () => {
  expect(await remove('Ann')).toMatchObject({
    exitCode: 1,
    err: `ferry: under the four-eyes rule, no other approver for support can approve step 1 (supply details); add another approver before you remove this key; nothing was changed; to add an approver, run: ${ADD}\n`,
  });
  expect(await run('Sam', 'approver', 'add', ID, approverOf('Kim'), '--yes')).toMatchObject({ exitCode: 0 });
  expect(await remove('Ann')).toMatchObject({ exitCode: 0 });
});

test('if the rule excludes every approver of a role, the commands say to add another', async () => {
  const { exitCode } = await run('Kim', 'manifest', ID, path.join(folder, 'manifest.csv'));
  expect(exitCode).toBe(0);
  const excluded = `the four-eyes rule excludes every approver for support, so add another with: ${ADD}`;
  await until(async () => (await run('nobody', 'go-nogo', ID)).out.includes(`(step 1, supply details); ${excluded}\n`));
  const { out: shown } = await run('nobody', 'show', ID);
  expect(shown).toContain('Four-eyes rule: no approver for support can approve this step; add another approver\n');
  expect(shown).toContain(
    `  first another person at support creates a key with: ferry keys create; then\n  support: ${ADD}\n`,
  );
  expect(shown).not.toContain('ferry approve ');
  const { out } = await run('Sam', 'approve', ID, '--yes');
  expect(out).toContain(`  four-eyes rule: no approver for support can approve the step; add another with: ${ADD}\n`);
  const unsigned = await run('nobody', 'approve', ID, '--by', 'Ann', '--yes');
  expect(unsigned.out).toContain(
    `  the four-eyes rule excludes every approver for support from this step; add another with: ${ADD}\n`,
  );
});
