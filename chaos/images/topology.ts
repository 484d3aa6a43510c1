/** Starts docker-compose.yml as a project of its own, with ports of its own, and removes everything again. */
import path from 'node:path';
import { reservePort } from '../../stack/ports';
import { FIRST_PORTS } from '../cluster/cluster-process';
import { TAG } from './build';
import {
  COMPOSE_FILE,
  INNER_PORTS,
  PROJECT_FOLDER,
  readServices,
  startOrder,
  writeExtension,
  type PublishedService,
} from './compose-file';
import { Container } from './containers';
import type { Engine } from './engine';

const PROJECT = 'tokenferry-images-test';
/** The variables of docker-compose.yml that set ports. */
const PORT_VARIABLES = [
  'SERVICE_PORT',
  'CODEC_PORT',
  'TEMPORAL_UI_PORT',
  'CLIENT_UI_PORT',
  'PORTAL_PORT',
  'PROMETHEUS_PORT',
  'GRAFANA_PORT',
] as const;

export interface Topology {
  /** The configuration for `ferry` and `loadConfig` on this machine. */
  readonly variables: NodeJS.ProcessEnv;
  readonly databases: Readonly<Record<'ledger' | 'service', { readonly url: string }>>;
  readonly prometheusUrl: string;
  containers(service: string): Promise<readonly Container[]>;
  /** Runs `ferry` in a container, as `docker compose run --rm ferry` does, and returns its output. */
  ferry(...args: readonly string[]): Promise<string>;
}

export interface TopologyOptions {
  /** A temporary folder. */
  readonly folder: string;
  /** The services that are left out: those whose image is missing, and those that depend on them. */
  readonly leftOut: readonly string[];
  readonly log: (line: string) => void;
  /** Rejected when the run is to end early. */
  readonly interrupted: Promise<never>;
}

/** Runs `use` while the topology runs. Then removes its containers, networks and volumes. */
export async function withTopology<T>(
  engine: Engine,
  { folder, leftOut, log, interrupted }: TopologyOptions,
  use: (topology: Topology) => Promise<T>,
): Promise<T> {
  const reserved = [];
  try {
    for (let index = 0; index < PORT_VARIABLES.length + Object.keys(INNER_PORTS).length; index += 1) {
      reserved.push(await reservePort(FIRST_PORTS.images));
    }
    const ports = reserved.map(({ port }) => port);
    const variables = Object.fromEntries(PORT_VARIABLES.map((name) => [name, String(ports.shift())]));
    const inner = Object.fromEntries(Object.keys(INNER_PORTS).map((service) => [service, ports.shift()]));
    const extension = path.join(folder, 'extension.json');
    writeExtension(extension, { ports: inner as Record<PublishedService, number>, leftOut });
    const project = new ComposeProject(engine, extension, { ...variables, TOKENFERRY_VERSION: TAG });
    try {
      await project.remove(); // removes the remains of an interrupted run
      await Promise.race([project.start(leftOut, log), interrupted]);
      const topology = await topologyOf(project, variables, inner as Record<PublishedService, number>);
      return await Promise.race([use(topology), interrupted]);
    } finally {
      await project.remove();
    }
  } finally {
    for (const { release } of reserved) release();
  }
}

class ComposeProject {
  constructor(
    private readonly engine: Engine,
    private readonly extension: string,
    private readonly env: NodeJS.ProcessEnv,
  ) {}

  compose(...args: readonly string[]): Promise<string> {
    const files = ['--file', COMPOSE_FILE, '--file', this.extension];
    return this.engine.compose(['--project-name', PROJECT, ...files, ...args], { env: this.env, cwd: PROJECT_FOLDER });
  }

  async containers(service: string): Promise<readonly Container[]> {
    const ids = await this.containerIds([`com.docker.compose.service=${service}`]);
    const hasHealthCheck = readServices()[service]?.healthcheck !== undefined;
    return ids.map((id, index) => {
      const name = ids.length === 1 ? service : `${service} ${index + 1}`;
      return new Container(this.engine, id, name, hasHealthCheck);
    });
  }

