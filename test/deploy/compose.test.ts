/** Checks docker-compose.yml without a container engine. `npm run images:test` starts its services. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ourServers, servicesWithout, startOrder, type ComposeService } from '../../chaos/images/compose-file';
import { parse } from 'yaml';

const ROOT = path.join(__dirname, '../..');

interface Service extends ComposeService {
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly networks?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

const { services } = parse(readFileSync(path.join(ROOT, 'docker-compose.yml'), 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<string, Service>>;
};
const all = Object.entries(services);
const servers = all.filter(([, { restart }]) => restart !== 'no');
const jobs = all.filter(([, { restart, profiles }]) => restart === 'no' && profiles === undefined);

test('every server is restarted, has a health check and limits, and cannot gain privileges', () => {
  expect(servers.length).toBeGreaterThan(8);
  for (const [name, service] of servers) {
    expect([name, service]).toEqual([
      name,
      expect.objectContaining({
        restart: 'unless-stopped',
        healthcheck: expect.anything() as object,
        security_opt: ['no-new-privileges:true'],
        deploy: { resources: { limits: { cpus: expect.any(String) as string, memory: expect.any(String) as string } } },
      }),
    ]);
  }
});

test('our containers have a read-only file system and no capabilities', () => {
  const ours = all.filter(([, { image }]) => image.startsWith('tokenferry-'));
  expect(ours.length).toBe(7);
  for (const [name, { read_only, cap_drop }] of ours) {
    expect([name, read_only, cap_drop]).toEqual([name, true, ['ALL']]);
  }
});

test('the test of the images checks the container of each of our servers', () => {
  expect([...ourServers(services)].sort()).toEqual(['codec-server', 'portal', 'service', 'worker']);
});

test('a service starts once the jobs it depends on have succeeded and the servers are healthy, and each job is waited for', () => {
  const conditions = all.flatMap(([, { depends_on = {} }]) =>
    Object.entries(depends_on).map(([name, { condition }]) => ({ name, condition })),
  );
  for (const { name, condition } of conditions) {
    const isJob = jobs.some(([job]) => job === name);
    expect([name, condition]).toEqual([name, isJob ? 'service_completed_successfully' : 'service_healthy']);
  }
  // If no service waits for a job, `docker compose up --wait` fails when the job ends.
  for (const [job] of jobs) expect(conditions.map(({ name }) => name)).toContain(job);
});

test('every port is published on this machine only', () => {
  for (const [name, { ports = [] }] of all) {
    for (const port of ports) expect([name, port]).toEqual([name, expect.stringMatching(/^127\.0\.0\.1:/)]);
  }
});

test('the portal has only two secrets: the password of its database role, and its client secret at an identity provider', () => {
  const portal = services['portal'];
  expect(portal?.volumes).toEqual(['secrets-portal:/run/secrets:ro']);
  expect(portal?.networks).toEqual(['ledger', 'portal']);
  expect(Object.keys(portal?.environment ?? {}).sort()).toEqual([
    'PORTAL_DATABASE_URL_FILE',
    'TOKENFERRY_HEALTH_ADDRESS',
    ...['TOKENFERRY_OPENID_CLIENT_ID', 'TOKENFERRY_OPENID_CLIENT_SECRET', 'TOKENFERRY_OPENID_ISSUER'],
    'TOKENFERRY_PORTAL_URL',
  ]);
});

test('images of other projects have a version and a full name, which Podman needs', () => {
  const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
  const bases = [...dockerfile.matchAll(/^FROM (\S+:\S+)/gm)].map(([, image]) => image);
  const images = all.map(([, { image }]) => image).filter((image) => !image.startsWith('tokenferry-'));
  expect(bases).toHaveLength(2);
  for (const image of [...bases, ...images]) expect(image).toMatch(/^docker\.io\/[a-z]+\/[a-z-]+:v?\d*[a-z]*[\d.-]+\d/);
});

test('a service is left out with the services that depend on it', () => {
  const leftOut = servicesWithout(new Set([services['prometheus']?.image ?? '']), services);
  expect([...leftOut].sort()).toEqual(['grafana', 'prometheus']);
});

test('each service starts after the services that it depends on', () => {
  const order = startOrder(services, ['grafana']);
  expect(order).not.toContain('grafana');
  expect(order).not.toContain('ferry');
  for (const [index, name] of order.entries()) {
    for (const each of Object.keys(services[name]?.depends_on ?? {})) expect(order.slice(0, index)).toContain(each);
  }
});
