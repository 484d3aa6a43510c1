/** Reading what a connection says about a credential. */
import { isAccepted } from '../../../activities/companies/service-refs';
import type { Connection } from '../../../company-data-client';

type ConnectionError = Connection['dataConnectionErrors'][number];

const connectionWith = (...errors: readonly ConnectionError[]): Connection => ({
  id: '0e5a3a5c-3a3f-4c5f-9a55-0a4c1c1f7d11',
  integrationKey: 'qhyg',
  platformName: 'QuickBooks Online',
  linkUrl: undefined,
  status: 'Linked',
  created: undefined,
  lastSync: undefined,
  connectionInfo: undefined,
  dataConnectionErrors: [...errors],
});

const errorWith = (changes: Partial<ConnectionError>): ConnectionError => ({
  statusCode: '401',
  statusText: 'GrantRefused',
  errorMessage: 'the refresh token was revoked',
  erroredOnUtc: undefined,
  status: 'Active',
  ...changes,
});

describe.each([
  ['with a time', { erroredOnUtc: '2026-03-02T09:00:00.000Z' }, { erroredOnUtc: '2026-03-02T10:00:00.000Z' }],
  ['without a time', { errorMessage: 'the token has expired' }, {}],
])('a connection that an older credential has linked, and errors %s', (_, earlier, later) => {
  const [old, added] = [errorWith(earlier), errorWith(later)];
  const resolved = errorWith({ ...earlier, status: 'Resolved' });

  test('a new error means that the credential was refused', () => {
    expect(isAccepted(connectionWith(), connectionWith(added))).toBe(false);
    expect(isAccepted(connectionWith(old), connectionWith(resolved, added))).toBe(false);
    expect(isAccepted(connectionWith(old), connectionWith(old, added))).toBe(false);
  });

  test('no error, or an error from before, means that the credential was accepted', () => {
    expect(isAccepted(connectionWith(old), connectionWith(resolved))).toBe(true);
    expect(isAccepted(connectionWith(old), connectionWith(old))).toBe(true);
  });

  test('an older error that remains does not hide what happened to another one', () => {
    const other = errorWith({ statusText: 'PlatformUnavailable', erroredOnUtc: '2026-03-01T09:00:00.000Z' });
    const resolvedOther = { ...other, status: 'Resolved' };
    expect(isAccepted(connectionWith(old, other), connectionWith(old, resolvedOther))).toBe(true);
    expect(isAccepted(connectionWith(old, other), connectionWith(old))).toBe(true);
    expect(isAccepted(connectionWith(old, other), connectionWith(other, resolved))).toBe(true);
    expect(isAccepted(connectionWith(old, other), connectionWith(old, added, resolvedOther))).toBe(false);
    expect(isAccepted(connectionWith(old, other), connectionWith(added, old))).toBe(false);
    expect(isAccepted(connectionWith(old, resolvedOther), connectionWith(old, other))).toBe(false);
  });

  test('a second, identical error means that the credential was refused', () => {
    expect(isAccepted(connectionWith(old), connectionWith(old, old))).toBe(false);
  });
});
