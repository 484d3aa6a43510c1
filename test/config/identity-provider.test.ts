/** Tests the configuration of the portal's identity provider. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { loadConfig } from '../../config';
import { problemsOf } from './problems';

describe('the identity provider of the portal', () => {
  let home: string;
  beforeEach(() => {
    home = mkdtempSync(path.join(tmpdir(), 'tokenferry-config-'));
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const OPENID = { TOKENFERRY_OPENID_ISSUER: 'https://identity.example', TOKENFERRY_OPENID_CLIENT_ID: 'portal' };
  const read = (variables: NodeJS.ProcessEnv) =>
    loadConfig([], { TOKENFERRY_HOME: home, ...variables }, ['openId', 'openIdSecret'] as const);

  test('is read from variables, and its secret also from a file', () => {
    expect(read({})).not.toHaveProperty('openId');
    expect(read(OPENID).openId).toEqual({ issuer: 'https://identity.example', clientId: 'portal' });
    expect(read(OPENID)).not.toHaveProperty('openIdSecret');
    const file = path.join(home, 'secret');
    writeFileSync(file, 'a secret\n');
    expect(read({ ...OPENID, TOKENFERRY_OPENID_CLIENT_SECRET_FILE: file }).openIdSecret?.reveal()).toBe('a secret');
    expect(read({ ...OPENID, TOKENFERRY_OPENID_ISSUER: 'http://127.0.0.1:9000' }).openId?.clientId).toBe('portal');
  });

  test.each<[NodeJS.ProcessEnv, string]>([
    [{ ...OPENID, TOKENFERRY_OPENID_CLIENT_ID: '' }, 'TOKENFERRY_OPENID_CLIENT_ID is not. Set both or neither.'],
    [{ ...OPENID, TOKENFERRY_OPENID_ISSUER: '' }, 'TOKENFERRY_OPENID_ISSUER is not. Set both or neither.'],
    [
      { ...OPENID, TOKENFERRY_OPENID_ISSUER: 'http://identity.example' },
      'TOKENFERRY_OPENID_ISSUER must begin with https:',
    ],
    [{ ...OPENID, TOKENFERRY_OPENID_ISSUER: 'identity' }, 'TOKENFERRY_OPENID_ISSUER must be an address'],
    [
      { ...OPENID, TOKENFERRY_OPENID_CLIENT_ID: 'x'.repeat(501) },
      'TOKENFERRY_OPENID_CLIENT_ID must have at most 500 characters.',
    ],
  ])('%j is refused', (variables, message) => {
    expect(() => read(variables)).toThrow(message);
  });

  test('an https address without a valid host is not said to need https', () => {
    expect(problemsOf(() => read({ ...OPENID, TOKENFERRY_OPENID_ISSUER: 'https://:80' }))).toEqual([
      'TOKENFERRY_OPENID_ISSUER must have a valid host and port.',
    ]);
  });
});
