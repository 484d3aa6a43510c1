import { InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../../config';
import { isLoopback, KeySetUnavailable, startCodecServer, createTokenVerifier } from '../../../security/codec-server';
import { createLog } from '../../../security/log';
import { CommandFailed } from '../../shared/command-failed';
import { untilAborted } from '../../shared/pause';
import type { Terminal } from '../../terminal';
import type { Context } from '../../shared/context';

interface CodecServerOptions {
  readonly host: string;
  readonly port: number;
  readonly origin: readonly string[];
  readonly issuer?: string;
  readonly audience?: string;
  readonly keySet?: string;
}

/** `ferry codec-server`: in the foreground until Ctrl-C; its log is one line for each call. */
export function addCodecServer({ program, run, output, terminal }: Context): void {
  program
    .command('codec-server')
    .description("Let Temporal's UI and command decode payloads for those whose token says that they may read them")
    .requiredOption('--origin <url...>', "whose pages may ask: the address of Temporal's UI")
    .option('--issuer <url>', 'who issues the tokens (JWT); without it nobody is asked for one, on 127.0.0.1 only')
    .option('--audience <text>', 'what the tokens are for')
    .option('--key-set <url or file>', "the issuer's public keys, as a JWK set")
    .option('--host <address>', 'where it listens', '127.0.0.1')
    .addOption(new Option('--port <number>', 'where it listens').default(8_234).argParser(portOf))
    .action(async (options: CodecServerOptions) => {
      const interrupted = terminal.interruption();
      await run(async () => {
        const server = await start(terminal, options);
        output.note(`The codec server listens at ${server.url}. Stop with Ctrl-C.`);
        await untilAborted(interrupted);
        await server.close();
        return { json: { schema: 'ferry.codec-server/1', url: server.url }, print: () => undefined };
      });
    });
}

async function start({ env }: Terminal, { host, port, origin, issuer, audience, keySet }: CodecServerOptions) {
  const { payloadKeys, logLevel } = loadConfig(['payloadKeys'], env);
  const rules = [issuer, audience, keySet].filter((rule) => rule !== undefined);
  if (rules.length !== 0 && rules.length !== 3) {
    throw new CommandFailed('--issuer, --audience and --key-set belong together', 'give all three, or none');
  }
  const rulesOfTokens =
    issuer !== undefined && audience !== undefined && keySet !== undefined ? { issuer, audience, keySet } : null;
  if (!rulesOfTokens && !isLoopback(host)) {
    throw new CommandFailed(
      `without tokens the codec server listens on this machine alone, not at ${host}`,
      'say whose tokens it takes, with --issuer, --audience and --key-set',
    );
  }
  const verifyToken = rulesOfTokens && (await createTokenVerifier(rulesOfTokens).catch(refusedKeySet));
  const log = createLog({ level: logLevel, to: 2 });
  return startCodecServer({ payloadKeys, origins: origin, verifyToken, host, port, log });
}

function refusedKeySet(error: unknown): never {
  if (!(error instanceof KeySetUnavailable)) throw error;
  throw new CommandFailed(error.message, 'ask your identity provider for the address of its keys', { cause: error });
}

function portOf(text: string): number {
  const port = Number(text);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError('A port is expected.');
  return port;
}
