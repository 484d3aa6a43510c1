import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { localTime } from '../../../cli/terminal/times';
import { removeTempFiles, tempFile } from '../manifest/manifest-files';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { ferry } from '../captured-terminal';
import { runJson, MANIFEST } from '../command-line';

const orchestrator = useOrchestrator();
afterAll(() => removeTempFiles());

const UNREACHABLE = '127.0.0.1:1';

test('an unreachable Temporal is reported in one line, with its address and how to start it', async () => {
  const { exitCode, err } = await ferry(['list'], undefined, { ...orchestrator.env, TEMPORAL_ADDRESS: UNREACHABLE });
  expect(exitCode).toBe(1);
  expect(err).toBe(
    `ferry: cannot reach Temporal at ${UNREACHABLE}; start Temporal, or correct its address and credentials (TEMPORAL_ADDRESS, TEMPORAL_API_KEY or your Temporal profile); to use a stack on this machine instead, open a shell without the environment variables for your servers and keys (docs/configuration.md), and run there: ferry up\n`,
  );
});

test('an unreachable Postgres is reported in one line, with its address and how to start it', async () => {
  const env = { ...orchestrator.env, DATABASE_URL: `postgres://user:hidden@${UNREACHABLE}/tokenferry` };
  const { exitCode, err } = await ferry(['list'], undefined, env);
  expect(exitCode).toBe(1);
  expect(err).toBe(
    `ferry: cannot reach Postgres at ${UNREACHABLE}; check that Postgres is running and has free connections and disk space, and that DATABASE_URL is correct; to use a stack on this machine instead, open a shell without the environment variables for your servers and keys (docs/configuration.md), and run there: ferry up\n`,
  );
});

test('a Postgres without a free connection says so', async () => {
  const { db } = orchestrator.ferry;
  const role = `full_${randomBytes(6).toString('hex')}`;
  await sql`create role ${sql.ref(role)} login password 'password' connection limit 0`.execute(db);
  const url = new URL(orchestrator.config.databaseUrl.reveal());
  [url.username, url.password] = [role, 'password'];
  const { exitCode, err } = await ferry(['list'], undefined, { ...orchestrator.env, DATABASE_URL: url.href });
  await sql`drop role ${sql.ref(role)}`.execute(db);
  expect(exitCode).toBe(1);
  expect(err).toContain(
    `ferry: cannot reach Postgres at ${url.host}: too many connections for role "${role}"; check that Postgres is running and has free connections`,
  );
});

test('a database that does not exist is not reported as a Postgres that cannot be reached', async () => {
  const url = new URL(orchestrator.config.databaseUrl.reveal());
  url.pathname = '/no_such_database';
  const { exitCode, err } = await ferry(['list'], undefined, { ...orchestrator.env, DATABASE_URL: url.href });
  expect(exitCode).toBe(1);
  expect(err).toContain(
    `ferry: the database at ${url.host}/no_such_database cannot be used: database "no_such_database" does not exist; correct the name of the database in DATABASE_URL, or create the database; `,
  );
});

test('start stores and starts nothing if the manifest has errors', async () => {
  const bad = tempFile('reference,name,realmId,expectedInvoices\nA-1,Acme,1,1\nA-1,Bolt,2,1\n');
  const { exitCode, json } = await runJson(
    orchestrator,
    ...['start', bad, '--platform', 'quickbooks-online', '--client', 'nothing'],
  );
  expect({ exitCode, started: json['started'] }).toEqual({ exitCode: 1, started: false });
  expect((await runJson(orchestrator, 'companies', 'nothing.quickbooks-online')).exitCode).toBe(1);
});

