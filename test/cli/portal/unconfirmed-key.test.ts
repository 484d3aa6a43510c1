/** Tests what `ferry --portal` says to a person whose key support has not confirmed. */
import { rmSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createSigningKey } from '../../../security/signing-key';
import { createTemporaryFolder } from '../../../stack/folders';
import { sampleView } from '../../portal/page/sample-view';
import { ID, runAgainst } from './answering-portal';

const home = createTemporaryFolder();
afterAll(() => rmSync(home, { recursive: true, force: true }));

const MOVED = '41 of 60 companies have moved, 19 to go.';
const NOTHING = `${MOVED} Nothing for you to do.`;
const CONFIRM = `${MOVED} Call your contact to confirm your key.`;

interface Portal {
  /** The answers to successive requests for the session: true if the key is confirmed. The last value is repeated. */
  readonly isKeyConfirmed: readonly boolean[];
  /** The states of the migration in successive views. The last value is repeated. Default: always running. */
  readonly states?: readonly ('running' | 'completed')[];
}

async function run(command: string | readonly string[], { isKeyConfirmed, states = ['running'] }: Portal) {
  const [confirmed, left] = [[...isKeyConfirmed], [...states]];
  const next = <Value>(values: Value[]): Value | undefined => (values.length > 1 ? values.shift() : values[0]);
  const answerTo = (url: string) =>
    url === '/api/session'
      ? {
          ...{ migrationId: ID, person: 'Cleo', role: 'client', publicKey: 'ab'.repeat(32) },
          ...{ isKeyConfirmed: next(confirmed), expiresAt: '2026-11-20T10:00:00.000Z' },
        }
      : {
          view: sampleView({ migrationId: ID, headline: NOTHING, task: null, state: next(left) ?? 'running' }),
          ...{ writtenAt: '2026-11-20T09:00:00.000Z', isCurrent: true },
        };
  const answer = ({ url = '' }: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answerTo(url)));
  };
  const { out, err } = await runAgainst(answer, { home, signingKey: createSigningKey('client') }, ...[command].flat());
  return out + err;
}

test('the list asks to confirm the key', async () => {
  expect(await run('list', { isKeyConfirmed: [false] })).toContain(`not confirmed  ${CONFIRM}`);
  expect(await run('list', { isKeyConfirmed: [true] })).toContain(`confirmed  ${NOTHING}`);
  expect(await run('list', { isKeyConfirmed: [false], states: ['completed'] })).toContain(NOTHING);
});

test('watch asks to confirm the key until support has confirmed it', async () => {
  const out = await run('watch', { isKeyConfirmed: [false, true], states: ['running', 'running', 'completed'] });
  const headlines = out.split('\n').flatMap((line) => line.match(/41 of 60 .*?\..*?\./)?.[0] ?? []);
  // Two views of the running migration, its end, and the result.
  expect(headlines).toEqual([CONFIRM, NOTHING, NOTHING, NOTHING]);
});

test.each([
  ['application', '--client-id', 'AB12', '--environment', 'production'],
  ['credentials', '/nonexistent/credentials.csv'],
  ['replace-credential', '/nonexistent/credentials.csv'],
  ['manifest', '/nonexistent/manifest.csv'],
])('%s says that the key is not confirmed before it asks for a secret or reads a file', async (...command) => {
  expect(await run(command, { isKeyConfirmed: [false] })).toMatch(
    /^ferry: support has not confirmed your key yet; call .*, and read out the fingerprint /,
  );
});
