/** Tests adding and removing approvers of a running migration, with people on several machines. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { approverFingerprint } from '../../../domain/migration/approvers';
import { createInvitation, listInvitations, pauseForProblem, setPaused } from '../../../store';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { temporaryFolder } from '../../support/temporary-folder';

const orchestrator = useOrchestratorWithWorker();
const folder = temporaryFolder();
const keys = new Map<string, string>();
const OPEN = 'keys.quickbooks-online';
const SIGNED = 'keys.quickbooks-online.signed';

const run = (machine: string, ...args: string[]) =>
  ferry(args, undefined, { ...orchestrator.env, TOKENFERRY_HOME: path.join(folder, machine) });
const keyOf = (machine: string): string => keys.get(machine) ?? '';
const fingerprintOf = (machine: string): string => approverFingerprint({ publicKey: keyOf(machine) });

beforeAll(async () => {
  for (const [machine, name] of [
    ['sam', 'Sam'],
    ['cleo', 'Cleo'],
    ['phone', 'Cleo'],
    ['dana', 'Dana'],
  ] as const) {
    mkdirSync(path.join(folder, machine));
    const { out } = await run(machine, 'keys', 'create', '--by', name, '--json');
    keys.set(machine, (JSON.parse(out) as { publicKey: string }).publicKey);
  }
  await start('7300000000000001');
  await start('7300000000000002', '--label', 'signed', '--approver', `support:Sam:${keyOf('sam')}`);
});

async function start(organization: string, ...more: string[]): Promise<void> {
  const manifest = path.join(folder, `${organization}.csv`);
  writeFileSync(manifest, `reference,name,realmId,expectedInvoices\nC-1,Corner Shop,${organization},3\n`);
  const command = ['start', manifest, '--platform', 'quickbooks-online', '--client', 'keys', '--by', 'Mia', ...more];
  expect(await run('nobody', ...command)).toMatchObject({ exitCode: 0 });
}

/** Creates an invitation, and registers the person's key with it, as the portal does when the person opens the link. */
async function invite(person: string, publicKey: string, migrationId = OPEN): Promise<string> {
  const { db } = orchestrator.ferry;
  const invited = { migrationId, person, role: 'client', email: null, createdBy: 'Sam' } as const;
  const { id } = await createInvitation(db, { ...invited, expiresAt: new Date(Date.now() + 3_600_000) });
  const registered = { public_key: publicKey, redeemed_at: new Date() };
  await db.updateTable('portal_invitations').set(registered).where('id', '=', id).execute();
  return id;
}
const invitation = async (id: string) =>
  (await listInvitations(orchestrator.ferry.db, OPEN)).find((each) => each.id === id);

const pause = (machine: string, id: string, ...more: string[]) => run(machine, 'pause', id, '--as', 'client', ...more);
const UNSIGNED =
  'If the client made decisions before its first key was added, they are not signed: the verification explains this, marks each of them with ✗ and ends with exit code 1.\n';
const MUST_SIGN = 'must be signed by an approver; this one is not';

