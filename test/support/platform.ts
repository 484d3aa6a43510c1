import type { Platform } from '../../domain/platforms';
import { findPlatform } from '../../domain/platforms';

/** @throws where the platform table has none of this slug */
export function platform(slug: string): Platform {
  const found = findPlatform(slug);
  if (!found) throw new Error(`the platform table lacks ${slug}`);
  return found;
}
