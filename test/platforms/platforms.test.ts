import { findPlatform, isRotating, PLATFORMS } from '../../platforms/platforms';

/** The keys of the service's contract. */
const MANAGED = ['fbrh', 'vxvy', 'qhyg', 'fztf', 'pbtz', 'rwuv'];
const MANAGED_SANDBOX = 'ndsk';
const SELF_SERVICE =
  'gbol trji qudb pbbf pdvj akxx jcrp tgff knfz mqjo qkdj vqzp fqly lqai zsth exgd ltpp ugxp suuo upvr fbrh pbtz'.split(
    ' ',
  );

const keysOf = (route: 'managed' | 'self-service') =>
  PLATFORMS.filter(({ routes }) => routes.includes(route)).map(({ key }) => key);

test('six platforms have the managed route, one of them with a sandbox environment of its own key', () => {
  expect(keysOf('managed').sort()).toEqual([...MANAGED, MANAGED_SANDBOX].sort());
});

test('over twenty have the self-service route', () => {
  expect(keysOf('self-service').sort()).toEqual([...SELF_SERVICE].sort());
});

test('keys are four letters, and neither a key nor a slug is given twice', () => {
  for (const { key } of PLATFORMS) expect(key).toMatch(/^[a-z]{4}$/);
  const words = PLATFORMS.flatMap(({ key, slug }) => [key, slug]);
  expect(new Set(words).size).toBe(words.length);
});

test.each(PLATFORMS.map((platform) => [platform.name, platform] as const))(
  '%s names its fields once, and a platform without refresh tokens asks for none',
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
])('a refresh at %s ends the old refresh token: %s', (key, rotating) => {
  const platform = findPlatform(key);
  expect(platform && isRotating(platform)).toBe(rotating);
});

test('tokens of one user end one another at Zoho Books and Xero, tokens of one shop at Shopify', () => {
  const families = Object.fromEntries(
    PLATFORMS.filter(({ family }) => family !== 'none').map(({ key, family }) => [key, family]),
  );
  expect(families).toEqual({ rwuv: 'user', gbol: 'user', fztf: 'shop' });
});

test('a platform is found by its key and by the word people type, in any case', () => {
  expect(findPlatform('qhyg')?.name).toBe('QuickBooks Online');
  expect(findPlatform('QuickBooks-Online')?.key).toBe('qhyg');
  expect(findPlatform('quickbooks')).toBeUndefined();
});
