/**
 * Runs a service in a separate process that tests can kill: `node service-process.js <database URL>` prints its URL.
 */
const { readFileSync } = require('node:fs');
const { transformSync } = require('@swc/core');

const jsc = { parser: { syntax: 'typescript' }, target: 'es2023' };
require.extensions['.ts'] = (module, file) => {
  const { code } = transformSync(readFileSync(file, 'utf8'), {
    filename: file,
    swcrc: false,
    jsc,
    module: { type: 'commonjs' },
  });
  module._compile(code, file);
};

const { startService } = require('../../company-data-service/index.ts');
const { SERVICE_CIPHER } = require('../support/servers/keys.ts');

const pace = { syncBaseMs: 100, syncMsPerRecord: 2, requestsPerMinute: 100_000 };
void startService({ databaseUrl: process.argv[2], cipher: SERVICE_CIPHER, ...pace }).then(({ url }) =>
  console.log(url),
);
