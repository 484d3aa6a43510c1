import type { Platform } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';

/** @throws where the platform table has none of this slug */
export function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}
