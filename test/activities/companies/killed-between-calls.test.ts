/** Attempts that die in the middle of an import, and the attempts that continue it. */
import { neverAnswered } from '../../company-data-client/misbehaving-service';
import { activityEnvironment, statusAtService, useImportRig } from '../../support/migrations/company-import';
import { until } from '../../support/async';
import { sendAnswer } from '../../support/faults/http-proxy';
import { readRow } from '../../support/migrations/ledger';

const rig = useImportRig();

const AUTHORIZATION = /\/authorization$/;
const SINGLE_USE = 'vxvy';
const stateOf = async (id: string, row = 1) => (await readRow(rig.ledger.db, id, row)).state;
const puts = () => rig.proxy.arrived('PUT', AUTHORIZATION).length;

/** Makes the attempt die after the service has handled a call, but before the response arrives. */
async function dyingAfter(id: string, method: string, path: RegExp): Promise<void> {
  rig.dieAfter(id, method, path);
  await rig.importSlice(id).catch(() => undefined);
  expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'importing', attempt: 'died' });
}

test.each<[string, string, RegExp]>([
  ['creating the company', 'POST', /^\/companies$/],
  ['creating the connection', 'POST', /\/connections$/],
  ['the authorization', 'PUT', AUTHORIZATION],
  ['starting the syncs', 'POST', /\/data\/all$/],
])(
  'the next attempt continues at once if the worker dies after %s, and creates and authorizes nothing twice',
  async (_, method, path) => {
    const { id } = await rig.migration(['sbx-ok-5']);
    await dyingAfter(id, method, path);
    await rig.importSlice(id);
    expect(await stateOf(id)).toBe('syncing');
    expect(await statusAtService(rig.directClient, id, 1)).toEqual(['company with Linked']);
    expect(puts()).toBe(1);
  },
);

test('a single-use token is sent if the previous attempt died before creating the connection', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
  await dyingAfter(id, 'POST', /^\/companies$/);
  await rig.importSlice(id);
  expect(await stateOf(id)).toBe('syncing');
  expect(puts()).toBe(1);
});

test('a single-use token is sent if the previous attempt died before recording a send intent', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
  await dyingAfter(id, 'POST', /\/connections$/);
  await rig.importSlice(id);
  expect(await stateOf(id)).toBe('syncing');
  expect(puts()).toBe(1);
});

/** Lets the attempt die while it sends the token, which the service never receives. */
function dieWhileSending(id: string): void {
  rig.proxy.on('PUT', AUTHORIZATION, [
    async (response) => {
      await rig.ledger.db.updateTable('companies').set({ attempt: 'died' }).where('migration_id', '=', id).execute();
      response.destroy();
    },
  ]);
}

test('a single-use token is sent to the same connection once more if the previous attempt died after recording a send intent', async () => {
  const { id } = await rig.migration(['sbx-ok-5'], { platformKey: SINGLE_USE });
  dieWhileSending(id);
  await rig.importSlice(id);
  await rig.importSlice(id);
  expect(await stateOf(id)).toBe('importing');
  await rig.expireLeases(id);
  await rig.importSlice(id);
  expect(await stateOf(id)).toBe('syncing');
  expect(puts()).toBe(2);
});

test('an error that is older than the send intent is not attributed to the credential', async () => {
  const { id } = await rig.migration(['sbx-revoked'], { platformKey: SINGLE_USE });
  await rig.importSlice(id);
  expect(await stateOf(id)).toBe('failed');
  // The next request is lost, so the connection still shows the first error.
  await rig.ledger.db
    .updateTable('companies')
    .set({ state: 'waiting', failure: null, authorization_sent_at: null })
    .where('migration_id', '=', id)
    .execute();
  dieWhileSending(id);
  await rig.importSlice(id);
  const { authorization_sent_at: sentAt } = await readRow(rig.ledger.db, id, 1);
  expect(sentAt).not.toBeNull();
  await rig.expireLeases(id);
  await rig.importSlice(id);
  // The credential was sent a third time, and the platform refused it again.
  expect(await stateOf(id)).toBe('failed');
  expect(puts()).toBe(3);
});

