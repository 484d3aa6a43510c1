import { loadConfig } from '../../../config';
import { createLog } from '../../../security/log';
import { errorCode } from '../../../stack/ports';
import { UnsafeAddress } from '../../../portal/server/address';
import { runPortal, type RunningPortal } from '../../../stack/processes/run-portal';
import type { Context } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { portOption } from '../../shared/options';
import { waitForAbort } from '../../shared/waiting';
import type { Terminal } from '../../terminal/terminal';

interface PortalCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly certificate?: string;
  readonly key?: string;
  readonly behindProxy?: true;
  readonly trustedProxy?: readonly string[];
}

/** `ferry portal`: runs in the foreground until Ctrl-C, and logs one line per request. */
export function addPortal({ program, run, output, terminal }: Context): void {
  program
    .command('portal')
    .description('Run the page on which clients follow their migration, decide, and supply credentials')
    .option('--certificate <file>', 'certificate with its chain (PEM); if the file changes, the portal reads it again')
    .option('--key <file>', 'private key of the certificate (PEM)')
    .option('--behind-proxy', 'allow HTTP on any --host, because a proxy in front of the portal terminates TLS')
    .option('--trusted-proxy <address...>', 'address or network of a proxy whose X-Forwarded-For is trusted')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .addOption(portOption('--port <number>', 'port to listen on').default(8_600))
    .action(async (options: PortalCommandOptions) => {
      const interrupted = terminal.interruption();
      await run(async () => {
        const portal = await start(terminal, options);
        output.note(
          `The portal is listening at ${portal.localUrl}. Clients open ${portal.url}. Stop the portal with Ctrl-C.`,
        );
        await waitForAbort(interrupted);
        await portal.stop();
        return { json: { schema: 'ferry.portal/1', url: portal.url }, print: () => undefined };
      });
    });
}

async function start({ env }: Terminal, options: PortalCommandOptions): Promise<RunningPortal> {
  const { host, port, certificate, key, behindProxy = false, trustedProxy = [] } = options;
  const config = loadConfig(['portalDatabaseUrl'], env, ['portalUrl', 'healthAddress', 'openId', 'openIdSecret']);
  if ((certificate === undefined) !== (key === undefined))
    throw new CommandFailed('--certificate and --key must be used together', 'pass both or neither');
  const log = createLog({ level: config.logLevel, to: 2 });
  try {
    return await runPortal(
      {
        ...{ host, port, behindProxy, trustedProxies: trustedProxy, log },
        databaseUrl: config.portalDatabaseUrl.reveal(),
        publicUrl: config.portalUrl,
        openId: config.openId && { ...config.openId, clientSecret: config.openIdSecret },
        tls:
          certificate !== undefined && key !== undefined ? { certificateFile: certificate, keyFile: key } : undefined,
      },
      config.healthAddress,
      log,
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the portal did not start';
    throw new CommandFailed(message, adviceOn(error), { cause: error });
  }
}

function adviceOn(error: unknown): string {
  if (errorCode(error) === 'EADDRINUSE')
    return 'another program uses this address; choose another --port, or another TOKENFERRY_HEALTH_ADDRESS if the address is from this variable';
  if (error instanceof UnsafeAddress) return error.advice;
  return 'check --host, --port, --certificate, --key, --trusted-proxy and TOKENFERRY_HEALTH_ADDRESS';
}
