/** Tests where the portal listens, its certificate, and its answers without its database. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import type { Logger } from 'pino';
import { startPortal, type PortalOptions } from '../../portal/server';
import { watchCertificate } from '../../portal/server/tls';
import { createLog } from '../../security/log';
import { until } from '../support/async';

const TLS = path.join(__dirname, 'certificates');
const log = createLog({ level: 'silent', to: 2 });
const NO_DATABASE = 'postgres://portal@127.0.0.1:1/none';

const start = (options: Partial<PortalOptions> = {}) =>
  startPortal({ port: 0, databaseUrl: NO_DATABASE, log, pageFolder: '/nonexistent', ...options });

test.each<[string, Partial<PortalOptions>, RegExp]>([
  ['on every address', { host: '0.0.0.0' }, /only on a loopback address such as 127.0.0.1, not on 0.0.0.0/],
  [
    'behind a proxy without a public URL',
    { host: '0.0.0.0', behindProxy: true },
    /needs its public URL, TOKENFERRY_PORTAL_URL$/,
  ],
  ['for a public URL without TLS', { publicUrl: 'http://portal.example' }, /must begin with https:/],
  [
    'below a path of another site',
    { publicUrl: 'https://example.com/portal', behindProxy: true },
    /must contain no path/,
  ],
])('the portal does not serve HTTP %s', async (_, options, message) => {
  await expect(start(options)).rejects.toThrow(message);
});

test('behind a proxy, the portal tells browsers to use HTTPS', async () => {
  const portal = await start({ behindProxy: true, publicUrl: 'https://portal.example/' });
  try {
    expect(portal.url).toBe('https://portal.example');
    const answer = await fetch(`${portal.localUrl}/health`);
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=31536000/);
    const own = await fetch(`${portal.localUrl}/api/session`, {
      method: 'DELETE',
      headers: fromPage('https://portal.example'),
    });
    const foreign = await fetch(`${portal.localUrl}/api/session`, {
      method: 'DELETE',
      headers: fromPage(portal.localUrl),
    });
    expect([own.status, foreign.status]).toEqual([401, 403]);
  } finally {
    await portal.close();
  }
});

const fromPage = (origin: string) => ({ origin, 'x-tokenferry-portal': '1' });

test('without its database, the portal is not healthy, and says so without details', async () => {
  const portal = await start();
  try {
    await until(async () => (await fetch(`${portal.localUrl}/health`)).status === 503);
    const headers = { authorization: `Bearer ${'A'.repeat(43)}` };
    const answer = await fetch(`${portal.localUrl}/api/session`, { headers });
    expect([answer.status, await answer.json()]).toEqual([
      503,
      { error: 'The portal cannot answer now.', advice: expect.stringMatching(/Try again/) as string },
    ]);
    await expect(portal.checkDatabase()).rejects.toThrow('ECONNREFUSED');
    expect((await fetch(portal.localUrl)).status).toBe(404); // there is no page
  } finally {
    await portal.close();
  }
});

describe('with a certificate', () => {
  const UNREADABLE: unknown = expect.stringMatching(/^the certificate files cannot be read; the portal keeps using/);
  let files: { certificateFile: string; keyFile: string };
  beforeEach(() => {
    const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
    files = { certificateFile: path.join(folder, 'c.pem'), keyFile: path.join(folder, 'k.pem') };
    use(1, files);
  });

  function use(number: 1 | 2, { certificateFile, keyFile }: typeof files): void {
    copyFileSync(path.join(TLS, `certificate-${number}.pem`), certificateFile);
    copyFileSync(path.join(TLS, `key-${number}.pem`), keyFile);
  }

  /** Returns the serial number of the certificate that the server uses. */
  const serialOf = (url: string) =>
    new Promise<string>((resolve, reject) => {
      get(url, { rejectUnauthorized: false, agent: false }, (response) => {
        resolve((response.socket as TLSSocket).getPeerCertificate().serialNumber);
        response.resume();
      }).on('error', reject);
    });

  test('the portal serves HTTPS on every address, and uses a new certificate without a restart', async () => {
    const portal = await start({ host: '0.0.0.0', tls: files, certificateCheckMs: 50 });
    try {
      const url = `https://127.0.0.1:${new URL(portal.localUrl).port}/health`;
      const first = await serialOf(url);
      writeFileSync(files.certificateFile, 'not a certificate');
      await until(async () => (await serialOf(url)) === first);
      use(2, files);
      await until(async () => (await serialOf(url)) !== first);
    } finally {
      await portal.close();
    }
  });

  test('a warning says whether the files of a new certificate cannot be read or do not belong together', async () => {
    const warnings: string[] = [];
    const warn = (_: unknown, text: string) => warnings.push(text);
    const certificate = watchCertificate(files, { info: () => undefined, warn } as unknown as Logger, 10);
    const server = createServer(certificate.current());
    certificate.useFor(server);
    try {
      rmSync(files.keyFile);
      await until(async () => warnings.length === 1);
      copyFileSync(path.join(TLS, 'certificate-2.pem'), files.certificateFile);
      copyFileSync(path.join(TLS, 'key-1.pem'), files.keyFile);
      await until(async () => warnings.length > 1);
    } finally {
      certificate.stop();
    }
    expect(warnings.slice(0, 2)).toEqual([
      UNREADABLE,
      expect.stringMatching(/^the certificate files have changed, but contain no valid certificate with its key; /),
    ]);
  });

  test('a second outage of the files has its own warning', async () => {
    const warnings: string[] = [];
    const log = { info: () => undefined, warn: (_: unknown, text: string) => warnings.push(text) };
    const certificate = watchCertificate(files, log as unknown as Logger);
    jest.useFakeTimers();
    try {
      certificate.useFor(createServer(certificate.current()));
      for (const isReadable of [false, false, true, false]) {
        if (isReadable) use(1, files);
        else rmSync(files.keyFile, { force: true });
        jest.advanceTimersByTime(10_000);
      }
    } finally {
      certificate.stop();
      jest.useRealTimers();
    }
    expect(warnings).toEqual([UNREADABLE, UNREADABLE]);
  });

  test('the portal does not start with a key that does not belong to the certificate', () => {
    copyFileSync(path.join(TLS, 'key-2.pem'), files.keyFile);
    expect(() => watchCertificate(files, log)).toThrow(/mismatch/);
  });
});
