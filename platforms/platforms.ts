/**
 * The platforms that companies come from: one entry each, as data.
 *
 * Read by the service's validation, by the orchestrator's preflight and by the documentation, so that a field is named
 * once. Routes, fields and rotation are those of the Company Data Service's contract.
 */

/** How a platform treats the old refresh token when it hands out a new one. */
export type TokenRotation =
  /** Every refresh gives a new refresh token; the old one is dead. */
  | 'each-refresh'
  /** About once a day the refresh token changes; the old one is dead at once. */
  | 'daily'
  /** The refresh token stays as it is. */
  | 'kept'
  /** There is no refresh token. */
  | 'none';

/**
 * `managed`: the provider's solutions team moves the connections, in six steps; `self-service`: the client does it itself,
 * with a key of its own.
 */
export type Route = 'managed' | 'self-service';

/** Rows of one family must be moved one after the other, because their tokens end one another. */
export type TokenFamily = 'none' | 'user' | 'shop';

export interface Platform {
  /** Four letters: what the service's API calls the platform. */
  readonly key: string;
  /** What people type in `--platform`. */
  readonly slug: string;
  readonly name: string;
  readonly sourceType: 'Accounting' | 'Banking' | 'Commerce';
  readonly routes: readonly Route[];
  /** Fields of the authorization body that must be there. Every value is a string. */
  readonly requiredFields: readonly string[];
  readonly optionalFields: readonly string[];
  /** The field that names the company's organization at the platform; the manifest's organization column. */
  readonly organizationField: string;
  /** How the platform writes its organizations, where it says so: another one is worth a second look. */
  readonly organizationForm?: { readonly pattern: RegExp; readonly says: string };
  /** Where sandbox companies have a platform entry of their own: which environment this one is of. */
  readonly environment?: 'production' | 'sandbox';
  readonly rotation: TokenRotation;
  readonly family: TokenFamily;
}

const BOTH = ['managed', 'self-service'] as const;
const MANAGED = ['managed'] as const;
const SELF_SERVICE = ['self-service'] as const;

type Entry = Omit<Platform, 'optionalFields' | 'family'> & Partial<Pick<Platform, 'optionalFields' | 'family'>>;

const platform = (entry: Entry): Platform => ({ optionalFields: [], family: 'none', ...entry });

/** An accounting platform of the self-service route whose tokens are an OAuth pair and one organization id. */
const accounting = (key: string, slug: string, name: string, organizationField: string): Platform =>
  platform({
    key,
    slug,
    name,
    sourceType: 'Accounting',
    routes: SELF_SERVICE,
    requiredFields: ['accessToken', 'refreshToken', organizationField],
    organizationField,
    rotation: 'each-refresh',
  });

/** A shop, payments or bank platform of the self-service route: one long-lived access token and an account. */
const accessOnly = (
  sourceType: 'Banking' | 'Commerce',
  key: string,
  slug: string,
  name: string,
  organizationField: string,
): Platform =>
  platform({
    key,
    slug,
    name,
    sourceType,
    routes: SELF_SERVICE,
    requiredFields: ['accessToken', organizationField],
    organizationField,
    rotation: 'none',
  });

const DIGITS = { pattern: /^\d+$/, says: 'they are digits alone' };

const quickBooks = {
  sourceType: 'Accounting',
  routes: MANAGED,
  requiredFields: ['accessToken', 'refreshToken', 'realmId'],
  organizationField: 'realmId',
  organizationForm: DIGITS,
  rotation: 'daily',
} as const;

