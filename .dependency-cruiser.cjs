/** The arrows of the house: which folder may know which. See "The house" in CONTRIBUTING.md. */
const only = (folder, allowed, typesOf = []) => ({
  name: `${folder}-knows-only`,
  severity: 'error',
  comment: `${folder}/ may import only itself, ${allowed.join(', ') || 'nothing else'}`,
  from: { path: `^${folder}/` },
  to: {
    path: '^(domain|workflows|activities|company-data-client|company-data-service|store|postgres|security|config|worker|client|dev|bench|test)/',
    pathNot: [folder, ...allowed].map((name) => `^${name}(/|\\.ts$|$)`),
    ...(typesOf.length > 0 ? { dependencyTypesNot: ['type-only'] } : {}),
  },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    only('domain', []),
    only('workflows', ['domain'], ['activities']),
    only('security', ['domain']),
    only('postgres', []),
    only('store', ['domain', 'security', 'postgres']),
    only('company-data-client', ['domain', 'security']),
    only('company-data-service', ['domain', 'postgres']),
    only('config', ['domain', 'security']),
    only('activities', ['domain', 'workflows/messages', 'company-data-client', 'store', 'security']),
    only('worker', ['domain', 'workflows', 'activities', 'company-data-client', 'store', 'security', 'config']),
    only('client', ['domain', 'workflows/messages', 'company-data-client', 'store', 'security', 'config', 'dev']),
    only('bench', [
      ...[
        'domain',
        'workflows/messages',
        'client/(ferry|manifest|screen)',
        'company-data-client',
        'company-data-service',
      ],
      ...['store', 'security', 'config', 'worker', 'dev'],
    ]),
    {
      name: 'workflows-run-without-node',
      severity: 'error',
      comment:
        'Workflow code is bundled for a sandbox: only @temporalio/workflow, domain, types, and hashes without Node.',
      from: { path: '^(workflows|domain)/' },
      to: {
        dependencyTypes: ['core', 'npm'],
        pathNot: '@temporalio/(workflow|common)|@noble/(hashes|curves)',
        dependencyTypesNot: ['type-only'],
      },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|node_modules|coverage|dev/temporal-cli)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
  },
};
