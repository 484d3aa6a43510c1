/**
 * The portal or the worker is killed at each point of a supply. The client sends each request again until it has an
 * answer, as the page does. Nothing is lost or applied twice, and the page shows the result after it is loaded again.
 */
import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { sql } from 'kysely';
import { Client } from 'pg';
import { credentialsDigest, hashOfBox } from '../../../domain/supply/sealed-digest';
import type { RequestAnswer, RequestStatusSchema } from '../../../portal/contract/requests';
import type { CompaniesSchema } from '../../../portal/contract/migration-view';
import { createSealer, fingerprintOf, sealCredential, Secret } from '../../../security';
import { createInvitation, grantPortalRole, markKeyConfirmed, readMigrationKey, readTrail } from '../../../store';
import type { z } from 'zod';
import { until } from '../../support/async';
import { startOrchestrator, type OpenedOrchestrator } from '../../support/servers/orchestrator';
import { startPortalProcess, startWorkerProcess, type KillableProcess } from '../../support/servers/killable-process';
import { CLIENT, startTestMigration, type TestMigration } from '../../workflows/running-migration';
import { CLEO, signedDecision } from './portal-requests';

const COMPANIES = 3;
/** The key of an advisory lock. Statements wait for the lock while the test holds it. */
const LOCK = 4711;

let orchestrator: OpenedOrchestrator;
let databaseUrl: string;
let portal: KillableProcess & { readonly url: string };
let worker: KillableProcess;
let holder: Client;

beforeAll(async () => {
  orchestrator = await startOrchestrator();
  const { db } = orchestrator.ferry;
  const url = new URL(orchestrator.config.databaseUrl.reveal());
  holder = new Client({ connectionString: url.href });
  await holder.connect();
  [url.username, url.password] = [`portal_${randomBytes(6).toString('hex')}`, 'password'];
  databaseUrl = url.href;
  await grantPortalRole(db, new Secret(databaseUrl));
  await holder.query(
    `create function stop_here() returns trigger language plpgsql as
     $$ begin perform pg_advisory_xact_lock_shared(${LOCK}); return new; end $$`,
  );
  portal = await startPortalProcess(databaseUrl, 0);
  worker = await startWorkerProcess(orchestrator.env);
});
afterAll(async () => {
  await portal.kill();
  await worker.kill();
  await holder.end();
  await orchestrator.close();
});

const restartPortal = async (): Promise<void> => {
  await portal.kill();
  portal = await startPortalProcess(databaseUrl, Number(new URL(portal.url).port));
};
const restartWorker = async (): Promise<void> => {
  await worker.kill();
  await terminateBlocked();
  worker = await startWorkerProcess(orchestrator.env);
};

/** Terminates the database sessions that wait for the lock, because sessions of a killed worker would keep waiting. */
async function terminateBlocked(): Promise<void> {
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and wait_event = 'advisory'`.execute(orchestrator.ferry.db);
}

async function untilBlocked(): Promise<void> {
  await until(async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`.execute(
      orchestrator.ferry.db,
    );
    return rows.length > 0;
  }, 60_000);
}

/** Makes statements wait at a point, given as the trigger's SQL. Returns the function that lets them pass. */
async function stopAt(trigger: string): Promise<() => Promise<void>> {
  await holder.query(`select pg_advisory_lock(${LOCK})`);
  await holder.query(`create trigger stop_here before ${trigger} execute function stop_here()`);
  const table = / on (\w+)/.exec(trigger)?.[1] ?? '';
  return async () => {
    await holder.query(`select pg_advisory_unlock(${LOCK})`);
    await holder.query(`drop trigger if exists stop_here on ${table}`);
    // Makes requests due now, so that the test does not wait for the lease of the killed worker.
    await sql`update portal_requests set due_at = now() where answered_at is null`.execute(orchestrator.ferry.db);
  };
}

interface Person {
  readonly migration: TestMigration;
  readonly token: string;
}