test('rows that no worker has checked yet are not reported as problems', async () => {
  const { id } = await startTestMigration(orchestrator, 'unchecked', ['sbx-ok-1.unchecked']);
  const file = tempFile('reference,name,realmId,expectedInvoices\nL-1,Late,8000000000000081,1\n');
  const { exitCode, out } = await ferry(['amend', id, file], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain(
    '  held back: L-1: not checked yet\n  A running worker checks the companies that are not checked yet. If it takes longer, run: ferry doctor\n',
  );
  expect(out).not.toContain('ferry exceptions');
  const listed = await ferry(['exceptions', id], undefined, orchestrator.env);
  expect(listed.out).toMatch(/^not checked by the preflight yet: 1 company\n[^]*not checked yet *\n\n1 exception\n$/);
  expect((await runJson(orchestrator, 'exceptions', id)).json['exceptions']).toMatchObject([
    { reference: 'L-1', heldBack: 'not checked yet', remedies: [] },
  ]);
});

test('decisions are kept while no worker is running, and are applied once a worker is running', async () => {
  const id = 'patient.quickbooks-online';
  const started = await runJson(
    orchestrator,
    ...['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'patient', '--require-digest'],
  );
  expect(started).toMatchObject({ exitCode: 0, json: { started: true, preflight: null } });
  const approve = ['approve', id, 'supply-details', '--digest', 'f00', '--by', 'Sam'];
  const unreviewed = [
    ['approve', id, 'supply-details', '--by', 'Sam'],
    ['confirm-sync-disabled', id, '--all', '--as', 'client'],
  ];
  // These commands run at the same time, because each of them waits for a worker.
  const [paused, approved, shown, rejected, rejectedFirst, resumed, ...toRefuse] = await Promise.all(
    [
      ['pause', id, '--reason', 'tea'],
      approve,
      ['show', id],
      ['reject', id, '--reason', 'a typo'],
      ['reject', id, 'schedule', '--company', 'C-1002', '--reason', 'too small'],
      ['resume', id],
      ...unreviewed,
    ].map((args) => ferry(args, undefined, orchestrator.env)),
  );
  for (const decided of [paused, approved]) {
    expect(decided).toMatchObject({
      exitCode: 0,
      out: expect.stringContaining('sent, but not applied yet') as unknown,
    });
    if (decided === approved)
      expect(decided?.err).toBe('ferry: no worker is answering, so you cannot review what you approve\n');
  }
  expect(
    toRefuse.map(
      ({ err }) =>
        /the migration will refuse this (\w+), because it requires the digest of what was reviewed\. Decide again once a worker is running\. To see what is wrong, run: ferry doctor\n/.exec(
          err,
        )?.[1],
    ),
  ).toEqual(['approval', 'confirmation']);
  expect(shown?.err).toContain(`no worker is answering for ${id}`);
  expect(rejected?.err).toContain(
    'no worker is answering, so the current step is unknown; nothing was decided; add the step to the command: ',
  );

  // The migration might be in step 6, in which no first company can be chosen.
  expect(rejectedFirst?.err).toBe(
    'ferry: --company belongs to a rejection of the first company, not of step 2 (schedule the migration); nothing was decided; run the command again without --company\n',
  );
  expect(resumed?.err).toBe(
    `ferry: no worker is answering, so it is unknown who has paused the migration; nothing was sent; to resume without knowing, run the command again with --yes; otherwise, make sure that a worker is running; to see what is wrong, run: ferry doctor; then see who has paused the migration with: ferry show ${id}\n`,
  );

  await orchestrator.startWorker();
  const watched = await runJson(orchestrator, 'watch', id, '--until-decision');
  expect(watched.json['pause']).toMatchObject({ reason: 'tea' });
  expect(watched.json['waitingFor']).toEqual({
    roles: ['support'],
    what: 'resume the migration once the pause is no longer needed',
  });
  const reshown = await ferry(['show', id], undefined, orchestrator.env);
  expect(reshown.out).toMatch(/^Paused by .+ since .+ UTC: tea\nWaiting for client or support: resume the migration/m);
  const { json: listed } = await runJson(orchestrator, 'list');
  expect(listed['migrations']).toContainEqual(
    expect.objectContaining({ migrationId: id, state: 'paused', waitingFor: 'client or support' }),
  );

  const trail = async () => (await runJson(orchestrator, 'audit', id)).json['trail'] as readonly unknown[];
  await until(async () => (await trail()).length === 4);
  expect(await trail()).toContainEqual(
    expect.objectContaining({ decision: expect.objectContaining({ verdict: 'approve', digest: 'f00' }) as unknown }),
  );
});

test('show reports how long the credential of an interrupted company can still be in flight', async () => {
  const id = 'patient.quickbooks-online';
  const leaseEndsAt = new Date('2030-01-01T22:14:00Z');
  const importing = {
    state: 'importing',
    attempt: 'died',
    confirmed_at: new Date(),
    lease_ends_at: leaseEndsAt,
  } as const;
  for (const row of [1, 2, 3]) await updateRow(orchestrator.ferry.db, id, row, importing);
  await updateRow(orchestrator.ferry.db, id, 3, { authorization_sent_at: new Date() });
  const { out } = await ferry(['show', id], undefined, orchestrator.env);
  expect(out).toContain(
    `3 companies were interrupted while being moved. Companies whose credential may have been sent continue ` +
      `automatically. All others continue once the migration is resumed. ` +
      `A credential can still be in flight to the service until ${localTime(leaseEndsAt)}.\n`,
  );
  const { json } = await runJson(orchestrator, 'show', id);
  expect(json['interrupted']).toEqual({ companies: 3, inFlightUntil: leaseEndsAt.toISOString() });
});

test('start and show report the call that is retried while the service is down', async () => {
  await orchestrator.service.close();
  const { exitCode, out } = await ferry(
    ['start', MANIFEST, '--platform', 'quickbooks-online-sandbox', '--client', 'held-up'],
    undefined,
    orchestrator.env,
  );
  expect(exitCode).toBe(0);
  const { host } = new URL(orchestrator.service.url);
  expect(out).toContain('The supplied details have not been checked yet: could not read the account: ');
  expect(out).toContain(host);
  const retrying =
    /^Retrying: could not read the account: the service cannot be reached: .+; (next attempt at .+|the next attempt is running)$/m;
  // The time of an attempt is not shown between the moment when it is due and its beginning.
  await until(async () =>
    retrying.test((await ferry(['show', 'held-up.quickbooks-online-sandbox'], undefined, orchestrator.env)).out),
  );
  const { json } = await runJson(orchestrator, 'show', 'held-up.quickbooks-online-sandbox');
  expect(json['retrying']).toEqual([expect.stringMatching(/^GET \/account: could not connect: /)]);
});
