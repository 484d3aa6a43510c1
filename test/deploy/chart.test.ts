/** Checks the Helm chart without a cluster. Only the tests that render the chart need `helm`. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { TASK_QUEUE } from '../../workflows/messages';

const ROOT = path.join(__dirname, '../..');
const CHART = path.join(ROOT, 'deploy/helm/tokenferry');
const read = (file: string): string => readFileSync(path.join(CHART, file), 'utf8');

type Tree = Readonly<Record<string, unknown>>;
const isTree = (value: unknown): value is Tree => typeof value === 'object' && value !== null && !Array.isArray(value);
const treeOf = (value: unknown): Tree => (isTree(value) ? value : {});

const values = treeOf(parse(read('values.yaml')));
const schema = treeOf(JSON.parse(read('values.schema.json')));
const templates = readdirSync(path.join(CHART, 'templates')).map((file) => read(`templates/${file}`));
const examples = readdirSync(path.join(CHART, 'ci'));

/** Returns the paths of all properties. All items of a list have the same path. */
function pathsOf(value: unknown, prefix = ''): readonly string[] {
  const items = Array.isArray(value) ? value : [value];
  return items
    .filter(isTree)
    .flatMap((tree) =>
      Object.entries(tree).flatMap(([name, each]) => [`${prefix}${name}`, ...pathsOf(each, `${prefix}${name}.`)]),
    );
}

/** Returns the paths of all properties of a schema, in the same form. */
function pathsOfSchema(node: unknown, prefix = ''): readonly string[] {
  const { $ref, items, properties } = treeOf(node);
  if (typeof $ref === 'string') {
    return pathsOfSchema(treeOf(schema['definitions'])[$ref.replace('#/definitions/', '')], prefix);
  }
  if (items !== undefined) return pathsOfSchema(items, prefix);
  return Object.entries(treeOf(properties)).flatMap(([name, each]) => [
    `${prefix}${name}`,
    ...pathsOfSchema(each, `${prefix}${name}.`),
  ]);
}

/** Merges values as Helm does: trees are merged, and anything else is replaced. */
function merged(base: Tree, changes: Tree): Tree {
  const changed = Object.entries(changes).map(([name, value]) => {
    const before = base[name];
    return [name, isTree(before) && isTree(value) ? merged(before, value) : value] as const;
  });
  return { ...base, ...Object.fromEntries(changed) };
}

/** The parts whose content Kubernetes defines. */
const FOREIGN = /(?:resources|nodeSelector|tolerations|podAnnotations|annotations|labels|to|monitoring|Clients)\./;
/** `global` is Helm's own, so `values.yaml` does not contain it. */
const NOT_IN_VALUES = /^global$/;

test('the schema of the values describes every value, and every value has a default', () => {
  const inValues = pathsOf(values).filter((each) => !FOREIGN.test(each));
  const inSchema = pathsOfSchema(schema).filter((each) => !FOREIGN.test(each) && !NOT_IN_VALUES.test(each));
  expect([...new Set(inValues)].sort()).toEqual([...new Set(inSchema)].sort());
});

test('the schema names what is missing from the default values, and accepts the examples', () => {
  const validate = new Ajv({ allErrors: true }).compile(schema);
  expect(validate(values)).toBe(false);
  expect([...new Set(validate.errors?.map(({ instancePath }) => instancePath))].sort()).toEqual([
    '/companyData/apiKey/secretName',
    '/database/secretName',
    '/keys/master/secretName',
    '/keys/payload/secretName',
    '/temporal/address',
    '/temporal/namespace',
  ]);
  for (const example of examples) {
    validate(merged(values, treeOf(parse(read(`ci/${example}`)))));
    expect({ example, errors: validate.errors ?? [] }).toEqual({ example, errors: [] });
  }
});

/** Returns the text of all sources in a folder, without those in its subfolders. */
const sourcesIn = (folder: string): string =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(path.join(ROOT, folder, file), 'utf8'))
    .join('\n');