export const PLATFORMS: readonly Platform[] = [
  platform({
    key: 'fbrh',
    slug: 'freeagent',
    name: 'FreeAgent',
    sourceType: 'Accounting',
    routes: BOTH,
    requiredFields: ['accessToken', 'refreshToken'],
    organizationField: 'organizationId',
    rotation: 'each-refresh',
  }),
  platform({
    key: 'vxvy',
    slug: 'freshbooks',
    name: 'FreshBooks',
    sourceType: 'Accounting',
    routes: MANAGED,
    requiredFields: ['accessToken', 'refreshToken', 'accountId', 'businessId'],
    organizationField: 'businessId',
    rotation: 'each-refresh',
  }),
  platform({
    key: 'qhyg',
    slug: 'quickbooks-online',
    name: 'QuickBooks Online',
    environment: 'production',
    ...quickBooks,
  }),
  platform({
    key: 'ndsk',
    slug: 'quickbooks-online-sandbox',
    name: 'QuickBooks Online Sandbox',
    environment: 'sandbox',
    ...quickBooks,
  }),
  platform({
    key: 'fztf',
    slug: 'shopify',
    name: 'Shopify',
    sourceType: 'Commerce',
    routes: MANAGED,
    requiredFields: ['accessToken', 'shop'],
    optionalFields: ['refreshToken'],
    organizationField: 'shop',
    organizationForm: { pattern: /^[a-z0-9][a-z0-9-]*\.myshopify\.com$/i, says: 'they end in .myshopify.com' },
    rotation: 'each-refresh',
    family: 'shop',
  }),
  platform({
    key: 'pbtz',
    slug: 'wave',
    name: 'Wave',
    sourceType: 'Accounting',
    routes: BOTH,
    requiredFields: ['accessToken', 'businessId'],
    optionalFields: ['refreshToken'],
    organizationField: 'businessId',
    rotation: 'each-refresh',
  }),
  platform({
    key: 'rwuv',
    slug: 'zoho-books',
    name: 'Zoho Books',
    sourceType: 'Accounting',
    routes: MANAGED,
    requiredFields: ['accessToken', 'refreshToken', 'organizationId', 'region'],
    organizationField: 'organizationId',
    organizationForm: DIGITS,
    rotation: 'kept',
    family: 'user',
  }),
  platform({
    key: 'gbol',
    slug: 'xero',
    name: 'Xero',
    sourceType: 'Accounting',
    routes: SELF_SERVICE,
    requiredFields: ['accessToken', 'refreshToken', 'tenantId'],
    organizationField: 'tenantId',
    rotation: 'each-refresh',
    family: 'user',
  }),
  accounting('trji', 'dynamics-365', 'Dynamics 365 Business Central', 'companyId'),
  accounting('qudb', 'exact-online-nl', 'Exact Online NL', 'division'),
  accounting('pbbf', 'exact-online-uk', 'Exact Online UK', 'division'),
  accounting('pdvj', 'myob', 'MYOB', 'companyFileId'),
  accounting('akxx', 'netsuite', 'NetSuite', 'accountId'),
  accounting('jcrp', 'sage-200', 'Sage 200', 'companyId'),
  accounting('tgff', 'sage-accounting', 'Sage Accounting', 'businessId'),
  accounting('knfz', 'sage-intacct', 'Sage Intacct', 'companyId'),
  accounting('mqjo', 'sandbox', 'Sandbox', 'companyId'),
  accessOnly('Commerce', 'qkdj', 'amazon', 'Amazon', 'merchantId'),
  accessOnly('Commerce', 'vqzp', 'bigcommerce', 'BigCommerce', 'storeUrl'),
  accessOnly('Commerce', 'fqly', 'clover', 'Clover', 'merchantId'),
  accessOnly('Commerce', 'lqai', 'partner-commerce', 'Partner Commerce', 'merchantId'),
  accessOnly('Commerce', 'zsth', 'square', 'Square', 'merchantId'),
  accessOnly('Commerce', 'exgd', 'stripe', 'Stripe', 'accountId'),
  accessOnly('Commerce', 'ltpp', 'woocommerce', 'WooCommerce', 'storeUrl'),
  accessOnly('Commerce', 'ugxp', 'zettle', 'Zettle', 'merchantId'),
  accessOnly('Banking', 'suuo', 'plaid', 'Plaid', 'itemId'),
  accessOnly('Banking', 'upvr', 'truelayer', 'TrueLayer', 'accountId'),
];

/** Finds a platform by its key (`qhyg`) or by the word people type (`quickbooks-online`). */
export function findPlatform(keyOrSlug: string): Platform | undefined {
  const wanted = keyOrSlug.toLowerCase();
  return PLATFORMS.find(({ key, slug }) => key === wanted || slug === wanted);
}

/** Whether a refresh at the platform ends the old refresh token, so that only one application may hold it. */
export function isRotating(platform: Platform): boolean {
  return platform.rotation === 'each-refresh' || platform.rotation === 'daily';
}
