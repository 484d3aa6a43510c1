/** Suggests a command that starts a migration under another id. */
import { findPlatform } from '../../platforms/platforms';
import type { StoredMigration } from '../../store';

/** Returns the command that starts a migration of the same client, platform and route, with another label. */
export function restartCommand({ id, client, platformKey, route }: StoredMigration): string {
  const slug = findPlatform(platformKey)?.slug ?? platformKey;
  const earlier = /\.again(?:-(\d+))?$/.exec(id);
  const label = earlier ? `again-${Number(earlier[1] ?? 1) + 1}` : 'again';
  const command = route === 'managed' ? 'start' : 'self-service';
  return `ferry ${command} companies.csv --platform ${slug} --client ${client} --label ${label}`;
}
