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

test('a rejection with another first company is refused, and suggests no command that is also refused', async () => {
  const id = 'me.xero.deferred';
  const refused = `✗ refused: ${id}: a self-service migration has no approvals or rejections: it ends automatically\n`;
  const reject = (...more: string[]) => me.run('reject', id, ...more, '--reason', 'odd', '--by', 'Sam');
  const ofFirst = [
    ['--company', 'S-3'],
    ['schedule', '--next', 'same-company'],
    ['migrate-first-company', '--next', 'another-company'],
  ];
  for (const args of ofFirst) expect(await reject(...args)).toMatchObject({ exitCode: 1, out: refused, err: '' });
  expect((await reject('--next', 'abandon')).out).toBe(
    `${refused}  to end the migration, run: ferry cancel ${id} --reason odd --by Sam\n`,
  );
});
