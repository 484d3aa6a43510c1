/** The certificate of the portal. It is read again when its files change, so that a renewal needs no restart. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import { createSecureContext } from 'node:tls';
import type { Logger } from 'pino';

export interface TlsFiles {
  /** The certificate and its chain, in PEM. */
  readonly certificateFile: string;
  /** The private key, in PEM. */
  readonly keyFile: string;
}

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

export interface ReloadingCertificate {
  current(): Pair;
  /** From now on, gives the server each new certificate. */
  useFor(server: HttpServer | HttpsServer): void;
  stop(): void;
}

const CHECK_EVERY_MS = 10_000;

const UNREADABLE = 'the certificate files cannot be read; the portal keeps using the certificate that it has';
const UNUSABLE =
  'the certificate files have changed, but contain no valid certificate with its key; the portal keeps using the certificate that it has';

/** @throws if the files cannot be read, or do not contain a certificate and its key */
export function watchCertificate(
  files: TlsFiles,
  log: Pick<Logger, 'info' | 'warn'>,
  checkEveryMs = CHECK_EVERY_MS,
): ReloadingCertificate {
  let pair = read(files);
  createSecureContext(pair);
  let warned = '';
  let timer: NodeJS.Timeout | undefined;
  const check = (server: HttpsServer): void => {
    let next: Pair | null = null;
    try {
      next = read(files);
      if (digestOf(next) !== digestOf(pair)) {
        server.setSecureContext(next);
        pair = next;
        log.info('a new certificate is in use');
      }
      warned = '';
    } catch (error) {
      // Try again later: a renewal writes two files, which do not belong together until both are written.
      if (String(error) !== warned) log.warn({ err: error }, next === null ? UNREADABLE : UNUSABLE);
      warned = String(error);
    }
  };
  return {
    current: () => pair,
    useFor: (server) => {
      if (!(server instanceof HttpsServer)) return;
      timer = setInterval(() => check(server), checkEveryMs);
      timer.unref();
    },
    stop: () => clearInterval(timer),
  };
}

function read({ certificateFile, keyFile }: TlsFiles): Pair {
  return { cert: readFileSync(certificateFile), key: readFileSync(keyFile) };
}

function digestOf({ cert, key }: Pair): string {
  return createHash('sha256').update(cert).update(key).digest('base64');
}