let started = 0;
/** Starts a migration that accepts credentials, and signs Cleo in. */
async function startWithPerson(): Promise<Person> {
  started += 1;
  const tokens = Array.from({ length: COMPANIES }, (_, each) => `sbx-ok-1.killed-${started}-${each}`);
  const migration = await startTestMigration(orchestrator, `killed-${started}`, tokens);
  await migration.until(({ preflight }) => preflight !== null);
  expect(await migration.send('confirmSyncDisabled', { companies: 'all', ...CLIENT })).toBe('applied');
  const { db } = orchestrator.ferry;
  const expiresAt = new Date(Date.now() + 3_600_000);
  const { id, token: invitation } = await createInvitation(db, {
    ...{ migrationId: migration.id, person: 'Cleo', role: 'client', email: null, createdBy: 'Sam', expiresAt },
  });
  const answer = await fetch(`${portal.url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-tokenferry-portal': '1' },
    body: JSON.stringify({ invitation, publicKey: CLEO.publicKey, as: 'token' }),
  });
  await markKeyConfirmed(db, id);
  return { migration, token: ((await answer.json()) as { readonly token: string }).token };
}

/** Calls the portal until it answers, as the page does. */
async function insist<T>({ token }: Person, path: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = body && { method: 'POST', body: JSON.stringify(body) };
  for (;;) {
    const answer = await fetch(portal.url + path, { ...init, headers }).catch(() => null);
    if (answer?.ok) return (await answer.json()) as T;
    if (answer && answer.status < 500) throw new Error(`${answer.status} ${await answer.text()}`);
    await delay(200);
  }
}

async function submit(person: Person, path: string, body: object): Promise<RequestAnswer> {
  let status = await insist<z.infer<typeof RequestStatusSchema>>(person, path, body);
  while (status.answer === null) {
    await delay(200);
    status = await insist(person, `/api/requests/${status.id}`);
  }
  return status.answer;
}

/** Seals credentials for all companies. Returns the two requests that supply them. */
async function sealedSupply({ migration }: Person) {
  const { publicKey } = await readMigrationKey(orchestrator.ferry.db, migration.id);
  const seal = createSealer(publicKey, 'acme.xero');
  const credentials = Array.from({ length: COMPANIES }, (_, each) => {
    const [reference, obtainedAt] = [`R-${each + 1}`, new Date().toISOString()];
    const fields = new Secret({ accessToken: 'any', refreshToken: `sbx-ok-1.${each}`, realmId: '1' });
    const box = sealCredential(seal, migration.id, { reference, obtainedAt, fields });
    return { reference, obtainedAt, sealed: box.toString('base64') };
  });
  const boxes = credentials.map(({ sealed, ...each }) => ({
    ...each,
    boxHash: hashOfBox(Buffer.from(sealed, 'base64')),
  }));
  const decisionId = randomUUID();
  const fields = { decisionId, companies: COMPANIES, sealedDigest: credentialsDigest(boxes) };
  return {
    decisionId,
    credentials: { decisionId, replaces: false, keyFingerprint: fingerprintOf(publicKey), credentials },
    decision: {
      message: 'credentialsSupplied',
      decision: signedDecision(CLEO, migration.id, 'credentialsSupplied', fields),
    },
  };
}

const POINTS: readonly [name: string, at: '/api/credentials' | '/api/decisions', trigger: string, who: string][] = [
  ['the portal, before the credentials are stored', '/api/credentials', 'insert on portal_requests for each row', 'p'],
  ['the portal, before the decision is stored', '/api/decisions', 'insert on portal_requests for each row', 'p'],
  [
    'the portal, while the worker is storing the boxes',
    '/api/credentials',
    'insert on staged_credentials for each row',
    'p',
  ],
  [
    'the worker, before it has taken the credentials',
    '/api/credentials',
    'update on portal_requests for each row when (new.attempts > old.attempts)',
    'w',
  ],
  [
    'the worker, before the boxes are stored',
    '/api/credentials',
    'insert on staged_credentials for each row when (new.row = 3)',
    'w',
  ],
  [
    'the worker, before it answers that the boxes are stored',
    '/api/credentials',
    'update on portal_requests for each row when (new.answered_at is not null)',
    'w',
  ],
  [
    'the worker, before it has taken the decision',
    '/api/decisions',
    'update on portal_requests for each row when (new.attempts > old.attempts)',
    'w',
  ],
  ['the worker, before the decision is in the ledger', '/api/decisions', 'insert on decisions for each row', 'w'],
  [
    'the worker, before it answers that the decision is applied',
    '/api/decisions',
    'update on portal_requests for each row when (new.answered_at is not null)',
    'w',
  ],
];

test.each(POINTS)(
  '%s: nothing is lost or applied twice',
  async (_, at, trigger, who) => {
    const { db } = orchestrator.ferry;
    const person = await startWithPerson();
    const supply = await sealedSupply(person);
    const requests = [
      ['/api/credentials', supply.credentials],
      ['/api/decisions', supply.decision],
    ] as const;
    const answers: RequestAnswer[] = [];
    for (const [path, body] of requests) {
      if (path !== at) {
        answers.push(await submit(person, path, body));
        continue;
      }
      const pass = await stopAt(trigger);
      const answer = submit(person, path, body);
      try {
        await untilBlocked();
        if (who === 'p') await restartPortal();
        else await restartWorker();
      } finally {
        await pass();
      }
      answers.push(await answer);
    }
    expect(answers).toMatchObject([
      { outcome: 'stored', stored: COMPANIES },
      { outcome: 'applied', text: `${COMPANIES} credentials supplied` },
    ]);
    // The page is loaded again.
    const { companies } = await insist<z.infer<typeof CompaniesSchema>>(person, '/api/companies');
    expect(companies.map(({ hasCredential }) => hasCredential)).toEqual([true, true, true]);
    for (const [path, body] of requests.slice(1))
      expect(await submit(person, path, body)).toMatchObject({ outcome: 'applied' });
    const trail: unknown[] = [];
    for await (const { decision, outcome } of readTrail(db, person.migration.id))
      if (decision.kind === 'credentials-supplied') trail.push([decision.decisionId, outcome.applied]);
    expect(trail).toEqual([[supply.decisionId, true]]);
    const of = async (table: 'credentials' | 'staged_credentials') =>
      (await db.selectFrom(table).select('sealed').where('migration_id', '=', person.migration.id).execute())
        .map(({ sealed }) => sealed.toString('base64'))
        .sort();
    expect(await of('credentials')).toEqual(supply.credentials.credentials.map(({ sealed }) => sealed).sort());
    expect(await of('staged_credentials')).toEqual([]);
  },
  180_000,
);

test('a request that crashes three workers is answered by the fourth, which carries out the next request', async () => {
  const person = await startWithPerson();
  const { credentials } = await sealedSupply(person);
  const pass = await stopAt('insert on staged_credentials for each row');
  try {
    const poison = submit(person, '/api/credentials', credentials);
    const pause = { message: 'pause', decision: signedDecision(CLEO, person.migration.id, 'pause', { reason: 'x' }) };
    await untilBlocked();
    const next = submit(person, '/api/decisions', pause);
    for (let kills = 1; kills <= 3; kills += 1) {
      await untilBlocked();
      await restartWorker();
      await sql`update portal_requests set due_at = now() where answered_at is null`.execute(orchestrator.ferry.db);
    }
    expect(await poison).toMatchObject({ outcome: 'failed' });
    expect(await next).toMatchObject({ outcome: 'applied' });
  } finally {
    await pass();
  }
}, 180_000);