test('the key of an invited person is found by its fingerprint, confirmed, and required from then on', async () => {
  const id = await invite('Cleo', keyOf('cleo'));
  expect(await pause('nobody', OPEN, '--by', 'Cleo')).toMatchObject({ exitCode: 0 });
  await run('nobody', 'resume', OPEN, '--by', 'Sam', '--yes');
  const unknown = await run('nobody', 'approver', 'add', OPEN, fingerprintOf('dana'), '--by', 'Sam', '--yes');
  expect(unknown).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('has a key with this fingerprint') as string,
  });

  const spoken = fingerprintOf('cleo').replaceAll('-', ' ').toUpperCase();
  const added = await run('nobody', 'approver', 'add', OPEN, spoken, '--by', 'Sam', '--yes');
  // Cleo signs her decisions in the portal, so `ferry show` must not suggest unsigned decisions with `--as client`.
  await run('nobody', 'approve', OPEN, 'supply-details', '--by', 'Sam', '--yes');
  const shown = await ferry(['show', OPEN], undefined, {
    ...orchestrator.env,
    TOKENFERRY_PORTAL_URL: 'https://portal.example',
  });
  expect(shown.out).not.toContain('--as client');
  expect(shown.out).toContain(`ferry --portal https://portal.example propose-time ${OPEN} "`);
  expect(shown.out).toContain(`support: ferry propose-time ${OPEN} "`);
  expect(added).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining(`Cleo (client) added as an approver, key ${fingerprintOf('cleo')}`) as string,
  });
  expect(added.out).toContain(`  ${UNSIGNED}`);
  expect((await invitation(id))?.keyConfirmedAt).toBeInstanceOf(Date);
  expect((await run('nobody', 'show', OPEN)).out).toContain(
    'Decisions of the client must be signed by Cleo (client)\n',
  );

  expect(await pause('nobody', OPEN, '--by', 'Cleo')).toMatchObject({
    exitCode: 1,
    out: expect.stringContaining(`decisions of the client in this migration ${MUST_SIGN}`) as string,
  });
  const unsigned = ['pause', OPEN, '--as', 'client', '--by', 'Cleo'];
  const env = { ...orchestrator.env, TOKENFERRY_PORTAL_URL: 'https://portal.example' };
  expect((await ferry(unsigned, undefined, env)).out).toContain(
    `  the client must make this decision on the page of the portal, or with ferry --portal; to see the command, the client runs: ferry --portal https://portal.example show ${OPEN}\n`,
  );
  // The client does not approve step 1, so the portal offers no such decision.
  const details = ['approve', OPEN, 'supply-details', '--as', 'client', '--by', 'Cleo', '--yes'];
  const ofSupport = await ferry(details, undefined, env);
  expect(ofSupport.out).toContain('  only support can approve step 1 (supply details)\n');
  expect(ofSupport.out).not.toContain('the client must make this decision');
  const first = ['first-company', OPEN, 'C-1', '--as', 'client', '--by', 'Cleo', '--reason', 'small'];
  expect((await ferry(first, undefined, env)).out).toContain('  only support can choose the first company\n');
  const disabled = await ferry(['approve', OPEN, 'disable-syncing', '--yes', '--by', 'Sam'], undefined, env);
  expect(disabled.out).toContain(
    `the client confirms it with: ferry --portal https://portal.example confirm-sync-disabled ${OPEN} --all\n`,
  );
  // Step 1 has ended, so the portal does not offer another application now.
  const supplied = ['application', OPEN, '--client-id', 'other', '--environment', 'production'];
  const secret = path.join(folder, 'secret.txt');
  writeFileSync(secret, 'a-client-secret', { mode: 0o600 });
  const refused = await ferry([...supplied, '--secret-file', secret, '--as', 'client', '--by', 'Cleo'], undefined, env);
  expect(refused.out).toContain(
    `  the portal offers this decision again once support has opened step 1 again with: ferry reject ${OPEN} supply-details --reason "why"\n`,
  );
  // The portal offers another application while the migration is paused because the platform refused the application.
  const { db } = orchestrator.ferry;
  await pauseForProblem(db, OPEN, { stop: 'application-refused', numbers: null });
  const paused = await ferry([...supplied, '--secret-file', secret, '--as', 'client', '--by', 'Cleo'], undefined, env);
  expect(paused.out).toContain(
    '  the client must make this decision on the page of the portal, or with ferry --portal;',
  );
  await setPaused(db, OPEN, false);
  const rows = path.join(folder, 'rows.csv');
  writeFileSync(rows, 'reference,name,realmId,expectedInvoices\nR-9,Nine,999999999,1\n');
  const amended = await ferry(['amend', OPEN, rows, '--as', 'client', '--by', 'Cleo'], undefined, env);
  expect(amended.out + amended.err).toContain(
    `the portal does not offer this decision; support makes it with: ferry amend ${OPEN} companies.csv`,
  );
  // Outside step 1, support registers another application, unless the platform has refused the application.
  await updateRow(orchestrator.ferry.db, OPEN, 1, { state: 'failed', failure: 'application-refused' });
  const { out: listed } = await ferry(['exceptions', OPEN], undefined, env);
  expect(listed).toContain(`  ferry application ${OPEN} --client-id "client id" --environment production\n`);
  expect(listed).toContain(`  ferry replace-credential ${OPEN} new-credentials.csv\n`);
  await updateRow(orchestrator.ferry.db, OPEN, 1, { state: 'waiting', failure: null });
  expect((await pause('dana', OPEN)).out).toContain('does not belong to an approver');
  expect(await pause('cleo', OPEN)).toMatchObject({ exitCode: 0 });
  expect(await run('nobody', 'resume', OPEN, '--by', 'Sam', '--yes')).toMatchObject({ exitCode: 0 });
});

