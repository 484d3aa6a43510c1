/** Starts a portal and a worker, and creates clients that use the portal with `ferry --portal`. */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { startPortal, type PortalOptions } from '../../../portal/server';
import { providerFingerprintOfMasterKeys, Secret } from '../../../security';
import { createLog } from '../../../security/log';
import { createTemporaryFolder } from '../../../stack/folders';
import { grantPortalRole } from '../../../store';
import { startOrchestrator, type Orchestrator } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';

export type Run = Awaited<ReturnType<typeof ferry>>;

export interface ClientPortal {
  readonly orchestrator: Orchestrator;
  readonly url: string;
  /** Every line that the portal has logged. */
  readonly log: readonly string[];
  /** Runs a command as support. */
  support(...args: string[]): Promise<Run>;
  /** Returns the link of a new invitation. */
  invite(migrationId: string, name?: string, ...options: string[]): Promise<string>;
  /** Creates the machine of a person at the client, with its own home folder. */
  client(): Client;
  /** Invites Cleo, signs in as Cleo on a new machine, and confirms Cleo's key as support. */
  signedIn(migrationId: string): Promise<Client>;
  close(): Promise<void>;
}

export interface Client {
  readonly home: string;
  /** Runs a command with `--portal` and the address of the portal. */
  run(...args: string[]): Promise<Run>;
  /** Runs a command with `--portal` and this link. */
  runWith(link: string, ...args: string[]): Promise<Run>;
  runJson(...args: string[]): Promise<Record<string, unknown>>;
}

/** @param options the folder of the portal's page; by default, the folder that the build creates */
export async function openClientPortal(options: Pick<PortalOptions, 'pageFolder'> = {}): Promise<ClientPortal> {
  const orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  const { db } = orchestrator.ferry;
  const databaseUrl = new URL(orchestrator.config.databaseUrl.reveal());
  databaseUrl.username = `portal_${randomBytes(6).toString('hex')}`;
  databaseUrl.password = 'password';
  await grantPortalRole(db, new Secret(databaseUrl.href));
  const log: string[] = [];
  const portal = await startPortal({
    ...{ port: 0, databaseUrl: databaseUrl.href, ...options },
    log: createLog({ level: 'trace', to: { write: (line) => void log.push(line) } }),
    limits: { redemptionsPerMinute: 10_000, requestsPerSession: 10_000, refusalsPerAddress: 10_000 },
  });
  const url = portal.localUrl;
  const homes: string[] = [];
  const env = {
    ...orchestrator.env,
    TOKENFERRY_PORTAL_URL: url,
    TOKENFERRY_PROVIDER_FINGERPRINT: providerFingerprintOfMasterKeys(orchestrator.config.masterKeys),
  };
  const support = (...args: string[]): Promise<Run> => ferry(args, undefined, env);
  const invite = async (migrationId: string, name = 'Cleo', ...options: string[]): Promise<string> =>
    (await support('invite', migrationId, '--name', name, '--quiet', ...options)).out.trim();
  const client = (): Client => {
    const home = createTemporaryFolder();
    homes.push(home);
    const runWith = (link: string, ...args: string[]): Promise<Run> =>
      ferry(['--portal', link, ...args], undefined, { TOKENFERRY_HOME: path.join(home, 'tokenferry') });
    return {
      ...{ home, runWith },
      run: (...args) => runWith(url, ...args),
      runJson: async (...args) => JSON.parse((await runWith(url, ...args, '--json')).out) as Record<string, unknown>,
    };
  };
  return {
    ...{ orchestrator, url, log, support, invite, client },
    signedIn: async (migrationId) => {
      const cleo = client();
      const { out, err } = await cleo.runWith(await invite(migrationId), 'sign-in');
      const [fingerprint] = /(?<=\n {2})(?:[\da-f]{4}-){7}[\da-f]{4}(?=\n)/.exec(out) ?? [];
      if (fingerprint === undefined) throw new Error(`signing in has failed: ${out}${err}`);
      const confirmed = await support('approver', 'add', migrationId, fingerprint, '--yes');
      if (confirmed.exitCode !== 0) throw new Error(`the key was not confirmed: ${confirmed.err}${confirmed.out}`);
      return cleo;
    },
    close: async () => {
      await portal.close();
      await orchestrator.close();
      for (const home of homes) rmSync(home, { recursive: true, force: true });
    },
  };
}
