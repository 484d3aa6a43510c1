/** The companies of a chaos run. Most of them can be moved; a few cannot, for reasons that are known in advance. */
import { createHash } from 'node:crypto';
import type { ManifestRow } from '../../domain/companies/manifest';
import { findPlatform, type Platform } from '../../platforms/platforms';
import type { Random } from '../random';

export interface ChaosCompany {
  readonly row: ManifestRow;
  /** The body of the authorization request. */
  readonly credential: Readonly<Record<string, string>>;
  /** SHA-256 of the refresh token, in hexadecimal. The sandbox platforms store the same digest. */
  readonly tokenDigest: string;
}

/** Each invoice makes the sync of a company a little longer. */
const INVOICES = 2;
/** Keeps requests in flight for long enough that faults hit them. */
const PLATFORM_LATENCY_MS = 250;

/** The behaviours of a company's platform that differ from `GOOD`, with their shares. See docs/sandbox.md. */
const BEHAVIOURS = [
  { share: 0.03, behaviour: 'sbx-revoked', expectedInvoices: INVOICES },
  { share: 0.02, behaviour: `sbx-short-1-of-${INVOICES}`, expectedInvoices: INVOICES },
  { share: 0.03, behaviour: `sbx-unavailable-2-ok-${INVOICES}`, expectedInvoices: INVOICES },
] as const;
const GOOD = { behaviour: `sbx-slow-${PLATFORM_LATENCY_MS}-ok-${INVOICES}`, expectedInvoices: INVOICES } as const;

/**
 * Returns companies of one platform. The first one can always be moved.
 *
 * @param firstOrganization the id of the first organization; the others follow
 * @param random decides the behaviour of each company's platform; null: all companies can be moved
 */
export function companiesFor(
  platform: Platform,
  count: number,
  firstOrganization: number,
  random: Random | null,
): readonly ChaosCompany[] {
  return Array.from({ length: count }, (_, index) =>
    companyOf(
      platform,
      index + 1,
      String(firstOrganization + index),
      index === 0 || random === null ? GOOD : pickBehaviour(random),
    ),
  );
}

/** Returns one company, with the behaviour of its platform: see docs/sandbox.md. */
export function companyOf(
  platform: Platform,
  row: number,
  organization: string,
  {
    behaviour,
    expectedInvoices,
    wave = null,
  }: { readonly behaviour: string; readonly expectedInvoices: number; readonly wave?: number | null },
): ChaosCompany {
  const refreshToken = `${behaviour}.${organization}`;
  return {
    row: {
      ...{ row, reference: `R-${row}`, organization, expectedInvoices, wave, family: null },
      name: `Company ${organization}`,
    },
    credential: {
      ...Object.fromEntries(platform.requiredFields.map((field) => [field, 'any'])),
      ...{ refreshToken, [platform.organizationField]: organization },
    },
    tokenDigest: createHash('sha256').update(refreshToken).digest('hex'),
  };
}

function pickBehaviour(random: Random): Pick<(typeof BEHAVIOURS)[number], 'expectedInvoices'> & { behaviour: string } {
  let left = random.int(1_000_000) / 1_000_000;
  for (const { share, ...company } of BEHAVIOURS) {
    left -= share;
    if (left < 0) return company;
  }
  return GOOD;
}

/** @throws if the platform table has no such platform */
export function platformOf(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table has no ${slug}`);
  return found;
}
