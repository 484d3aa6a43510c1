/** The import rules: which folder may import which. docs/architecture.md explains them. */
const FOLDERS = [
  ...['platforms', 'domain', 'presentation', 'workflows', 'activities', 'store', 'security', 'config', 'postgres'],
  ...[
    'company-data-client',
    'company-data-service',
    'observability',
    'worker',
    'portal',
    'client',
    'cli',
    'stack',
    'scripts',
    'bench',
    'chaos',
    'test',
  ],
];

/**
 * Returns the rules for a folder: it may import itself, `allowed`, and types from `typesOf`. All
 * three are path prefixes.
 */
const only = (folder, allowed, { among = FOLDERS, typesOf = [] } = {}) => {
  const rule = (name, mayImport, typesToo) => ({
    name,
    severity: 'error',
    comment: `${folder} may import only itself, ${mayImport.join(', ') || 'nothing else'}`,
    from: { path: `^${folder}/` },
    to: {
      path: `^(${among.join('|')})/`,
      pathNot: [folder, ...mayImport].map((prefix) => `^${prefix}(/|\\.ts$|$)`),
      ...(typesToo ? { dependencyTypesNot: ['type-only'] } : {}),
    },
  });
  const strict = rule(`${folder}-imports`, [...allowed, ...typesOf], false);
  return typesOf.length === 0 ? [strict] : [strict, rule(`${folder}-imports-types`, allowed, true)];
};

/** Returns the rules for one group of a folder: which other groups of that folder it may import. */
const onlyWithin = (folder, group, allowed) =>
  only(
    `${folder}/${group}`,
    allowed.map((other) => `${folder}/${other}`),
    { among: [folder] },
  );

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    ...only('platforms', []),
    ...only('domain', ['platforms']),
    ...onlyWithin('domain', 'text', []),
    ...onlyWithin('domain', 'companies', ['text']),
    ...onlyWithin('domain', 'planning', ['text']),
    ...onlyWithin('domain', 'migration', ['planning', 'companies', 'text']),
    ...onlyWithin('domain', 'decisions', ['migration', 'planning', 'companies', 'text']),
    ...onlyWithin('domain', 'preflight', ['migration', 'planning', 'companies', 'text']),
    ...onlyWithin('domain', 'supply', ['preflight', 'companies', 'text']),
    ...onlyWithin('domain', 'progress', ['decisions', 'preflight', 'migration', 'planning', 'companies', 'text']),
    ...only('presentation', ['domain', 'platforms'], { typesOf: ['store', 'portal/contract'] }),
    // The portal is reachable from the internet: it has no vault, no Temporal and no client of the service.
    ...only('portal', [
      'domain',
      'platforms',
      'postgres',
      'config',
      'observability',
      'presentation/wording',
      'security',
    ]),
    // The page runs in browsers.
    ...only('portal/page', ['domain', 'platforms', 'portal/client', 'portal/contract', 'presentation/wording']),
    // The page and `ferry --portal` share this code.
    ...only('portal/client', ['domain', 'platforms', 'portal/contract', 'presentation/wording']),
    ...only('workflows', ['presentation', 'domain', 'platforms'], { typesOf: ['activities'] }),
    ...only('security', ['domain', 'platforms']),
    ...only('postgres', []),
    ...only('store', ['domain', 'platforms', 'security', 'postgres']),
    ...only('company-data-client', ['domain', 'platforms', 'security']),
    ...only('company-data-service', ['platforms', 'postgres']),
    ...only('config', ['domain', 'platforms', 'security']),
    ...only('activities', ['domain', 'platforms', 'workflows/messages', 'company-data-client', 'store', 'security']),
    ...only('observability', ['domain', 'security']),
    ...only('worker', [
      ...['domain', 'platforms', 'workflows', 'activities', 'company-data-client', 'store', 'security', 'config'],
      ...['observability', 'client', 'presentation', 'portal/contract'],
    ]),
    ...only('client', [
      ...['presentation', 'domain', 'platforms', 'workflows/messages', 'store', 'security', 'config'],
      'observability/tracing',
    ]),
    ...only('stack', [
      ...['company-data-service', 'workflows/messages', 'security', 'config', 'domain', 'platforms'],
      ...['observability', 'portal'],
    ]),
    ...only('cli', [
      ...['client', 'stack', 'presentation', 'domain', 'platforms', 'store', 'company-data-client', 'security'],
      ...['config', 'workflows/messages', 'observability/tracing', 'portal'],
    ]),
    ...only('scripts', [
      ...['cli', 'client', 'stack', 'company-data-client', 'company-data-service', 'security', 'config', 'domain'],
      'platforms',
    ]),
    ...only('bench', [
      ...['client', 'cli/(manifest|terminal)', 'stack', 'worker', 'company-data-client', 'store', 'security', 'config'],
      ...['domain', 'platforms', 'portal/server'],
    ]),
    {
      name: 'the-job-of-the-comparisons-shares-no-code-with-the-product',
      severity: 'error',
      comment: 'A limit of the product would otherwise be a limit of everything that it is compared with.',
      from: { path: '^bench/processes/(job|script-process|stand-in-bodies|stand-in-process)[.]ts$' },
      to: {
        path: `^(${FOLDERS.join('|')})/`,
        pathNot: '^bench/(companies|processes/(child-process|job|mover|stand-in|stand-in-bodies|usage))[.]ts$',
      },
    },
    ...only('chaos', [
      ...['client', 'cli', 'stack', 'worker', 'company-data-client', 'store', 'security', 'config', 'domain'],
      ...['platforms', 'workflows/messages'],
    ]),
    // The checker shares no code with the product, so that it cannot repeat a mistake of the
    // product.
    ...only('chaos/checker', []),
    {
      name: 'product-never-imports-scripts',
      severity: 'error',
      from: { pathNot: '^(scripts|test)/' },
      to: { path: '^scripts/' },
    },
    {
      name: 'workflows-run-without-node',
      severity: 'error',
      comment:
        'Workflow code is bundled for a sandbox, so it may import only @temporalio/workflow, our own pure code, types, and @noble packages.',
      from: { path: '^(workflows|presentation|domain|platforms)/' },
      to: {
        dependencyTypes: ['core', 'npm'],
        pathNot: '@temporalio/(workflow|common)|@noble/(hashes|curves)',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules|coverage|stack/temporal/cli-module|bench/peers)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
