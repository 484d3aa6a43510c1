/** Supplying a manifest with `ferry --portal`. */
import { rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
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

const client = { home, signingKey: createSigningKey('client') };
const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => response.end(JSON.stringify(bodyOf(url)));

test('a missing credential is supplied with a command, because the manifest stores no credentials', async () => {
  const file = path.join(home, 'manifest.csv');
  writeFileSync(
    file,
    'reference,name,organizationId,expectedInvoices,family,accessToken,refreshToken,region\n' +
      'A-1,Acme,17,3,jo,at-1,rt-1,eu\nA-2,Bolt,18,4,jo,,,\n',
  );
  const { exitCode, out, portal } = await runAgainst(answer, client, 'manifest', file, '--yes');
  expect(exitCode).toBe(0);
  expect(out).toContain('the manifest has 2 companies');
  expect(out).toContain('"A-2" has no credential');
  expect(out).toContain(
    `1 credential in the file will not be sent; supply credentials later with: ferry --portal ${portal} credentials credentials.csv\n`,
  );
  expect(out).toContain(`supply the credential with: ferry --portal ${portal} credentials credentials.csv`);
  expect(out).not.toContain('add the credential to the file');
});

test('the findings that are not shown are listed by a command that sends nothing', async () => {
  const file = path.join(home, 'altered.csv');
  const rows = [1, 2, 3, 4, 5, 6, 7].map((row) => `A-${row},Müller ${row},${row},3,jo${row}`);
  writeFileSync(file, ['reference,name,organizationId,expectedInvoices,family', ...rows].join('\n'));
  const { exitCode, out } = await runAgainst(answer, client, 'manifest', file, '--yes');
  expect(exitCode).toBe(0);
  expect(out).toContain('more like line ');
  expect(out).toContain(`To list all findings, run: ferry check ${file} --platform zoho-books --all-findings\n`);
});
