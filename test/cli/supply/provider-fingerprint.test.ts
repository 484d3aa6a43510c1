/**
 * Tests that `ferry seal` and `ferry --portal` can take the provider's fingerprint from the environment, but not from a
 * running stack. They compare it with the signer of a migration key.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { providerOf } from '../../../cli/commands/supply/seal';
import { loadConfig, writeRunningStack } from '../../../config';

const OF_THE_STACK = 'aaaa bbbb cccc dddd eeee ffff 0000 1111';
const OF_THE_PROVIDER = '1111 2222 3333 4444 5555 6666 7777 8888';

test('the fingerprint comes from the environment, never from a stack that the client runs in its home folder', () => {
  // On Linux, the default home folder of `ferry` is `$XDG_DATA_HOME/tokenferry`.
  const data = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const before = process.env['XDG_DATA_HOME'];
  process.env['XDG_DATA_HOME'] = data;
  try {
    const file = (name: string): string => path.join(data, name);
    writeRunningStack(path.join(data, 'tokenferry'), {
      pid: process.pid,
      temporal: { address: '127.0.0.1:7001', namespace: 'default' },
      databaseUrl: 'postgres://stack/tokenferry',
      service: { url: 'http://127.0.0.1:7002', apiKey: 'key' },
      ...{ masterKeyFile: file('master.key'), payloadKeyFile: file('payload.key'), vaultSecretsFolder: file('vault') },
      providerFingerprint: OF_THE_STACK,
    });
    // Proves that the file of the stack can be found: without variables, `loadConfig` takes the fingerprint from it.
    if (process.platform === 'linux')
      expect(loadConfig([], {}, ['providerFingerprint']).providerFingerprint).toBe(OF_THE_STACK);
    expect(providerOf({})).toBeUndefined();
    expect(providerOf({ TOKENFERRY_PROVIDER_FINGERPRINT: '' })).toBeUndefined();
    expect(providerOf({ TOKENFERRY_PROVIDER_FINGERPRINT: OF_THE_PROVIDER })).toBe(OF_THE_PROVIDER);
  } finally {
    if (before === undefined) delete process.env['XDG_DATA_HOME'];
    else process.env['XDG_DATA_HOME'] = before;
    rmSync(data, { recursive: true, force: true });
  }
});
