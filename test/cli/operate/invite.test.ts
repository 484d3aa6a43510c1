import { randomUUID } from 'node:crypto';
import { createPortalToken, hashPortalToken } from '../../../security/secret';
import { fingerprintOf } from '../../../security';
import { listInvitations, markKeyConfirmed, openMigration, recordDecisions, supplyMigration } from '../../../store';
import { call, connectAsPortal, PUBLIC_KEY } from '../../store/portal/portal-role';
import { manifestRows, suppliedMigration, useLedger } from '../../support/migrations/ledger';
import { createTemporaryFolder } from '../../../stack/folders';
import { ferry } from '../captured-terminal';

const ledger = useLedger();
const PROVIDER = 'ABCD 0123 4567 89ab cdef 0123 4567 89AB';
const home = createTemporaryFolder();

const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  ferry(['invite', ...args], undefined, {
    ...{ TOKENFERRY_HOME: home, DATABASE_URL: ledger.url, TOKENFERRY_PORTAL_URL: 'https://portal.example/' },
    ...{ TOKENFERRY_PROVIDER_FINGERPRINT: PROVIDER, ...env },
  });

async function createMigration(): Promise<string> {
  const { id, ...others } = suppliedMigration();
  await supplyMigration(ledger.db, { id, ...others }, manifestRows(1));
  await openMigration(ledger.db, id);
  return id;
}

test('prints a link that opens the portal once, with the fingerprint of the provider', async () => {
  const migration = await createMigration();
  const { exitCode, out } = await run([migration, '--name', ' Cleo ', '--email', 'cleo@acme.example']);
  expect(exitCode).toBe(0);
  expect(out).toContain(`Invited Cleo to ${migration} as client. Send this link only to Cleo:\n`);
  const link = /https:\S+/.exec(out)?.[0] ?? '';
  const { origin, pathname, search, hash } = new URL(link);
  expect([origin, pathname, search]).toEqual(['https://portal.example', '/', '']);
  const fragment = new URLSearchParams(hash.slice(1));
  expect(fragment.get('provider')).toBe('abcd-0123-4567-89ab-cdef-0123-4567-89ab');

  const portal = await connectAsPortal(ledger);
  const token = hashPortalToken(fragment.get('invitation') ?? '');
  const redeem = () => call(portal, 'redeem', token, hashPortalToken(createPortalToken()), PUBLIC_KEY, 3_600_000);
  expect(await redeem()).toMatchObject([{ person: 'Cleo', role: 'client', migration_id: migration }]);
  expect(await redeem()).toEqual([]);
  await portal.end();

  expect(out).toContain(
    `To see the fingerprint to compare, and the command that confirms the key, run: ferry invite --list ${migration}\n`,
  );

  expect(out).toMatch(/^To revoke the invitation, run: ferry invite --revoke [\da-f]{8}\n$/m);

  const { out: listed } = await run(['--list', migration]);
  expect(listed).toMatch(/Cleo +client +link +signed in, last used \d\d:\d\d +not confirmed\n/);
  const fingerprint = fingerprintOf(Buffer.from(PUBLIC_KEY, 'hex'));
  expect(listed).toContain(
    `If the fingerprint is the same, confirm the key with:\n  ferry approver add ${migration} ${fingerprint}\n`,
  );
  const [invitation] = await listInvitations(ledger.db, migration);
  await markKeyConfirmed(ledger.db, invitation?.id ?? '');
  expect((await run(['--list', migration])).out).toMatch(/ confirmed\n$/);
  expect((await run(['--revoke', invitation?.id ?? ''])).out).toBe(
    `✓ Cleo's invitation to ${migration} is revoked, and its sessions have ended.
To stop accepting decisions that Cleo signs with their key, run: ferry approver remove ${migration} ${fingerprint}\n`,
  );
});