test.each(['qhyg', SINGLE_USE])(
  'an attempt that has lost its lease does not send the credential (platform %s)',
  async (platformKey) => {
    const { id } = await rig.migration(['sbx-ok-5'], { platformKey });
    rig.proxy.on('POST', /\/connections$/, [
      async (response, _request, pass) => {
        const answer = await pass();
        await rig.ledger.db.updateTable('companies').set({ attempt: 'newer' }).where('migration_id', '=', id).execute();
        sendAnswer(response, answer);
      },
    ]);
    await rig.importSlice(id);
    expect(puts()).toBe(0);
    expect(await readRow(rig.ledger.db, id, 1)).toMatchObject({ state: 'importing', attempt: 'newer' });
  },
);

test('a cancelled slice waits for the credentials in flight and writes their outcomes', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-slow-100-ok-5', 'sbx-ok-5']);
  const environment = activityEnvironment();
  let answered = false;
  // The third company hangs before its credential is sent.
  rig.proxy.on('POST', /^\/companies$/, async (response, { body }, pass) => {
    if (!body.includes('Company 3')) sendAnswer(response, await pass());
  });
  rig.proxy.on('PUT', AUTHORIZATION, async (response, { body }, pass) => {
    if (body.includes('sbx-slow')) {
      await until(() => rig.proxy.arrived('POST', /\/data\/all$/).length === 1);
      const answer = await pass();
      environment.cancel('CANCELLED');
      answered = true;
      return sendAnswer(response, answer);
    }
    sendAnswer(response, await pass());
  });
  await rig.importSlice(id, { environment }).catch(() => undefined);
  expect(answered).toBe(true);
  expect(await Promise.all([1, 2, 3].map((row) => stateOf(id, row)))).toEqual(['syncing', 'syncing', 'waiting']);
});

test('a retried slice takes over the companies of an attempt that hangs, which then changes nothing', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5', 'sbx-ok-5']);
  rig.proxy.on('POST', /^\/companies$/, neverAnswered);
  const first = rig.importSlice(id, { atOnce: 1, environment: activityEnvironment({ attempt: 1 }) });
  await until(() => rig.proxy.arrived('POST', /^\/companies$/).length === 1);
  rig.proxy.reset();
  const retried = await rig.importSlice(id, { atOnce: 1, environment: activityEnvironment({ attempt: 2 }) });
  expect(retried.claimed).toBe(3);
  await first;
  expect(await Promise.all([1, 2, 3].map((row) => stateOf(id, row)))).toEqual(['syncing', 'syncing', 'syncing']);
  expect(puts()).toBe(3);
});

test('the newest attempt of a slice claims companies even if Temporal counts its attempts from 1 again', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  await rig.importSlice(id, { environment: activityEnvironment({ attempt: 1 }) });
  await rig.importSlice(id, { environment: activityEnvironment({ attempt: 2 }) });
  const waiting = { state: 'waiting', crossed_at: null } as const;
  await rig.ledger.db.updateTable('companies').set(waiting).where('migration_id', '=', id).execute();
  expect((await rig.importSlice(id, { environment: activityEnvironment({ attempt: 1 }) })).claimed).toBe(2);
});

test('a credential that was altered in the database fails its company without stopping the batch', async () => {
  const { id } = await rig.migration(['sbx-ok-5', 'sbx-ok-5']);
  const { db } = rig.ledger;
  const { sealed } = await db
    .selectFrom('credentials')
    .select('sealed')
    .where('migration_id', '=', id)
    .where('row', '=', 2)
    .executeTakeFirstOrThrow();
  await db.updateTable('credentials').set({ sealed }).where('migration_id', '=', id).where('row', '=', 1).execute();
  expect(await rig.importSlice(id)).toMatchObject({ claimed: 2, stop: null });
  expect(await readRow(db, id, 1)).toMatchObject({ state: 'failed', failure: 'credential-unreadable' });
  expect(await stateOf(id, 2)).toBe('syncing');
  expect(puts()).toBe(1);
});
