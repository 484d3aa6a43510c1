/** Reads docker-compose.yml, and writes the file that extends it for a run. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

export const PROJECT_FOLDER = path.join(__dirname, '..', '..', '..');
export const COMPOSE_FILE = path.join(PROJECT_FOLDER, 'docker-compose.yml');

type Condition = 'service_started' | 'service_healthy' | 'service_completed_successfully';

export interface ComposeService {
  readonly image: string;
  readonly depends_on?: Readonly<Record<string, { readonly condition: Condition }>>;
  readonly healthcheck?: object;
  /** Services with a profile run only on demand. */
  readonly profiles?: readonly string[];
  readonly scale?: number;
  /** `no` for a job. */
  readonly restart?: string;
}

export type ComposeServices = Readonly<Record<string, ComposeService>>;

export function readServices(): ComposeServices {
  const file = parse(readFileSync(COMPOSE_FILE, 'utf8'), { merge: true }) as {
    services: Record<string, ComposeService>;
  };
  return file.services;
}

/** The container ports that a run needs and that docker-compose.yml does not publish, by service. */
export const INNER_PORTS = { temporal: 7233, ledger: 5432, 'service-database': 5432 } as const;
export type PublishedService = keyof typeof INNER_PORTS;

/**
 * Writes a file that extends docker-compose.yml: it publishes ports of the services in {@link INNER_PORTS} on this
 * machine, and leaves services out.
 */
export function writeExtension(
  file: string,
  { ports, leftOut }: { ports: Readonly<Record<PublishedService, number>>; leftOut: readonly string[] },
): void {
  const published = Object.entries(ports).map(([service, port]) => {
    const inner = INNER_PORTS[service as PublishedService];
    // Adds a network, because internal networks cannot publish ports.
    return [service, { ports: [`127.0.0.1:${port}:${inner}`], networks: ['published'] }] as const;
  });
  const without = leftOut.map((service) => [service, { profiles: ['left-out'] }] as const);
  const services = Object.fromEntries<object>([...published, ...without]);
  writeFileSync(file, JSON.stringify({ services, networks: { published: {} } }, null, 2)); // JSON is valid YAML
}

/**
 * Returns the servers that run an image of the Dockerfile. Their containers must be unable to write to their file
 * system. Leaves out jobs, because jobs have ended when the containers are checked.
 */
export function ourServers(services: ComposeServices): readonly string[] {
  return Object.entries(services)
    .filter(([, { image, restart }]) => image.startsWith('tokenferry-') && restart !== 'no')
    .map(([name]) => name);
}

/** Returns the services whose image is missing, and those that depend on them. */
export function servicesWithout(images: ReadonlySet<string>, all: ComposeServices): readonly string[] {
  const services = Object.entries(all);
  const leftOut = new Set(services.filter(([, { image }]) => images.has(image)).map(([name]) => name));
  for (let size = -1; size !== leftOut.size;) {
    size = leftOut.size;
    for (const [name, { depends_on = {} }] of services) {
      if (Object.keys(depends_on).some((each) => leftOut.has(each))) leftOut.add(name);
    }
  }
  return [...leftOut];
}

/** Returns the services to start, each after those that it depends on. */
export function startOrder(services: ComposeServices, leftOut: readonly string[]): readonly string[] {
  const order = new Set<string>();
  const visit = (name: string): void => {
    for (const each of Object.keys(services[name]?.depends_on ?? {})) visit(each);
    order.add(name);
  };
  for (const [name, { profiles }] of Object.entries(services)) {
    if (profiles === undefined && !leftOut.includes(name)) visit(name);
  }
  return [...order];
}
