/** Tests what `ferry --portal` says to a person whom the four-eyes rule excludes from a decision. */
import { rmSync } from 'node:fs';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { CONFIRM_SYNC, sampleView } from '../../portal/page/sample-view';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const APPROVE = { ...CONFIRM_SYNC, message: 'approve', step: 'schedule', title: 'Approve the start' };

function run(excludedPeople: string[], ...args: string[]) {
  const session = {
    ...{ migrationId: ID, person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32), isKeyConfirmed: true },
    expiresAt: '2026-11-20T10:00:00.000Z',
  };
  const view = sampleView({ migrationId: ID, actions: [{ ...APPROVE, excludedPeople }] });
  const answer = { view, writtenAt: '2026-11-20T09:00:00.000Z', isCurrent: true };
  return runAgainst(
    ({ url }, response) =>
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify(url === '/api/session' ? session : answer)),
    { home, signingKey: createSigningKey('client') },
    ...args,
  );
}

test('an approval is refused before it is sent, with who else must approve', async () => {
  const { exitCode, err, portal } = await run(['Cleo'], 'approve', 'schedule', '--yes');
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: `ferry: under the four-eyes rule, someone other than Cleo must approve the start for you; nothing was sent; see what you can do with: ferry --portal ${portal} show\n`,
  });
});

test('only the other people are offered the approval', async () => {
  expect((await run(['Cleo'], 'show')).out).not.toContain('approve schedule');
  expect((await run(['Dan'], 'show')).out).toMatch(/\* +approve schedule/);
});
