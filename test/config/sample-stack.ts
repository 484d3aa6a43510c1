/** A running stack, for the tests of the configuration. */
import path from 'node:path';
import type { RunningStack } from '../../config';

/** Returns the record of a stack that runs in this process and has key files in `home`. Does not create these files. */
export function sampleStack(home: string): RunningStack {
  return {
    pid: process.pid,
    temporal: { address: '127.0.0.1:7001', namespace: 'default' },
    databaseUrl: 'postgres://stack/tokenferry',
    service: { url: 'http://127.0.0.1:7002', apiKey: 'key of the stack' },
    masterKeyFile: path.join(home, 'master.key'),
    vaultSecretsFolder: path.join(home, 'vault-secrets'),
    payloadKeyFile: path.join(home, 'payload.key'),
  };
}
