/**
 * The platform table: one entry for each platform whose connections can be moved.
 *
 * The service's validation, the preflight, the commands and the tests of the documentation all read this table, so no
 * other product file lists the fields of a platform. Routes, fields and token rotation follow the
 * specification of the Company Data Service.
 */

/** How a refresh affects the refresh token. */
export type TokenRotation =
  /** Every refresh returns a new refresh token and invalidates the old one. */
  | 'each-refresh'
  /** About once a day, a refresh returns a new refresh token and immediately invalidates the old one. */
  | 'daily'
  /** The refresh token never changes. */
  | 'kept'
  /** There is no refresh token. */
  | 'none';

/**
 * `managed`: the provider's solutions team moves the connections in six steps. `self-service`: the client moves them
 * with its own API key.
 */
export type Route = 'managed' | 'self-service';

/**
 * Which companies belong to one token family: none, those of one user, or those of one shop. Companies of one family
 * move one at a time, because their tokens can invalidate one another.
 */
export type TokenFamily = 'none' | 'user' | 'shop';

export interface Platform {
  /** The platform's key in the service's API. Four letters. */
  readonly key: string;
  /** The value of `--platform`. */
  readonly slug: string;
  readonly name: string;
  readonly sourceType: 'Accounting' | 'Banking' | 'Commerce';
  readonly routes: readonly Route[];
  /** Required fields of the authorization body. Every value is a string. */
  readonly requiredFields: readonly string[];
  readonly optionalFields: readonly string[];
  /**
   * The manifest's column for the id of the company's organization. On most platforms, it is also a field of the
   * authorization body.
   */
  readonly organizationField: string;
  /** The documented format of the platform's organization ids. An id in any other format causes a warning. */
  readonly organizationForm?: { readonly pattern: RegExp; readonly description: string };
  /** Set only if production and sandbox companies have separate platform entries. */
  readonly environment?: 'production' | 'sandbox';
  readonly rotation: TokenRotation;
  readonly family: TokenFamily;
}

const BOTH = ['managed', 'self-service'] as const;
const MANAGED = ['managed'] as const;
const SELF_SERVICE = ['self-service'] as const;

type Entry = Omit<Platform, 'optionalFields' | 'family'> & Partial<Pick<Platform, 'optionalFields' | 'family'>>;

const platform = (entry: Entry): Platform => ({ optionalFields: [], family: 'none', ...entry });

/** Defines a self-service accounting platform with an access token, a refresh token and an organization id. */
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

/** Defines a self-service commerce or banking platform with one long-lived access token and an organization id. */
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

const DIGITS = { pattern: /^\d+$/, description: 'only digits' };

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
    organizationForm: {
      pattern: /^[a-z0-9][a-z0-9-]*\.myshopify\.com$/i,
      description: 'a domain like acme.myshopify.com, without https://',
    },
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

/** Finds a platform by its key (`qhyg`) or slug (`quickbooks-online`), ignoring case. */
export function findPlatform(keyOrSlug: string): Platform | undefined {
  const word = keyOrSlug.toLowerCase();
  return PLATFORMS.find(({ key, slug }) => key === word || slug === word);
}

/** Returns whether a refresh invalidates the old refresh token, so that client and service cannot share a token. */
export function isRotating(platform: Platform): boolean {
  return platform.rotation === 'each-refresh' || platform.rotation === 'daily';
}

/** Returns whether companies of the platform can have invoices. Banking platforms have none. */
export function hasInvoices({ sourceType }: Platform): boolean {
  return sourceType !== 'Banking';
}
