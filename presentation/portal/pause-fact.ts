/** Describes a pause in the portal's dialogs. */
import { CLIENT_REMEDIES, MAX_STOP_NUMBERS_LENGTH, stopNumbersIn } from '../../domain/companies/failures';
import type { Pause } from '../../domain/migration/migration-state';
import { isForCorrectedApplication, MAX_PAUSE_LENGTH } from '../../domain/migration/pauses';
import { reviewedPauseText } from '../../domain/progress/ledger-behind';
import type { Progress } from '../../domain/progress/progress';
import { momentText, oneLine } from '../../domain/text/sentences';
import { stopText } from '../wording/status-line';
import { platformOf } from '../wording/client-page';

/** Returns who paused, since when and why, on one line. If managed, leaves out what only support can do. */
export function pauseFact(progress: Progress, pause: Pause): string {
  const { stopReason, reason, at } = pause;
  if (stopReason === null || progress.route === 'self-service') return reviewedPauseText(progress, pause);
  const why = `automatically since ${momentText(at)}: ${stopText(stopReason, platformOf(progress), progress.counts)}`;
  const remedy = CLIENT_REMEDIES[stopReason];
  if (remedy === undefined || isForCorrectedApplication(progress.waitingFor)) return why;
  const companies = stopNumbersIn(reason, stopReason);
  return oneLine(
    `${why}${companies === null ? '' : ` (${oneLine(companies, MAX_STOP_NUMBERS_LENGTH)})`}; ${remedy}`,
    MAX_PAUSE_LENGTH,
  );
}
