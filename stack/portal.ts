import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { Config } from '../config';
import { reservePort } from './ports';
import { logEndText, startSupervised, type SupervisedProcess } from './process/supervised-process';

const PROGRAM = path.join(__dirname, 'processes', 'portal.js');
const DEFAULT_PORT = 8_600;
const HOST = '127.0.0.1';
/** Short, because requests that are waiting for a worker's answer are closed immediately. */
const GRACE_MS = 5_000;

/** Thrown when the portal does not start; the message contains the last lines of its log. */
class PortalUnavailable extends Error {
  override readonly name = 'PortalUnavailable';
}

interface StackPortalOptions {
  readonly dataFolder: string;
  readonly ephemeral: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly logLevel: Config['logLevel'];
  /** The URL with which the portal's role connects to the ledger's database. */
  readonly databaseUrl: string;
}

/** The portal of a stack, which serves only this machine. It runs in a separate process, so that it has no keys. */
export interface StackPortal {
  readonly url: string;
  /** @throws {PortalUnavailable} */
  start(options: StackPortalOptions): Promise<SupervisedProcess>;
  /** Releases the port if the portal was not started. */
  stop(): Promise<void>;
}

/**
 * Reserves the portal's port before the portal starts, because the stack first writes the address to `stack.json`,
 * where commands find it.
 */
export async function reserveStackPortal(port = DEFAULT_PORT): Promise<StackPortal> {
  const reserved = await reservePort(port);
  const url = `http://${HOST}:${reserved.port}`;
  return {
    url,
    start: async ({ dataFolder, ephemeral, env, logLevel, databaseUrl }) => {
      const logs = path.join(dataFolder, 'logs');
      mkdirSync(logs, { recursive: true, mode: 0o700 });
      const portal = startSupervised({
        command: process.execPath,
        args: [PROGRAM, '--host', HOST, '--port', String(reserved.port)],
        env: {
          ...withoutSettings(env),
          ...{ TOKENFERRY_HOME: dataFolder, TOKENFERRY_LOG_LEVEL: logLevel },
          ...{ TOKENFERRY_PORTAL_URL: url, PORTAL_DATABASE_URL: databaseUrl },
        },
        logFile: path.join(logs, 'portal.log'),
        stopSignal: ephemeral ? 'SIGKILL' : 'SIGTERM',
        graceMs: GRACE_MS,
        sendsReady: true,
        ...(ephemeral && { removeFolder: dataFolder }),
      });
      const isReady = await portal.ready;
      reserved.release();
      if (isReady) return portal;
      throw new PortalUnavailable(`The portal did not start. ${logEndText(portal.logFile)}`);
    },
    stop: async () => reserved.release(),
  };
}

/**
 * Omits the settings of other processes, so that the portal gets no key and no other database. Keeps the variables that
 * configure the identity provider.
 */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(TEMPORAL_|COMPANY_DATA_|DATABASE_URL|PORTAL_DATABASE_URL|TOKENFERRY_(?!OPENID_))/.test(name),
  );
  return Object.fromEntries(kept);
}