/** The names of the variables that the templates set. */
const variables = templates.flatMap((text) =>
  [...text.matchAll(/(?:- name: |"tokenferry\.secretEnv" \(list ")([A-Z][A-Z_]+)\b/g)].map(([, name = '']) => name),
);
/** Temporal's own library reads these variables. */
const isReadByTemporal = (name: string): boolean => /^TEMPORAL_(?:API_KEY|TLS)/.test(name);

test('docs/configuration.md describes every variable that the templates set, and a program reads it', () => {
  const documented = readFileSync(path.join(ROOT, 'docs/configuration.md'), 'utf8');
  expect(variables.length).toBeGreaterThan(10);
  const describes = (name: string): boolean =>
    documented.includes(`\`${name}\``) || (name.startsWith('TEMPORAL_TLS') && documented.includes('`TEMPORAL_TLS_*`'));
  expect(variables.filter((name) => !describes(name))).toEqual([]);
  const sources = ['config', 'worker', 'observability'].map(sourcesIn).join('\n');
  expect(variables.filter((name) => !isReadByTemporal(name) && !sources.includes(`'${name}'`))).toEqual([]);
});

test('every file that a variable names is mounted from a Secret, under that name', () => {
  const text = templates.join('\n');
  const named = [...text.matchAll(/value: (\/etc\/tokenferry\/\S+)/g)].map(([, file = '']) => file);
  expect(named.length).toBeGreaterThan(5);
  const files = [...text.matchAll(/"tokenferry\.fileVolume" \(list "([a-z-]+)" \S+ "([a-z.]+)"\)/g)];
  const inSecrets = files.map(([, volume, file]) => `${String(volume)}/${String(file)}`);
  // A Secret of the type kubernetes.io/tls has these two files.
  inSecrets.push('temporal/tls.crt', 'temporal/tls.key');
  const mounts = [...text.matchAll(/name: ([a-z-]+), mountPath: (\/etc\/[a-z/-]+), readOnly: true/g)];
  const mounted = inSecrets.flatMap((each) =>
    mounts
      .filter(([, volume]) => each.startsWith(`${String(volume)}/`))
      .map(([, , folder]) => path.join(String(folder), path.basename(each))),
  );
  expect(named.filter((file) => !mounted.includes(file))).toEqual([]);
  expect(mounted.filter((file) => !named.includes(file))).toEqual([]);
});

test.each(['service', 'codec-server'])('the %s accepts the options that its container has', (name) => {
  const options = [...read(`templates/${name}.yaml`).matchAll(/ - --([a-z-]+)=/g)].map(([, option]) => option);
  expect(options.length).toBeGreaterThan(2);
  const source = readFileSync(path.join(ROOT, `stack/processes/${name}.ts`), 'utf8');
  const accepted = [...source.matchAll(/^ {2}'?([a-z-]+)'?: \{ type: /gm)].map(([, option]) => option);
  expect(options.filter((option) => !accepted.includes(option))).toEqual([]);
});

test('the portal accepts the options that its container has, and has no secrets of other processes', () => {
  const template = read('templates/portal.yaml');
  const options = [...template.matchAll(/ - (--[a-z-]+)/g)].map(([, option]) => String(option));
  expect(options.length).toBeGreaterThan(3);
  const source = readFileSync(path.join(ROOT, 'cli/commands/operate/portal.ts'), 'utf8');
  expect(options.filter((option) => !source.includes(`'${option} <`) && !source.includes(`'${option}'`))).toEqual([]);
  expect(template).not.toMatch(/secretEnv|fileVolume|Values\.keys|temporalEnv/);
});

test('the chart uses the images and the user of the Dockerfile', () => {
  const dockerfile = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8');
  const images = templates.flatMap((text) =>
    [...text.matchAll(/"tokenferry\.image" \(list \S+ "([a-z-]+)"/g)].map(([, name]) => name),
  );
  expect([...new Set(images)].sort()).toEqual(['cli', 'codec-server', 'service', 'worker']);
  for (const image of images) expect(dockerfile).toContain(`FROM base AS ${String(image)}\n`);
  const { runAsUser, runAsGroup } = treeOf(values['securityContext']);
  expect(dockerfile).toContain(`USER ${String(runAsUser)}:${String(runAsGroup)}\n`);
});

test('the chart agrees with the program: version, task queue and time to stop', () => {
  const { version } = treeOf(JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')));
  expect(parse(read('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  expect(templates.join('\n')).toContain(`taskQueue: ${TASK_QUEUE}\n`);
  const { terminationGracePeriodSeconds } = treeOf(values['worker']);
  const deploying = readFileSync(path.join(ROOT, 'docs/deploying.md'), 'utf8');
  expect(deploying).toContain(`give it ${String(terminationGracePeriodSeconds)} seconds`);
});

const hasHelm = spawnSync('helm', ['version']).status === 0;
if (!hasHelm) console.warn('helm is not installed, so the chart is not rendered');

/** Returns the output of `helm template`, or its error. */
const render = (values: string, ...settings: string[]) =>
  spawnSync(
    'helm',
    [
      ...['template', 'acme', CHART, '--kube-version', '1.34.0', '--values', path.join(CHART, 'ci', values)],
      ...settings.flatMap((setting) => ['--set', setting]),
    ],
    { encoding: 'utf8' },
  );

(hasHelm ? test.each(examples) : test.skip.each(examples))(
  'every container of %s runs without privileges',
  (example) => {
    const { stdout: rendered, stderr } = render(example);
    expect(stderr).toBe('');
    const objects = parseAllDocuments(rendered).map((document) => treeOf(document.toJS()));
    const pods = objects
      .map(({ kind, spec }) => ({ kind, pod: treeOf(treeOf(treeOf(spec)['template'])['spec']) }))
      .filter(({ pod }) => 'containers' in pod);
    expect(pods.map(({ kind }) => kind)).toContain('Job');
    for (const { pod } of pods) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
        containers: [
          {
            securityContext: {
              allowPrivilegeEscalation: false,
              readOnlyRootFilesystem: true,
              capabilities: { drop: ['ALL'] },
            },
          },
        ],
      });
    }
  },
);

(hasHelm ? test : test.skip)('autoscaling is refused if KEDA cannot use TLS', () => {
  const { stderr } = render('cloud-values.yaml', 'temporal.apiKey.secretName=', 'temporal.tls.enabled=true');
  expect(stderr).toContain('KEDA uses TLS only with temporal.apiKey or temporal.tls.clientCertificate');
});
