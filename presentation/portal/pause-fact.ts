/** Describes a pause in the portal's dialogs. */
import { stopNumbersIn, type StopReason } from '../../domain/companies/failures';
import type { Pause } from '../../domain/migration/migration-state';
import { pauseText } from '../../domain/migration/pauses';
import type { Progress } from '../../domain/progress/progress';
import { momentText } from '../../domain/text/sentences';
import { findPlatform } from '../../platforms/platforms';
import { stopText } from '../wording/status-line';

/** The client's own remedies for an automatic pause of a managed migration, which only support can lift. */
const CLIENT_CAN: Readonly<Partial<Record<StopReason, string>>> = {
  'application-refused': 'correct its client id, secret or environment',
  'wrong-organization':
    'if rows of the manifest or of the credentials have shifted by one, replace all waiting credentials, otherwise replace only the wrong one',
};

/** Returns who paused, since when and why. In the managed route, leaves out what only support can do about it. */
export function pauseFact({ route, platformKey, counts }: Progress, pause: Pause): string {
  const { stopReason, reason, at } = pause;
  if (stopReason === null || route === 'self-service') return pauseText(pause);
  const platform = findPlatform(platformKey)?.name ?? platformKey;
  const why = `automatically since ${momentText(at)}: ${stopText(stopReason, platform, counts)}`;
  const remedy = CLIENT_CAN[stopReason];
  if (remedy === undefined) return why;
  const companies = stopNumbersIn(reason, stopReason);
  return `${why}${companies === null ? '' : ` (${companies})`}; ${remedy}`;
}