  private async containerIds(labels: readonly string[]): Promise<readonly string[]> {
    const filters = [`com.docker.compose.project=${PROJECT}`, ...labels].flatMap((label) => [
      '--filter',
      `label=${label}`,
    ]);
    return lines(await this.engine.run(['ps', '--all', '--quiet', ...filters]));
  }

  /**
   * Starts the services that are not left out and have no profile. Waits until they are healthy and the jobs have
   * ended.
   */
  async start(leftOut: readonly string[], log: (line: string) => void): Promise<void> {
    if (this.engine.name === 'docker') {
      await this.compose('up', '--detach', '--wait', '--no-build');
      return;
    }
    // podman-compose ignores conditions in depends_on that the installed Podman cannot wait for.
    const order = startOrder(readServices(), leftOut);
    for (const service of order) {
      const { depends_on = {} } = readServices()[service] ?? {};
      for (const [each, { condition }] of Object.entries(depends_on)) {
        for (const container of await this.containers(each)) {
          if (condition === 'service_completed_successfully') await container.awaitSuccess();
          else await container.start();
        }
      }
      log(`  starting ${service}`);
      await this.compose('up', '--detach', '--no-build', '--no-deps', service);
    }
    for (const service of order.filter((name) => readServices()[name]?.healthcheck)) {
      for (const container of await this.containers(service)) await container.start();
    }
  }

  /** Removes the project, and the volumes that Podman has created without the label that podman-compose looks for. */
  async remove(): Promise<void> {
    const ids = await this.containerIds([]);
    if (ids.length > 0) await this.engine.run(['rm', '--force', ...ids]);
    await this.compose('--profile', 'ferry', 'down', '--volumes', '--remove-orphans');
    const volumes = lines(await this.engine.run(['volume', 'ls', '--quiet', '--filter', `name=${PROJECT}_`]));
    if (volumes.length > 0) await this.engine.run(['volume', 'rm', ...volumes]);
  }
}

const lines = (output: string): readonly string[] => output.split('\n').filter((line) => line !== '');

async function topologyOf(
  project: ComposeProject,
  variables: Readonly<Record<string, string>>,
  inner: Readonly<Record<PublishedService, number>>,
): Promise<Topology> {
  const secret = async (service: string, name: string): Promise<string> => {
    const [container] = await project.containers(service);
    if (!container) throw new Error(`${service} has no container`);
    return (await container.exec('cat', `/run/secrets/${name}`)).trim();
  };
  const onThisMachine = async (service: PublishedService, holder: string): Promise<string> => {
    const url = new URL(await secret(holder, 'database-url'));
    url.host = `127.0.0.1:${inner[service]}`;
    return url.href;
  };
  const ledger = await onThisMachine('ledger', 'worker');
  return {
    variables: {
      ...{ PATH: process.env['PATH'], HOME: process.env['HOME'] },
      TEMPORAL_ADDRESS: `127.0.0.1:${inner.temporal}`,
      TEMPORAL_NAMESPACE: 'default',
      DATABASE_URL: ledger,
      COMPANY_DATA_URL: `http://127.0.0.1:${variables['SERVICE_PORT']}`,
      COMPANY_DATA_API_KEY: await secret('worker', 'company-data.key'),
      TOKENFERRY_PAYLOAD_KEY: await secret('worker', 'payload.key'),
    },
    databases: {
      ledger: { url: ledger },
      service: { url: await onThisMachine('service-database', 'service') },
    },
    prometheusUrl: `http://127.0.0.1:${variables['PROMETHEUS_PORT']}`,
    containers: (service) => project.containers(service),
    ferry: (...args) => project.compose('--profile', 'ferry', 'run', '--rm', '-T', 'ferry', ...args),
  };
}
