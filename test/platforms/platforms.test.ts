import { findPlatform, isRotating, PLATFORMS } from '../../platforms/platforms';

/** The keys of the platforms that the service's specification lists for each route. */
const MANAGED = ['fbrh', 'vxvy', 'qhyg', 'fztf', 'pbtz', 'rwuv'];
const MANAGED_SANDBOX = 'ndsk';
const SELF_SERVICE =
  'gbol trji qudb pbbf pdvj akxx jcrp tgff knfz mqjo qkdj vqzp fqly lqai zsth exgd ltpp ugxp suuo upvr fbrh pbtz'.split(
    ' ',
  );

const keysOf = (route: 'managed' | 'self-service') =>
  PLATFORMS.filter(({ routes }) => routes.includes(route)).map(({ key }) => key);

test('six platforms have the managed route, one of them with a separate sandbox entry', () => {
  expect(keysOf('managed').sort()).toEqual([...MANAGED, MANAGED_SANDBOX].sort());
});

test('the self-service route includes exactly the platforms that the specification lists', () => {
  expect(keysOf('self-service').sort()).toEqual([...SELF_SERVICE].sort());
});

test('keys have four letters, and keys and slugs are unique', () => {
  for (const { key } of PLATFORMS) expect(key).toMatch(/^[a-z]{4}$/);
  const words = PLATFORMS.flatMap(({ key, slug }) => [key, slug]);
  expect(new Set(words).size).toBe(words.length);
});

test.each(PLATFORMS.map((platform) => [platform.name, platform] as const))(
  '%s lists each field once, and lists refreshToken only if its tokens can be refreshed',
  (_, { requiredFields, optionalFields, rotation }) => {
    const fields = [...requiredFields, ...optionalFields];
    expect(new Set(fields).size).toBe(fields.length);
    expect(fields).toContain('accessToken');
    expect(fields.includes('refreshToken')).toBe(rotation !== 'none');
  },
);

test.each([
  ['qhyg', true],
  ['ndsk', true],
  ['fbrh', true],
  ['vxvy', true],
  ['fztf', true],
  ['pbtz', true],
  ['gbol', true],
  ['rwuv', false],
  ['exgd', false],
])('a refresh at %s invalidates the old refresh token: %s', (key, rotating) => {
  const platform = findPlatform(key);
  expect(platform && isRotating(platform)).toBe(rotating);
});

test('token families are per user at Zoho Books and Xero, and per shop at Shopify', () => {
  const families = Object.fromEntries(
    PLATFORMS.filter(({ family }) => family !== 'none').map(({ key, family }) => [key, family]),
  );
  expect(families).toEqual({ rwuv: 'user', gbol: 'user', fztf: 'shop' });
});

test('a platform is found by its key or slug, ignoring case', () => {
  expect(findPlatform('qhyg')?.name).toBe('QuickBooks Online');
  expect(findPlatform('QuickBooks-Online')?.key).toBe('qhyg');
  expect(findPlatform('quickbooks')).toBeUndefined();
});