test('a removed key is refused, and its invitation is revoked; the last key cannot be removed', async () => {
  const last = await run('nobody', 'approver', 'remove', OPEN, fingerprintOf('cleo'), '--by', 'Sam', '--yes');
  expect([last.exitCode, last.err]).toEqual([1, expect.stringContaining('the last key of an approver for the client')]);
  const id = await invite('Cleo', keyOf('phone'));
  const second = await run('nobody', 'approver', 'add', OPEN, fingerprintOf('phone'), '--by', 'Sam', '--yes');
  expect(second.out).not.toContain(UNSIGNED);
  expect(await pause('phone', OPEN)).toMatchObject({ exitCode: 0 });
  const remove = ['approver', 'remove', OPEN, fingerprintOf('phone'), '--by', 'Sam'];
  const questions: string[] = [];
  const confirm = async (question: string) => questions.push(question) === 0;
  await ferry(remove, undefined, orchestrator.env, { confirm });
  expect(questions).toEqual([
    `From now on, refuse decisions that are signed with the key ${fingerprintOf('phone')} of Cleo (client), and revoke the invitation of Cleo to the portal?`,
  ]);
  expect(await invitation(id)).toMatchObject({ revokedBy: null });
  const removed = await run('nobody', ...remove, '--yes');
  expect(removed).toMatchObject({ exitCode: 0, out: expect.stringContaining('its sessions have ended') as string });
  expect(await invitation(id)).toMatchObject({ revokedBy: 'Sam' });
  expect((await pause('phone', OPEN)).out).toMatch(
    /Sam removed this key of Cleo \(client\) at .+; sign with another key, or ask support to add this key again\n/,
  );
  // Decisions that the removed key has signed remain in effect, so a verification needs its fingerprint.
  const keys = [fingerprintOf('cleo'), fingerprintOf('phone')];
  const verified = `--verify trail.jsonl ${keys.map((each) => `--approver client:Cleo:${each}`).join(' ')}\n`;
  expect((await run('nobody', 'invite', OPEN, '--list')).out).toContain(`${verified}${UNSIGNED}`);
  const again = await run('nobody', 'approver', 'remove', OPEN, fingerprintOf('phone'), '--by', 'Sam', '--yes');
  expect(again).toMatchObject({ exitCode: 1, err: expect.stringContaining('no approver of') as string });
});

test('if support must sign, approvers of the client can be added only with a key of support', async () => {
  const key = `client:Dana:${keyOf('dana')}`;
  const signing = 'Decisions must be signed by Sam (support); no approver for the client has been added yet\n';
  expect((await run('nobody', 'show', SIGNED)).out).toContain(signing);
  expect((await pause('dana', SIGNED)).out).toContain('does not belong to an approver');
  const refused = async (env = {}) =>
    ferry(['pause', SIGNED, '--as', 'client', '--by', 'Cleo'], undefined, { ...orchestrator.env, ...env });
  expect((await refused()).out).toContain(
    `  no approver for the client has been added yet; a person creates a key with: ferry keys create; then support adds the key with: ferry approver add ${SIGNED} "client:name:key"\n`,
  );
  const withPortal = await refused({ TOKENFERRY_PORTAL_URL: 'https://portal.example' });
  expect(withPortal.out).toContain(`; invite a person with: ferry invite ${SIGNED} --name "name of the person"\n`);
  await invite('Cleo', keyOf('cleo'), SIGNED);
  const seeHow = `; to see how to confirm the key of an invited person, run: ferry invite --list ${SIGNED}\n`;
  expect((await refused()).out).toContain(seeHow);
  const unsigned = await run('nobody', 'approver', 'add', SIGNED, key, '--by', 'Sam', '--yes');
  expect(unsigned).toMatchObject({ exitCode: 1, err: expect.stringContaining(MUST_SIGN) as string });
  const added = await run('sam', 'approver', 'add', SIGNED, key, '--reason', 'first key', '--yes');
  expect(added).toMatchObject({ exitCode: 0 });
  const keep =
    '  Keep the fingerprint. To verify later what was signed with this key and the keys added before it, run:\n';
  expect(added.out).toContain(keep);
  const again = `  If you add another key, print these commands again, with all keys:\n  ferry invite --list ${SIGNED}\n`;
  expect(added.out).toContain(again);
  expect(added.out).toContain(
    `ferry audit ${SIGNED} --verify trail.jsonl --approver support:Sam:${fingerprintOf('sam')} --approver client:Dana:${fingerprintOf('dana')}\n`,
  );
  expect(await pause('dana', SIGNED)).toMatchObject({ exitCode: 0 });
});

test('the handover report proves the confirmations of an added approver', async () => {
  const confirmed = await run('dana', 'confirm-sync-disabled', SIGNED, '--all', '--as', 'client');
  expect(confirmed).toMatchObject({ exitCode: 0 });
  const { out } = await run('nobody', 'report', SIGNED, '--format', 'md');
  expect(out).toContain('Signed decisions: every confirmation, and every permission to move companies, is backed');
  expect(out).toContain(`add Dana (client) as an approver, key ${fingerprintOf('dana')} (first key)`);
});

