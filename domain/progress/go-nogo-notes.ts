/** Go or no-go: the conditions that pause an unattended migration, and the conditions that do not pause it. */
import { exceedsTolerance, MIN_TRIED_FOR_SHARE, percent, type MigrationLimits } from '../planning/limits';
import type { WindowOccurrence } from '../planning/windows';
import { counted, momentText, outOf } from '../text/sentences';
import { exceptDeferred, longestStaleText, withLiveCounts } from './forecast';
import type { GoNoGoFacts } from './go-nogo-facts';

export function pauseConditions({ route, limits, failures, platform, progress }: GoNoGoFacts): readonly string[] {
  const several = 'several companies in a row';
  const which = route === 'self-service' ? several : `the first company or ${several}`;
  return [
    ...(hasTolerance(limits) ? [toleranceText(limits, progress?.state === 'paused' ? null : failures)] : []),
    'the service rejects the API key, or the account reaches one of its limits or expires (HTTP status 401, 402 or 403)',
    `${which} cannot be connected, because ${platform.name} rejects the application or the credential belongs to another organization`,
  ];
}

export function notes(given: GoNoGoFacts, window: WindowOccurrence | null): readonly string[] {
  const { limits, failures } = given;
  return [
    ...(hasTolerance(limits)
      ? []
      : [`the number of companies that could not be moved never pauses the migration ${soFar(failures)}`]),
    'in an outage of the service or the platform, the migration does not pause, but waits and retries; syncs that the platform interrupts can fail',
    ...(window === null
      ? []
      : [
          `no move begins from ${momentText(window.closesAt)} until the next window; syncing companies are still checked`,
        ]),
    ...endNotes(given),
  ];
}

function endNotes({ forecast, progress, live, now }: GoNoGoFacts): readonly string[] {
  if (!forecast?.ends || forecast.staleMs === null || progress === null) return [];
  const { companies, isComplete, ends, staleMs } = forecast;
  const current = withLiveCounts(progress, live);
  const except = exceptDeferred(current.counts);
  const some =
    companies === 1
      ? 'the only company that is moving or can be moved'
      : `the last of ${counted(companies, 'company')} that are moving or can be moved`;
  return [
    `${isComplete ? 'the last company' : `${some}${except}${except && ','}`} is expected to be moved by ${momentText(ends.latest)} at the latest`,
    `until then, the data of a company can be out of date for ${longestStaleText(current, staleMs, now)}`,
  ];
}

function hasTolerance({ toleratedFailures, toleratedShare }: MigrationLimits): boolean {
  return toleratedFailures !== null || toleratedShare !== null;
}

function soFar({ failed, tried }: GoNoGoFacts['failures']): string {
  return `(counted so far: ${outOf(failed, tried, 'tried company')})`;
}

/** @param failures null while the migration is paused, because a resume accepts the failures so far */
function toleranceText(limits: MigrationLimits, failures: GoNoGoFacts['failures'] | null): string {
  const { toleratedFailures, toleratedShare } = limits;
  if (failures !== null && exceedsTolerance(limits, failures))
    return `a worker moves or checks another company: the number of companies that could not be moved already exceeds the limit ${soFar(failures)}`;
  const bounds = [
    ...(toleratedFailures === null ? [] : [`more than ${counted(toleratedFailures, 'company')} could not be moved`]),
    ...(toleratedShare === null
      ? []
      : [
          `more than ${percent(toleratedShare)} of all tried companies could not be moved, from ${MIN_TRIED_FOR_SHARE} tried companies on`,
        ]),
  ];
  return `${bounds.join('; or, ')} ${failures === null ? '(failures before the resume do not count)' : soFar(failures)}`;
}
