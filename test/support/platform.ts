import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';

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
