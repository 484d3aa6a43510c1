/** Tests what `ferry portal` says about the addresses at which it can be opened. */
import path from 'node:path';
import { runFerry } from '../../../cli/program';
import { until } from '../../support/async';
import { capturedStream } from '../captured-terminal';

const TLS = path.join(__dirname, '..', '..', 'portal', 'certificates');
const WITH_TLS = ['--certificate', path.join(TLS, 'certificate-1.pem'), '--key', path.join(TLS, 'key-1.pem')];
const ANYWHERE = ['--host', '0.0.0.0', ...WITH_TLS];

/** Runs `ferry portal` without a database until it has printed its line, which is returned without the port. */
async function noteOf(publicUrl: string | undefined, options: readonly string[]): Promise<string> {
  const interruption = new AbortController();
  const [stdout, stderr] = [capturedStream(), capturedStream()];
  const env = {
    ...{ TOKENFERRY_HOME: '/nowhere', TOKENFERRY_LOG_LEVEL: 'silent', TOKENFERRY_PORTAL_URL: publicUrl },
    PORTAL_DATABASE_URL: 'postgres://portal@127.0.0.1:1/none',
  };
  const terminal = { stdout, stderr, env, userName: 'tester', interruption: () => interruption.signal };
  const exitCode = runFerry(['portal', '--port', '0', ...options], terminal);
  // The line of an error ends the wait as well.
  await until(() => (stdout.text + stderr.text).includes('\n'));
  interruption.abort();
  expect([await exitCode, stderr.text]).toEqual([0, '']);
  return stdout.text.replace(/:\d+\. /, '. ');
}

test.each<[string, string | undefined, readonly string[], string]>([
  [
    'says how clients can open it if it has no public URL',
    ...([undefined, ANYWHERE] as const),
    'https://0.0.0.0. Before clients can use it, set TOKENFERRY_PORTAL_URL to the address that they open, and start the portal again.',
  ],
  ['names its public URL', 'https://portal.example', ANYWHERE, 'https://0.0.0.0. Clients open https://portal.example.'],
  ['says that only this machine can open it', undefined, [], 'http://127.0.0.1. Only this machine can open it.'],
])('the portal %s', async (_, publicUrl, options, text) => {
  expect(await noteOf(publicUrl, options)).toBe(`The portal is listening at ${text} Stop it with Ctrl-C.\n`);
});
