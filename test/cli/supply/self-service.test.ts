/** Tests the self-service route from the manifest to the last company, with the client's own API key. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PLATFORMS } from '../../../platforms/platforms';
import { readMigration } from '../../../store';
import { tempFile } from '../manifest/manifest-files';
import { closedWindows } from '../../workflows/running-migration';
import { mapConcurrently, until } from '../../support/async';
import { platform } from '../../support/migrations/platforms';
import { ferry } from '../captured-terminal';
import { manifestOf, openSelfServiceClient, type SelfServiceClient } from './self-service-set-up';

let me: SelfServiceClient;
beforeAll(async () => (me = await openSelfServiceClient()));
afterAll(() => me.close());

const SELF_SERVICE = PLATFORMS.filter(({ routes }) => routes.includes('self-service'));

describe('every platform of the route', () => {
  const results = new Map<string, Awaited<ReturnType<SelfServiceClient['asJson']>>>();
  // The migrations run in parallel, because they mostly wait.
  beforeAll(async () => {
    await mapConcurrently(6, SELF_SERVICE, async ({ slug }) =>
      results.set(slug, await me.selfService(slug, 'table', [{ credential: 'sbx-ok-1' }])),
    );
  });

  test.each(SELF_SERVICE)("a company on $name is moved with the client's own key", async ({ slug, key }) => {
    expect(results.get(slug)).toMatchObject({
      exitCode: 0,
      json: { state: 'completed', counts: { moved: 1, total: 1 } },
    });
    const [moved] = await me.companiesOf(`me.${slug}.table`);
    const { value: connection } = await me.client.getConnection(moved?.companyId ?? '', moved?.connectionId ?? '');
    expect(connection).toMatchObject({ status: 'Linked', integrationKey: key });
    expect(Object.values((await me.client.dataStatus(moved?.companyId ?? '')).value)).toContainEqual(
      expect.objectContaining({ currentStatus: 'Complete' }),
    );
  });
});

describe('exceptions in self-service', () => {
  test('companies that were not moved wait until the client replaces their credential or skips them, and then the migration ends', async () => {
    const id = 'me.xero.failures';
    const rows = [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }, { credential: 'sbx-expired' }];
    const { exitCode, json } = await me.selfService('xero', 'failures', rows);
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({
      state: 'waiting',
      waitingFor: { roles: ['client'], what: 'decide what to do about 2 companies that were not moved' },
      counts: { moved: 1, failed: 2 },
      next: [{ who: 'client', command: `ferry exceptions ${id}` }],
    });

    const failed = (await me.companiesOf(id)).find(({ reference }) => reference === 'S-2');
    const credentials = tempFile(
      `reference,accessToken,refreshToken,tenantId\nS-2,any,sbx-ok-2.${randomUUID()},${failed?.organization}`,
    );
    const as = ['--as', 'client', '--by', 'Cleo'];
    expect((await me.run('replace-credential', id, credentials, ...as)).out).toContain(
      'tried again with a new credential',
    );
    const bySupport = await me.run('skip', id, 'S-3', '--reason', 'closed', '--yes', '--by', 'Sam');
    expect(bySupport.exitCode).toBe(1);
    expect(bySupport.out).toContain('in self-service, only the client can decide what happens to companies');
    const skip = ['skip', id, 'S-3', '--reason', 'closed', ...as];
    const ENDS =
      /: S-3 \(.*\)\. No company is then left, so the migration ends automatically, even while it is paused, and /;
    await until(async () => (await me.companiesOf(id))[1]?.state === 'moved');
    expect((await me.run('pause', id, ...as)).exitCode).toBe(0);
    expect((await me.run(...skip)).err).toMatch(ENDS);
    expect((await me.run('resume', id, ...as)).exitCode).toBe(0);
    expect((await me.run(...skip, '--yes')).exitCode).toBe(0);
    expect((await me.run('watch', id)).exitCode).toBe(0);
    expect((await me.companiesOf(id)).map(({ state }) => state)).toEqual(['moved', 'moved', 'left-out']);
    expect((await me.run('audit', id)).out).toMatch(
      /UTC: tester \(client\) started the migration, and confirmed for every company that nothing else uses/,
    );
  });

  test('an organization that is already connected prevents the start', async () => {
    const id = 'me.myob.connected';
    const file = manifestOf(platform('myob'), [{ credential: 'sbx-ok-1' }]);
    const start = (label: string) =>
      me.asJson('self-service', file, '-p', 'myob', '--client', 'me', '--label', label, '--yes');
    expect((await start('first')).exitCode).toBe(0);
    const { exitCode, json } = await start('connected');
    expect(exitCode).toBe(1);
    expect(json).toMatchObject({ started: false });
    expect(json['findings']).toContainEqual(expect.objectContaining({ code: 'organization-connected' }));
    expect((await me.run('show', id)).err).toContain(`there is no migration ${id}`);
  });
});

describe('an error that the preflight finds after the start', () => {
  test('can be corrected, and the migration then continues', async () => {
    const id = 'me.myob.late';
    const first = manifestOf(platform('myob'), [{ credential: 'sbx-ok-1' }]);
    const connectedOrganization = (JSON.parse(readFileSync(first, 'utf8')) as { companyFileId: string }[])[0]
      ?.companyFileId;
    await me.asJson('self-service', first, '-p', 'myob', '--client', 'me', '--label', 'before', '--yes');
    // The command ends when the migration has completed, which is shortly before it is closed in the ledger.
    const { db } = me.orchestrator.ferry;
    await until(async () => (await readMigration(db, 'me.myob.before'))?.state === 'closed');
    // Without access to the service, the command cannot find the error. The worker finds it.
    const withoutService = { ...me.env, COMPANY_DATA_API_KEY: undefined, COMPANY_DATA_URL: undefined };
    const withUi = { ...withoutService, TOKENFERRY_CLIENT_UI_URL: 'https://ui.example' };
    const csv = (...rows: string[]) =>
      tempFile(['reference,name,companyFileId,accessToken,refreshToken', ...rows].join('\n'));
    const both = csv(
      `A-1,One,${connectedOrganization},any,sbx-ok-1.${randomUUID()}`,
      `A-2,Two,o-2,any,sbx-ok-1.${randomUUID()}`,
    );
    const { exitCode, out } = await ferry(
      ['self-service', both, '-p', 'myob', '--client', 'me', '--label', 'late', '--yes'],
      undefined,
      withUi,
    );
    expect(exitCode).toBe(1);
    expect(out).toMatch(
      new RegExp(
        `^  Page of the migration: https://ui\\.example/namespaces/[^/]+/workflows/${id}/[^/]+/user-metadata$`,
        'm',
      ),
    );
    expect(out).toContain('is already connected');
    expect(out).toContain(`ferry retry ${id} --all --as client --by tester`);

    expect((await me.run('retry', id, '--all', '--as', 'client')).out).toContain('checked again');
    const amended = await me.run('amend', id, csv(`A-1,One,o-1,,`), '--as', 'client');
    expect(amended.out).not.toContain('confirm-sync-disabled');
    const again = tempFile(`reference,accessToken,refreshToken,companyFileId\nA-1,any,sbx-ok-1.${randomUUID()},o-1`);
    expect((await me.run('credentials', id, again, '--as', 'client')).exitCode).toBe(0);
    expect((await me.run('watch', id)).exitCode).toBe(0);
    expect((await me.companiesOf(id)).map(({ state }) => state)).toEqual(['moved', 'moved']);
  });
});

test('the client can pause, change the limits and resume', async () => {
  const id = 'me.sage-intacct.paused';
  const rows = Array.from({ length: 3 }, () => ({ credential: 'sbx-unavailable-2-ok-1' }));
  await me.selfService('sage-intacct', 'paused', rows, '--detach');
  const as = ['--as', 'client', '--by', 'Cleo'];
  expect((await me.run('pause', id, '--reason', 'lunch', ...as)).exitCode).toBe(0);
  expect((await me.asJson('show', id)).json).toMatchObject({
    state: 'paused',
    waitingFor: {
      roles: ['client'],
      what: 'resume the migration once the pause is no longer needed',
    },
    next: [{ command: `ferry resume ${id} --as client --by tester` }],
  });
  expect((await me.run('adjust', id, '--companies-per-slice', '2', ...as)).exitCode).toBe(0);
  expect((await me.run('resume', id, ...as)).exitCode).toBe(0);
  expect((await me.run('watch', id)).exitCode).toBe(0);
});

test('no company is moved outside the windows, and the migration continues once they are removed', async () => {
  const id = 'me.bigcommerce.in-windows';
  const [closed] = closedWindows();
  const window = `${closed?.days[0]} ${closed?.from}-${closed?.to} UTC`;
  await me.selfService('bigcommerce', 'in-windows', [{ credential: 'sbx-ok-1' }], '--window', window, '--detach');
  const what = async () => ((await me.asJson('show', id)).json['waitingFor'] as { what: string }).what;
  await until(async () => (await what()).includes('in the window from'));
  expect((await me.companiesOf(id))[0]?.state).toBe('not-moved-yet');
  await me.run('adjust', id, '--no-window', '--as', 'client');
  expect((await me.run('watch', id)).exitCode).toBe(0);
});

describe('before the start', () => {
  test('self-service refuses a platform without this route, and names the command to use', async () => {
    const options = ['-p', 'quickbooks-online', '--client', 'me', '--label', 'second', '--total-invoices', '900'];
    const { exitCode, err } = await me.run('self-service', 'any.csv', ...options);
    expect(exitCode).toBe(1);
    expect(err).toContain('QuickBooks Online has no self-service route');
    expect(err).toContain(
      'ferry start any.csv --platform quickbooks-online --client me --label second --total-invoices 900\n',
    );
  });

  test('start refuses a platform without the managed route, and names the command to use', async () => {
    const { err } = await me.run('start', 'any.csv', '-p', 'xero', '--client', 'me', '--label', 'second');
    expect(err).toContain('ferry self-service any.csv --platform xero --client me --label second\n');
  });

  test('self-service shows the consequences and asks, and starts nothing if the answer is no', async () => {
    const file = manifestOf(platform('xero'), [{ credential: 'sbx-ok-1' }]);
    const questions: string[] = [];
    const prompts = {
      confirm: async (question: string) => questions.push(question) < 0,
      secret: async () => '',
    };
    const { exitCode, out } = await ferry(
      ['self-service', file, '-p', 'xero', '--client', 'asked'],
      120,
      me.env,
      prompts,
    );
    expect(questions).toEqual(['Start?']);
    expect(out).toContain('Xero: the service uses a refresh token as soon as it receives it');
    expect(out).toContain('Nothing was stored or started');
    expect(exitCode).toBe(1);
    expect((await me.run('show', 'asked.xero')).err).toContain('there is no migration asked.xero');
  });

  test.each([[], ['--json'], ['--quiet']])('self-service needs --yes without a terminal: %j', async (...more) => {
    const file = manifestOf(platform('xero'), [{ credential: 'sbx-ok-1' }]);
    const { exitCode, out, err } = await me.run('self-service', file, '-p', 'xero', '--client', 'unasked', ...more);
    expect(exitCode).toBe(1);
    expect(out + err).toContain(
      'this cannot be undone: 1 credential will be handed over to the service, and the tokens will stop working in your own application if the service receives a refresh token',
    );
    expect(out + err).toContain('run the command again with --yes');
    expect((await me.run('show', 'unasked.xero')).err).toContain('there is no migration unasked.xero');
  });

  test('with --quiet, only the id of the migration is printed, in spite of warnings', async () => {
    const file = manifestOf(platform('xero'), [{ credential: 'sbx-ok-1' }]);
    const start = ['self-service', file, '-p', 'xero', '--client', 'quiet', '--yes', '--detach', '--quiet'];
    expect(await me.run(...start)).toEqual({ exitCode: 0, out: 'quiet.xero\n', err: '' });
  });

  test('an amendment does not report credentials as missing that were supplied before', async () => {
    const rows = [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }];
    expect((await me.selfService('xero', 'amended', rows)).json).toMatchObject({ counts: { moved: 1, failed: 1 } });
    const [, failed] = await me.companiesOf('me.xero.amended');
    const file = tempFile(`reference,name,tenantId\nS-2,Company 2,${failed?.organization}\nS-3,New,${randomUUID()}`);
    const { out } = await me.run('amend', 'me.xero.amended', file, '--as', 'client', '--by', 'Cleo');
    expect(out).toContain('"S-3" has no credential');
    expect(out).not.toContain('"S-2" has no credential');
    // In self-service, a credential counts even if it was obtained before the confirmation.
    const listed = (await me.run('exceptions', 'me.xero.amended')).out;
    expect(listed).toMatch(/supply credentials$/m);
    expect(listed).not.toContain('after its confirmation');
  });

  test('a dry run applies the rules of the self-service route', async () => {
    const { exitCode, json } = await me.selfService('xero', 'dry', [{ credential: 'sbx-ok-1' }], '--dry-run');
    expect(json).toMatchObject({ schema: 'ferry.self-service/1', started: false, dryRun: true, errors: 0 });
    expect((json['findings'] as { code: string }[]).map(({ code }) => code).sort()).toEqual([
      'application-missing',
      'no-expected-invoices',
      'no-family',
    ]);
    expect(exitCode).toBe(0);
  });
});

describe('windows and a rate limit', () => {
  const limits = ['--window', 'mon-sun 02:00-02:05 UTC', '--companies-per-minute', '20'];
  const start = (label: string) => {
    const file = manifestOf(platform('myob'), [{ credential: 'sbx-ok-1' }]);
    return ['self-service', file, '-p', 'myob', '--client', 'me', '--label', label, ...limits];
  };

  test('are shown before the start is confirmed', async () => {
    const { out } = await ferry(start('refused'), 120, me.env, { confirm: async () => false });
    expect(out).toContain('Companies per minute: 20.\n');
    expect(out).toContain('Windows: daily 02:00-02:05 UTC.\n');
    expect(out).toContain('Nothing was stored or started');
  });

  test('are part of the time at which a dry run expects the last move to end', async () => {
    expect((await me.run(...start('dry-window'), '--dry-run')).out).toMatch(
      /^ {2}Moves begin only daily 02:00-02:05 UTC\. If the migration started now, the last move would end between .* UTC/m,
    );
  });
});

describe('the output', () => {
  test('mentions no steps, no first company and no sign-off', async () => {
    await me.selfService('netsuite', 'read', [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }]);
    const id = 'me.netsuite.read';
    const show = (await me.run('show', id)).out;
    expect(show).toContain('self-service, waiting for the client');
    expect(show).toContain('client: ferry exceptions me.netsuite.read');
    expect(show).not.toMatch(/step \d|sign|first company|Approved|Callback/i);
    expect((await me.run('list')).out).toMatch(/me\.netsuite\.read +waiting +self-service +client +1\/2 +0 +1/);
    expect((await me.run('exceptions', id)).out).toContain(`ferry retry ${id} S-2 --as client --by tester`);
    expect((await me.run('companies', id)).exitCode).toBe(0);
    const refused = await me.run('sign-off', id, '--yes');
    expect(refused.out).toMatch(/^✗ refused: .*a self-service migration has no approvals/);
    expect(refused.out).toContain(`\n  to see what the migration is waiting for, run: ferry show ${id}\n`);
    const report = (await me.run('report', id)).out;
    expect(report).toContain('- Route: self-service');
    expect((await me.run('audit', id)).out).toContain('2 credentials supplied');
  });
});
