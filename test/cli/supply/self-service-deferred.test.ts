/** A self-service migration with a deferred company and a company that waits for the client's decision. */
import { openSelfServiceClient, type SelfServiceClient } from './self-service-set-up';

let me: SelfServiceClient;
beforeAll(async () => (me = await openSelfServiceClient()));
afterAll(() => me.close());

test('while only a deferred company is left, the client is asked to decide about the companies that were not moved', async () => {
  const id = 'me.xero.deferred';
  const rows = [{ credential: 'sbx-ok-1' }, { credential: 'sbx-revoked' }, { credential: 'sbx-inaccessible' }];
  const { exitCode, json } = await me.selfService('xero', 'deferred', rows);
  expect(exitCode).toBe(1);
  expect(json).toMatchObject({
    state: 'waiting',
    waitingFor: { roles: ['client'], what: 'decide what to do about 1 company that was not moved' },
    next: [
      { who: 'client', command: `ferry exceptions ${id}` },
      { who: 'client', command: `ferry watch ${id}` },
    ],
  });
  const { out } = await me.run('show', id);
  expect(out).toContain('Waiting for client: decide what to do about 1 company that was not moved');
  expect(out).toMatch(/1 company deferred/);
  expect(out).not.toMatch(/ends about/);
  expect((await me.run('list')).out).toMatch(/me\.xero\.deferred +waiting +self-service +client/);
});
