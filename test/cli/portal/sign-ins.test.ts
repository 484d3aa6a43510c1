/** Tests how sign-ins are stored. */
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { deleteSignIn, writeSignIn } from '../../../cli/portal/sign-ins';
import { Secret } from '../../../security';
import { createTemporaryFolder } from '../../../stack/folders';

test('a failed write leaves no file with the private key, and can be repeated', () => {
  const env = { TOKENFERRY_HOME: createTemporaryFolder() };
  const portal = { portal: 'https://portal', migrationId: 'acme.xero', person: 'Cleo', role: 'client' } as const;
  const signIn = { ...portal, provider: null, signingKey: new Secret('key'), token: new Secret('token') };
  const file = writeSignIn(env, signIn);
  deleteSignIn(env, signIn);
  mkdirSync(file);
  expect(() => writeSignIn(env, signIn)).toThrow('EISDIR');
  expect(readdirSync(path.dirname(file))).toEqual([path.basename(file)]);
  rmSync(file, { recursive: true });
  expect(writeSignIn(env, signIn)).toBe(file);
});
