/** Supplying a manifest with `ferry --portal`. */
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { sampleView } from '../../portal/page/sample-view';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const SESSION = {
  ...{ migrationId: ID, person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32), isKeyConfirmed: true },
  expiresAt: '2026-11-20T10:00:00.000Z',
};
const VIEW = sampleView({
  migrationId: ID,
  platform: { key: 'rwuv', name: 'Zoho Books' },
  actions: [
    {
      ...{ message: 'manifestSupplied', title: 'Supply the manifest', facts: [], consequence: 'It is checked.' },
      ...{ isIrreversible: false, isExpected: true, reason: 'optional' },
    },
  ],
});

/** Returns the body of the portal's answer to a request. */
function bodyOf(url: string): unknown {
  switch (url) {
    case '/api/session':
      return SESSION;
    case '/api/migration':
      return { view: VIEW, writtenAt: '2026-11-20T10:00:00.000Z', isCurrent: true };
    case '/api/manifest':
      return { id: '1', answer: { outcome: 'stored', text: 'stored' } };
    default:
      return { id: '2', answer: { outcome: 'applied', text: 'the manifest has 2 companies' } };
  }
}

test('a missing credential is supplied with a command, because the manifest stores no credentials', async () => {
  const file = path.join(home, 'manifest.csv');
  writeFileSync(
    file,
    'reference,name,organizationId,expectedInvoices,family,accessToken,refreshToken,region\n' +
      'A-1,Acme,17,3,jo,at-1,rt-1,eu\nA-2,Bolt,18,4,jo,,,\n',
  );
  const { exitCode, out, portal } = await runAgainst(
    ({ url = '' }, response) => response.end(JSON.stringify(bodyOf(url))),
    { home, signingKey: createSigningKey('client') },
    ...['manifest', file, '--yes'],
  );
  expect(exitCode).toBe(0);
  expect(out).toContain('the manifest has 2 companies');
  expect(out).toContain('"A-2" has no credential');
  expect(out).toContain(`supply the credential with: ferry --portal ${portal} credentials credentials.csv`);
  expect(out).not.toContain('add the credential to the file');
});