test('revoking says how to replace the last key of an approver for the client, which cannot be removed', async () => {
  const migration = await createMigration();
  const accept = async (by: string, publicKey: string) => {
    const decisionId = randomUUID();
    const approver = { role: 'client', by, publicKey } as const;
    const decision = { decisionId, kind: 'add-approver', role: 'support', by: 'Sam', approver } as const;
    const outcome = { decisionId, applied: true, text: '', at: new Date().toISOString() };
    await recordDecisions(ledger.db, migration, [{ decision, outcome, verified: true }]);
  };
  const revokeWithKey = async () => {
    const { out } = await run([migration, '--name', 'Cleo', '--json']);
    const { id } = JSON.parse(out) as { readonly id: string };
    await ledger.db
      .updateTable('portal_invitations')
      .set({ public_key: PUBLIC_KEY, redeemed_at: new Date(), key_confirmed_at: new Date() })
      .where('id', '=', id)
      .execute();
    return (await run(['--revoke', id])).out;
  };
  const removal = `run: ferry approver remove ${migration} ${fingerprintOf(Buffer.from(PUBLIC_KEY, 'hex'))}\n`;
  await accept('Cleo', PUBLIC_KEY);
  expect(await revokeWithKey()).toContain(
    `so first add another key, for example with: ferry invite ${migration} --name Cleo; once you have confirmed the new key, ${removal}`,
  );
  await accept('Finn', 'cd'.repeat(32));
  expect(await revokeWithKey()).toContain(`To stop accepting decisions that Cleo signs with their key, ${removal}`);
});