describe('the verification of an exported trail', () => {
  /** Exports a trail, changes its lines, and verifies it with these approvers. */
  async function verify(
    id: string,
    given: readonly string[],
    change = (line: string): string => line,
    exporter = 'nobody',
  ) {
    const file = path.join(folder, 'trail.jsonl');
    const { out } = await run(exporter, 'audit', id, '--format', 'jsonl');
    writeFileSync(file, out.split('\n').map(change).join('\n'));
    const approvers = given.flatMap((each) => ['--approver', each]);
    return ferry(['audit', id, '--verify', file, ...approvers], undefined, {});
  }

  test('trusts an approver if support has signed the addition of this approver, and names the approver', async () => {
    const { exitCode, out } = await verify(SIGNED, [`support:Sam:${keyOf('sam')}`]);
    expect({ exitCode, out }).toEqual({
      exitCode: 0,
      out: expect.stringContaining(
        `support added Dana (client); ask Dana for the fingerprint of the key, and compare it with: ${fingerprintOf('dana')}`,
      ) as string,
    });
  });

  test('detects decisions of an approver if support has not signed the addition of this approver', async () => {
    const unsigned = (line: string): string => {
      if (!line.includes('"kind":"add-approver"')) return line;
      const { signed: _, ...entry } = JSON.parse(line) as { readonly signed?: unknown };
      return JSON.stringify(entry);
    };
    const { exitCode, out } = await verify(SIGNED, [`support:Sam:${keyOf('sam')}`], unsigned);
    expect(exitCode).toBe(1);
    expect(out).toContain('this decision was applied but is not signed');
    expect(out).toContain('a key that does not belong to an approver');
  });

  test('an export that support has signed is verified with its key; with only keys of the client, no such signature is required', async () => {
    const key = `support:Sam:${keyOf('sam')}`;
    const signed = await verify(SIGNED, [key], undefined, 'sam');
    expect(signed).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('Sam exported and signed the trail') as string,
    });
    const change = (line: string): string => line.replace('"reason":"first key"', '"reason":"another"');
    expect(await verify(SIGNED, [key], change, 'sam')).toMatchObject({ exitCode: 1 });

    const own = await verify(SIGNED, [`client:Dana:${keyOf('dana')}`], undefined, 'sam');
    expect(own).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('The export is signed with a key that you did not pass. The decisions of') as string,
    });
    expect(own.out).toContain('ferry did not verify 1 decision of support, because no key of support was given');
  });

  test('accepts the fingerprint of a key instead of the key, because people compare fingerprints', async () => {
    const fingerprint = `client:Dana:${fingerprintOf('dana').toUpperCase().replaceAll('-', ' ')}`;
    expect(await verify(SIGNED, [fingerprint])).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining(
        'the signature of every applied decision of the client matches the recorded decision',
      ) as string,
    });
    const changed = (line: string): string => line.replace('"kind":"sync-disabled"', '"kind":"resume"');
    expect(await verify(SIGNED, [fingerprint], changed)).toMatchObject({ exitCode: 1 });

    const others = await verify(SIGNED, [`client:Dana:${fingerprintOf('cleo')}`]);
    expect(others).toMatchObject({ exitCode: 1 });
    expect(others.out).toContain(
      `signed with a key that you did not pass with --approver: ${fingerprintOf('dana')}, which support added for Dana (client)\n`,
    );
    expect(others.out).not.toContain('the ledger shows');
    expect(others.out).toContain(
      `  ferry audit ${SIGNED} --verify ${path.join(folder, 'trail.jsonl')} --approver client:Dana:${fingerprintOf('cleo')} --approver client:Dana:${fingerprintOf('dana')}\n`,
    );
    expect(others.out).toContain('nothing in the trail is signed with the key that you passed for Dana (client)');
  });

  test('with only keys of the client, verifies its decisions and counts those of support', async () => {
    const { exitCode, out } = await verify(OPEN, [`client:Cleo:${keyOf('cleo')}`, `client:Cleo:${keyOf('phone')}`]);
    // The client's first decision was sent without a signature, before the client had an approver.
    expect(exitCode).toBe(1);
    expect(out.match(/this decision was applied but is not signed/g)).toHaveLength(1);
    expect(out).toMatch(
      /^According to line \d+, support added the key of Cleo \(client\) on .*1 decision of the client, in line \d+, is older and not signed.*\n✗ line/,
    );
  });
});
