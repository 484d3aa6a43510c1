import { loadConfig } from '../../../config';
import { isLoopback } from '../../../security/codec-server';
import { createLog } from '../../../security/log';
import { errorCode } from '../../../stack/ports';
import { UnsafeAddress } from '../../../portal/server/address';
import { runPortal, type RunningPortal } from '../../../stack/processes/run-portal';
import type { Context } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { portOption } from '../../options/options';
import { waitForAbort } from '../../connections/waiting';
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
        const access = accessText(options.host, portal);
        output.note(`The portal is listening at ${portal.localUrl}. ${access}. Stop it with Ctrl-C.`);
        await waitForAbort(interrupted);
        await portal.stop();
        return { json: { schema: 'ferry.portal/1', url: portal.url }, print: () => undefined };
      });
    });
}

interface StartedPortal extends RunningPortal {
  /** The configured address that clients open. */
  readonly publicUrl: string | undefined;
}

/** Says who can open the portal. Without a public URL, this depends on the host on which the portal listens. */
function accessText(host: string, { url, publicUrl }: StartedPortal): string {
  if (publicUrl !== undefined) return `Clients open ${url}`;
  return isLoopback(host)
    ? 'Only this machine can open it'
    : 'Before clients can use it, set TOKENFERRY_PORTAL_URL to the address that they open, and start the portal again';
}

async function start({ env }: Terminal, options: PortalCommandOptions): Promise<StartedPortal> {
  const { host, port, certificate, key, behindProxy = false, trustedProxy = [] } = options;
  const config = loadConfig(['portalDatabaseUrl'], env, ['portalUrl', 'healthAddress', 'openId', 'openIdSecret']);
  if ((certificate === undefined) !== (key === undefined))
    throw new CommandFailed('--certificate and --key must be used together', 'pass both or neither');
  const log = createLog({ level: config.logLevel, to: 2 });
  try {
    const portal = await runPortal(
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
    return { ...portal, publicUrl: config.portalUrl };
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
