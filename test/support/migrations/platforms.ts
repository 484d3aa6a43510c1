import type { CompanyDataClient } from '../../../company-data-client';
import { findPlatform, PLATFORMS, type Platform } from '../../../platforms/platforms';
import { Secret } from '../../../security';

/**
 * Returns the platform with this slug.
 *
 * @throws if the platform table has none
 */
export function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}

/** Registers an application for every platform of the managed route, as a client does in step 1. */
export async function registerApplications(service: CompanyDataClient): Promise<void> {
  const managed = PLATFORMS.filter(({ routes }) => routes.includes('managed'));
  await Promise.all(
    managed.map(({ key, environment = 'production' }) =>
      service.putApplicationCredentials(key, {
        clientId: 'the-clients-own',
        clientSecret: new Secret('known to the service alone'),
        environment,
      }),
    ),
  );
}