test('prints only the link with --quiet, and the invitation with --json', async () => {
  const migration = await createMigration();
  const quiet = await run([migration, '--name', 'Finn', '--role', 'viewer', '--expires', '12h', '--quiet']);
  expect(quiet.out).toMatch(/^https:\/\/portal\.example\/#invitation=[\w-]{43}&provider=[0-9a-f-]{39}\n$/);
  const { out } = await run([
    migration,
    '--name',
    'Finn',
    '--role',
    'viewer',
    '--expires',
    '12h',
    '--by',
    'Sam',
    '--json',
  ]);
  const invitation = JSON.parse(out) as { readonly expiresAt: string };
  expect(invitation).toMatchObject({ migrationId: migration, person: 'Finn', role: 'viewer', createdBy: 'Sam' });
  expect(Date.parse(invitation.expiresAt) - Date.now()).toBeGreaterThan(11.9 * 3_600_000);
  expect(Date.parse(invitation.expiresAt) - Date.now()).toBeLessThanOrEqual(12 * 3_600_000);
});

test('lists invitations without their tokens, and revokes one by the beginning of its id', async () => {
  const migration = await createMigration();
  const { out: created } = await run([migration, '--name', 'Cleo', '--json']);
  const { id, link } = JSON.parse(created) as { readonly id: string; readonly link: string };
  const token = /invitation=([\w-]+)/.exec(link)?.[1] ?? '';
  const all = await run(['--list']);
  expect(all.out).toContain(migration);
  expect(all.out).toMatch(/Cleo +client +link +not used yet, expires/);
  expect(all.out + (await run(['--list', '--json'])).out).not.toContain(token);

  expect(await run(['--revoke', id.slice(0, 4)])).toMatchObject({
    exitCode: 1,
    err: expect.stringContaining('specify at least the first 8 characters of the id') as string,
  });
  const revoked = await run(['--revoke', id.slice(0, 8), '--by', 'Sam']);
  expect(revoked.out).toBe(`✓ Cleo's invitation to ${migration} is revoked.\n`);
  const again = await run(['--revoke', id, '--json']);
  expect(JSON.parse(again.out)).toMatchObject({ error: { message: 'the invitation of Cleo was already revoked' } });
  expect(JSON.parse((await run(['--list', migration, '--json'])).out)).toMatchObject({
    invitations: [{ id, state: 'revoked', revokedBy: 'Sam' }],
  });
});

test('does not ask who lists invitations', async () => {
  const env = { TOKENFERRY_HOME: home, DATABASE_URL: ledger.url };
  expect(await ferry(['invite', '--list'], 80, env, {}, 'root')).toMatchObject({ exitCode: 0, err: '' });
});

test('says that no invitation exists', async () => {
  expect(await run(['--list', await createMigration()])).toMatchObject({ exitCode: 0, out: 'No invitations.\n' });
  const { err } = await run(['--revoke', '00000000-0000-4000-8000-000000000000']);
  expect(err).toContain('list the invitations with: ferry invite --list');
});

test('says so if the link has no fingerprint of the provider', async () => {
  const { out } = await run([await createMigration(), '--name', 'Cleo'], { TOKENFERRY_PROVIDER_FINGERPRINT: '' });
  expect(out).toMatch(/#invitation=[\w-]{43}\n/);
  expect(out).toContain('Set TOKENFERRY_PROVIDER_FINGERPRINT');
});

describe('an invitation for an account', () => {
  const OPENID = { TOKENFERRY_OPENID_ISSUER: 'https://identity.example', TOKENFERRY_OPENID_CLIENT_ID: 'portal' };
  const args = ['--name', 'Cleo', '--email', 'cleo@acme.example', '--sign-in', 'openid'];

  test('has a link without a secret, and stores the identity provider', async () => {
    const migration = await createMigration();
    const { exitCode, out } = await run([migration, ...args], OPENID);
    expect(exitCode).toBe(0);
    expect(out).toContain(
      `https://portal.example/#migration=${migration}&sign-in=openid&provider=abcd-0123-4567-89ab-cdef-0123-4567-89ab\n`,
    );
    expect(out).toContain(
      'The link is not secret, because it admits only people who are invited, with their accounts: Cleo with cleo@acme.example at https://identity.example.',
    );
    expect((await run(['--list', migration])).out).toMatch(/Cleo +client +cleo@acme\.example +not used yet/);
    expect(JSON.parse((await run(['--list', migration, '--json'])).out)).toMatchObject({
      invitations: [{ signIn: 'openid', issuer: 'https://identity.example', subject: null }],
    });
  });

  test('can name the id of the account', async () => {
    const { out } = await run([await createMigration(), ...args, '--subject', 'id-1', '--json'], OPENID);
    expect(JSON.parse(out)).toMatchObject({ signIn: 'openid', subject: 'id-1', email: 'cleo@acme.example' });
  });
});

test.each<[string, readonly string[], NodeJS.ProcessEnv, string]>([
  [
    'no address of the account',
    ['acme', '--name', 'Cleo', '--sign-in', 'openid'],
    {},
    'specify the address, for example: --email cleo@example.com',
  ],
  [
    'no identity provider',
    ['acme', '--name', 'Cleo', '--sign-in', 'openid', '--email', 'cleo@acme.example'],
    {},
    'the identity provider (TOKENFERRY_OPENID_ISSUER and TOKENFERRY_OPENID_CLIENT_ID)',
  ],
  [
    'an account without openid',
    ['acme', '--name', 'Cleo', '--subject', 'id'],
    {},
    'add --sign-in openid, or leave out --subject',
  ],
  ['an invalid address', ['acme', '--name', 'Cleo', '--email', 'cleo'], {}, 'Expected an email address'],
  ['no person', ['acme'], {}, 'specify both, for example: ferry invite acme.quickbooks-online --name Cleo'],
  ['no migration', ['--name', 'Cleo'], {}, 'an invitation is for one person and one migration'],
  ['an unknown migration', ['acme', '--name', 'Cleo'], {}, 'there is no migration acme'],
  ['an unknown migration to list', ['--list', 'acme'], {}, 'there is no migration acme'],
  ['an empty name', ['acme', '--name', ' '], {}, 'Expected a name of at most 200 characters'],
  ['an unknown role', ['acme', '--name', 'Cleo', '--role', 'support'], {}, 'Choose one of: client, viewer'],
  ['a lifetime that is too long', ['acme', '--name', 'Cleo', '--expires', '31d'], {}, 'from 1m to 30d'],
  [
    'no portal',
    ['acme', '--name', 'Cleo'],
    { TOKENFERRY_PORTAL_URL: '' },
    "the portal's address (TOKENFERRY_PORTAL_URL)",
  ],
])('refuses an invitation with %s', async (_, args, env, expected) => {
  const { exitCode, err } = await run(args, env);
  expect(exitCode).not.toBe(0);
  expect(err).toContain(expected);
});

test.each(['completed', 'cancelled'] as const)('nobody is invited to a migration that is %s', async (ending) => {
  const migration = await createMigration();
  await ledger.db.updateTable('migrations').set({ state: 'closed', ending }).where('id', '=', migration).execute();
  const { exitCode, err } = await run([migration, '--name', 'Cleo']);
  expect(exitCode).toBe(1);
  expect(err).toContain(`migration ${migration} is ${ending}, so it accepts no more invitations; nothing was created`);
  expect(err).toContain(`ferry report ${migration} --format html`);
  expect(await listInvitations(ledger.db, migration)).toEqual([]);
});
