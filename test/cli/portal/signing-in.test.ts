import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { sql } from 'kysely';
import { ferry } from '../captured-terminal';
import { startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { until, useOpened } from '../../support/async';
import { openClientPortal, type Client } from './client';

const portal = useOpened(openClientPortal);

let started = 0;
async function startMigration(): Promise<TestMigration> {
  started += 1;
  const migration = await startTestMigration(portal.orchestrator, `remote-${started}`, ['sbx-ok-1.a', 'sbx-ok-1.b']);
  await migration.until(({ preflight }) => preflight !== null);
  return migration;
}

function storedFiles({ home }: Client): readonly string[] {
  const folder = path.join(home, 'tokenferry', 'portal');
  return readdirSync(folder).map((name) => path.join(folder, name));
}

const stored = (client: Client): Record<string, string> =>
  JSON.parse(readFileSync(storedFiles(client)[0] ?? '', 'utf8')) as Record<string, string>;

test('signs in with the link, stores key and session in a file that only its owner can read, and shows the migration', async () => {
  const { id } = await startMigration();
  const cleo = portal.client();
  const link = await portal.invite(id);
  const signedIn = await cleo.runWith(link, 'sign-in');
  expect(signedIn).toMatchObject({ exitCode: 0, err: '' });
  expect(signedIn.out).toContain(`✓ Signed in to ${id} as Cleo (client), until `);
  expect(signedIn.out).toMatch(/\n {2}(?:[\da-f]{4}-){7}[\da-f]{4}\n/);
  expect(storedFiles(cleo).map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);

  const shown = await cleo.run('show');
  expect(shown.out).toContain(`${id}  `);
  expect(shown.out).toContain('Companies: 0 of 2 moved, 2 not moved yet');
  expect(shown.out).toMatch(
    /Before you can decide, call the solutions team, and read out the fingerprint [\da-f-]{39}/,
  );
  expect((await cleo.run('companies')).out).toMatch(/R-1 +Company 1 +not moved yet[^]*2 companies\n/);
  expect(await cleo.runJson('companies', id)).toMatchObject({ migrationId: id, companies: [{ row: 1 }, { row: 2 }] });
  expect((await cleo.run('exceptions')).out).toBe('No company needs attention now.\n');
  expect((await cleo.run('list')).out).toMatch(new RegExp(`${id} +Cleo \\(client\\) +not confirmed`));
  const [fingerprint] = /(?<=\n {2})(?:[\da-f]{4}-){7}[\da-f]{4}(?=\n)/.exec(signedIn.out) ?? [];
  const confirmation = `ferry approver add ${id} ${fingerprint}`;
  expect((await portal.support('show', id)).out).toContain(
    `  first ask Cleo by phone for the fingerprint of the key, and compare it with the fingerprint in this command; then\n  support: ${confirmation}\n`,
  );
  expect((await portal.support('show', id)).out).toContain(
    '\nMeanwhile waiting for support: confirm the key of Cleo\n',
  );
  expect(JSON.parse((await portal.support('show', id, '--json')).out)).toMatchObject({
    meanwhile: { roles: ['support'], what: 'confirm the key of Cleo' },
  });
  expect((await portal.support('invite', '--list', id)).out).toContain(`  ${confirmation}\n`);
  expect((await portal.support('approver', 'add', id, fingerprint ?? '', '--yes')).exitCode).toBe(0);
  expect((await portal.support('show', id)).out).not.toMatch(/ferry approver add|confirm the key/);
  expect((await cleo.run('report')).out).toContain(id);
  expect(await cleo.runJson('show')).toMatchObject({
    view: { migrationId: id },
    person: 'Cleo',
    isKeyConfirmed: true,
  });
});

test('shows the current state even if the migration was not viewed for a day', async () => {
  const { id } = await startMigration();
  const cleo = await portal.signedIn(id);
  await cleo.run('show');
  await sql`
    update portal_views set view = jsonb_set(view, '{headline}', '"Yesterday."'),
      written_at = now() - interval '1 day', watched_at = now() - interval '1 day'
    where migration_id = ${id}`.execute(portal.orchestrator.ferry.db);
  const { out } = await cleo.run('show');
  expect(out).toContain('Support is reviewing your details.');
  expect(out).not.toMatch(/Yesterday|This view is from/);
});

test('prints neither the token nor the key nor the invitation', async () => {
  const { id } = await startMigration();
  const cleo = portal.client();
  const link = await portal.invite(id);
  const runs = [
    await cleo.runWith(link, 'sign-in', '--debug'),
    await cleo.runWith(link, 'sign-in', '--debug'),
    ...[
      await cleo.run('list', '--json'),
      await cleo.run('show', '--debug'),
      await cleo.run('show', 'x.xero', '--debug'),
    ],
  ];
  const { token = '', signingKey = '' } = stored(cleo);
  const { privateKey } = JSON.parse(signingKey) as { readonly privateKey: string };
  const [, invitation = ''] = /invitation=([^&]+)/.exec(link) ?? [];
  const printed = runs.map(({ out, err }) => out + err).join('') + portal.log.join('');
  for (const secret of [token, privateKey, invitation]) {
    expect(secret.length).toBeGreaterThan(40);
    expect(printed).not.toContain(secret);
  }
});

test('signs in again automatically, with the confirmed key, once the session has ended', async () => {
  const { id } = await startMigration();
  const cleo = await portal.signedIn(id);
  const { token: before } = stored(cleo);
  await portal.orchestrator.ferry.db.deleteFrom('portal_sessions').execute();
  expect(await cleo.run('show')).toMatchObject({ exitCode: 0, err: '' });
  expect(stored(cleo)['token']).not.toBe(before);
  // The session is renewed automatically, so its end is not printed.
  expect((await cleo.run('sign-in')).out).toContain(
    `✓ Signed in to ${id} as Cleo (client). When the session ends, ferry signs you in again with your key\n`,
  );
});

test('sign-in shows a session that is in use, even if support has not confirmed the key', async () => {
  const { id } = await startMigration();
  const cleo = portal.client();
  await cleo.runWith(await portal.invite(id), 'sign-in');
  const { token: before } = stored(cleo);
  const again = await cleo.run('sign-in');
  expect(again).toMatchObject({ exitCode: 0, err: '' });
  expect(again.out).toContain(`✓ Signed in to ${id} as Cleo (client), until `);
  expect(again.out).toContain(
    '. Once support has confirmed your key, ferry signs you in again when the session ends\n',
  );
  expect(again.out).toContain(
    'You can already read the migration. You can decide and supply once support has confirmed your key. If the migration has ended, you need not call.',
  );
  expect(stored(cleo)['token']).toBe(before);
});

describe('says what to do if', () => {
  const signIn = () =>
    `sign in with the link of your invitation: ferry --portal '<link>' sign-in; if you sign in with an account, open ${portal.url} in a browser instead`;

  test('the person has not signed in', async () => {
    const { exitCode, err } = await portal.client().run('show');
    expect({ exitCode, err }).toEqual({
      exitCode: 1,
      err: `ferry: you are not signed in at ${portal.url}; ${signIn()}\n`,
    });
    const listed = await portal.client().run('list', '--json');
    expect(listed).toMatchObject({ exitCode: 0 });
    expect(JSON.parse(listed.out)).toMatchObject({ signIns: [], advice: signIn() });
    expect((await portal.client().run('list')).out).toContain(` S${signIn().slice(1)}`);
  });

  test('the invitation was used', async () => {
    const { id } = await startMigration();
    const link = await portal.invite(id);
    const cleo = portal.client();
    await cleo.runWith(link, 'sign-in');
    expect((await cleo.runWith(link, 'sign-in')).err).toBe(
      `ferry: this invitation cannot be used, and you have already signed in on this machine to ${id} as Cleo; see your migration with: ferry --portal ${portal.url} show; if it says that your session has ended, or if the link is for another migration, ask your contact for a new invitation\n`,
    );
    expect((await portal.client().runWith(link, 'sign-in')).err).toBe(
      'ferry: this invitation cannot be used; an invitation works once, and for a limited time. Ask your contact for a new invitation\n',
    );
  });

  test('the invitation was revoked after signing in', async () => {
    const { id } = await startMigration();
    const cleo = await portal.signedIn(id);
    const listed = await portal.support('invite', '--list', id, '--json');
    const { invitations } = JSON.parse(listed.out) as { readonly invitations: readonly { readonly id: string }[] };
    await portal.support('invite', '--revoke', invitations[0]?.id ?? '');
    expect((await cleo.run('show')).err).toBe(
      'ferry: your session has ended, and the portal did not accept your key: this key cannot be used to sign in; ask your contact for a new invitation\n',
    );
  });

  test('the session has ended, and support has not confirmed the key', async () => {
    const { id } = await startMigration();
    const cleo = portal.client();
    await cleo.runWith(await portal.invite(id), 'sign-in');
    await portal.orchestrator.ferry.db.deleteFrom('portal_sessions').execute();
    expect((await cleo.run('show')).err).toMatch(
      /^ferry: your session has ended, and the portal did not accept your key: support has not confirmed your key yet; call your contact/,
    );
  });

  test('a person is signed in to several migrations, or not to the one that is named', async () => {
    const [one, other] = [await startMigration(), await startMigration()];
    const cleo = portal.client();
    for (const { id } of [one, other]) await cleo.runWith(await portal.invite(id), 'sign-in');
    expect((await cleo.run('show')).err).toContain(
      `you are signed in to 2 migrations: ${[one.id, other.id].toSorted().join(', ')}; specify one of these migrations`,
    );
    expect((await cleo.run('show', other.id)).out).toContain(`${other.id}  `);
    expect((await cleo.run('show', 'another.xero')).err).toBe(
      `ferry: you are not signed in to another.xero at ${portal.url}; list your migrations with: ferry --portal ${portal.url} list; for another migration, ${signIn()}\n`,
    );
    // Without a terminal, the command cannot ask.
    const unconfirmed = await cleo.run('sign-out', other.id);
    expect(unconfirmed.exitCode).toBe(1);
    expect(unconfirmed.err).toMatch(
      /this cannot be undone: your key is deleted; to sign in again, you need a new .*; you are still signed in; if you agree/,
    );
    expect((await cleo.run('show', other.id)).exitCode).toBe(0);
    const signedOut = await cleo.run('sign-out', other.id, '--yes');
    expect(signedOut.exitCode).toBe(0);
    expect(signedOut.out).toContain('To sign in again, ask your contact for a new invitation');
    expect((await cleo.run('show')).out).toContain(`${one.id}  `);
  });

  test.each([
    ['not-an-address', /must be an address that begins with https:/],
    ['http://portal.example', /the connection to http:\/\/portal\.example is not encrypted/],
    [
      'http://127.0.0.1:49999',
      /http:\/\/127\.0\.0\.1:49999 cannot be reached \(ECONNREFUSED\); the invitation was not used; check/,
    ],
  ])('the address is %s', async (link, message) => {
    expect((await portal.client().runWith(`${link}#invitation=${'a'.repeat(43)}`, 'sign-in')).err).toMatch(message);
  });

  test('the invitation is for an account', async () => {
    const link = `${portal.url}/#migration=acme.xero&sign-in=openid`;
    expect((await portal.client().runWith(link, 'sign-in')).err).toBe(
      'ferry: this invitation requires that you sign in with an account, which is possible only in a browser; open the link in a browser, or ask your contact for an invitation that requires no account\n',
    );
  });

  test.each([
    [
      `http://localhost:1/#invitation=${'a'.repeat(43)}`,
      (url: string) =>
        `the link leads to http://localhost:1, but this command signs in to ${url}; nothing was sent; if the link is from your invitation, run: ferry --portal http://localhost:1 sign-in; otherwise, run this command again, and paste the complete link of your invitation to ${url}`,
    ],
    [
      // The host is printed in quotes, because its characters could run a command in a shell.
      `https://$(id).example/#invitation=${'a'.repeat(43)}`,
      () => "if the link is from your invitation, run: ferry --portal 'https://$(id).example' sign-in; otherwise",
    ],
    [
      '',
      () =>
        'the link contains no invitation; nothing was sent; run the command again, and paste the complete link of your invitation\n',
    ],
  ])('the pasted link is not an invitation to this portal: %s', async (link, message) => {
    const env = { TOKENFERRY_HOME: portal.client().home };
    const prompts = { secret: () => Promise.resolve(link || portal.url) };
    const { exitCode, err } = await ferry(['--portal', portal.url, 'sign-in'], undefined, env, prompts);
    expect(exitCode).toBe(1);
    expect(err).toContain(message(portal.url));
  });

  test('the certificate is not trusted', async () => {
    const certificates = path.join(__dirname, '../../portal/certificates');
    const [cert, key] = ['certificate-1.pem', 'key-1.pem'].map((name) => readFileSync(path.join(certificates, name)));
    const server = createServer({ cert, key }).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const link = `https://localhost:${(server.address() as AddressInfo).port}/#invitation=${'a'.repeat(43)}`;
    const { err } = await portal.client().runWith(link, 'sign-in');
    server.close();
    expect(err).toMatch(/the certificate of https:\/\/localhost:\d+ is not trusted \(\w+\)\. .*NODE_EXTRA_CA_CERTS/);
    expect(err).toMatch(/; otherwise, tell your contact; the invitation was not used\n$/);
  });

  test('the command is only for support', async () => {
    const { exitCode, err } = await portal.client().run('invite', 'acme.xero');
    expect(exitCode).toBe(2);
    expect(err).toContain("unknown command 'invite'");
    expect(err).toContain("with --portal, only the client's commands are available\n");
    const env = { TOKENFERRY_PORTAL: portal.url };
    expect((await ferry(['up'], undefined, env)).err).toContain('because TOKENFERRY_PORTAL is set, only the');
  });
});

test('takes the portal from TOKENFERRY_PORTAL', async () => {
  const { id } = await startMigration();
  const { home } = portal.client();
  const env = { TOKENFERRY_HOME: home, TOKENFERRY_PORTAL: await portal.invite(id) };
  expect((await ferry(['sign-in'], undefined, env)).out).toContain('See your migration with:\n  ferry show\n');
  expect((await ferry(['show'], undefined, { ...env, TOKENFERRY_PORTAL: portal.url })).out).toContain(`${id}  `);
});

test('does not ask a person to have the key confirmed once the migration has ended', async () => {
  const { id } = await startMigration();
  const cleo = portal.client();
  await cleo.runWith(await portal.invite(id), 'sign-in');
  expect((await portal.support('cancel', id, '--reason', 'the client withdraws', '--yes')).exitCode).toBe(0);
  await until(async () => (await cleo.run('show')).out.includes('Cancelled: '));
  expect((await cleo.run('show')).out).not.toMatch(/Before you can decide|fingerprint/);
  const { err } = await cleo.run('pause', '--reason', 'any');
  expect(err).toContain('see the outcome with: ');
  expect(err).not.toContain('fingerprint');
});
