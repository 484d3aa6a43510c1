/** The addresses at which the portal may listen, and its public URL. */
import { assertSafeAddress } from '../../portal/server/address';

const LOCAL = { host: '127.0.0.1', publicUrl: undefined, hasTls: false, behindProxy: false };

test.each([
  ['HTTP for other machines', { host: '0.0.0.0' }, /^to serve HTTPS, use --certificate/],
  ['a proxy without a public URL', { behindProxy: true }, /^set TOKENFERRY_PORTAL_URL to the address/],
  [
    'a public URL with HTTP',
    { publicUrl: 'http://portal.example.com' },
    /^set TOKENFERRY_PORTAL_URL .*; to serve HTTPS/,
  ],
  ['a public URL with a path', { publicUrl: 'https://example.com/portal' }, /^give the portal its own host name/],
])('%s is refused, with advice for this cause', (_what, address, advice) => {
  expect(() => assertSafeAddress({ ...LOCAL, ...address })).toThrow(
    expect.objectContaining({ name: 'UnsafeAddress', advice: expect.stringMatching(advice) as string }) as Error,
  );
});

test.each([
  LOCAL,
  { ...LOCAL, host: '0.0.0.0', hasTls: true },
  { ...LOCAL, host: '0.0.0.0', behindProxy: true, publicUrl: 'https://portal.example.com' },
])('accepts %j', (address) => {
  expect(() => assertSafeAddress(address)).not.toThrow();
});
