import { loadConfig } from '../../../config';
import { isLoopback, KeySetUnavailable, startCodecServer, createTokenVerifier } from '../../../security/codec-server';
import { createLog } from '../../../security/log';
import { errorCode } from '../../../stack/ports';
import { CommandFailed } from '../../shared/errors';
import { portOption } from '../../options/options';
import { waitForAbort } from '../../connections/waiting';
import type { Terminal } from '../../terminal/terminal';
import type { Context } from '../../shared/context';

interface CodecServerOptions {
  readonly host: string;
  readonly port: number;
  readonly origin: readonly string[];
  readonly issuer?: string;
  readonly audience?: string;
  readonly keySet?: string;
}

/** `ferry codec-server`: runs in the foreground until Ctrl-C, and logs one line per request. */
export function addCodecServer({ program, run, output, terminal }: Context): void {
  program
    .command('codec-server')
    .description("Decrypt what Temporal's UI and command line show, and encrypt what people send with them")
    .requiredOption('--origin <url...>', "address of Temporal's UI, whose pages are allowed to call this server")
    .option(
      '--issuer <url>',
      'issuer of the access tokens (JWT) that requests must contain; without an issuer, no access token is required and the server listens only on this machine',
    )
    .option('--audience <text>', 'audience of the access tokens')
    .option('--key-set <url or file>', 'public keys of the issuer, as a JWK set')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(portOption('--port <number>', 'port to listen on').default(8_234))
    .action(async (options: CodecServerOptions) => {
      const interrupted = terminal.interruption();
      await run(async () => {
        const server = await start(terminal, options);
        output.note(`The codec server is listening at ${server.url}. Stop it with Ctrl-C.`);
        await waitForAbort(interrupted);
        await server.close();
        return { json: { schema: 'ferry.codec-server/1', url: server.url }, print: () => undefined };
      });
    });
}

async function start({ env }: Terminal, { host, port, origin, issuer, audience, keySet }: CodecServerOptions) {
  const { payloadKeys, logLevel } = loadConfig(['payloadKeys'], env);
  const tokenRules =
    issuer !== undefined && audience !== undefined && keySet !== undefined ? { issuer, audience, keySet } : null;
  if (!tokenRules && (issuer ?? audience ?? keySet) !== undefined)
    throw new CommandFailed('--issuer, --audience and --key-set must be used together', 'pass all three, or none');
  if (!tokenRules && !isLoopback(host)) {
    throw new CommandFailed(
      'a codec server that requires no access token (JWT) can listen only on a loopback address ' +
        `such as 127.0.0.1, not on ${host}`,
      'omit --host, or use --issuer, --audience and --key-set to specify which tokens the server accepts',
    );
  }
  const verifyToken = tokenRules && (await createTokenVerifier(tokenRules).catch(refusedKeySet));
  const log = createLog({ level: logLevel, to: 2 });
  return startCodecServer({ payloadKeys, origins: origin, verifyToken, host, port, log }).catch(refusedAddress);
}

/**
 * Adds advice to an error about the address. Rethrows an error without a code, which is not about the address, and
 * `EADDRINUSE`, which gets its advice in `withAdvice`.
 */
function refusedAddress(error: unknown): never {
  const code = errorCode(error);
  if (!(error instanceof Error) || code === undefined || code === 'EADDRINUSE') throw error;
  throw new CommandFailed(error.message, 'check --host and --port', { cause: error });
}

function refusedKeySet(error: unknown): never {
  if (!(error instanceof KeySetUnavailable)) throw error;
  throw new CommandFailed(
    error.message,
    'specify a file that contains a JWK set, or the https URL of the key set of your identity provider',
    { cause: error },
  );
}
