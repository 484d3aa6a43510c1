/** Go or no-go: whether the failures so far are about to pause the migration. */
import { exceedsTolerance, MIN_TRIED_FOR_SHARE, percent, type MigrationLimits } from '../planning/limits';
import { counted, outOf } from '../text/sentences';
import type { Answer, GoNoGoFacts } from './go-nogo-facts';

const CHECK = 'failures';

/**
 * Checks that the failures so far do not pause the migration. A pause that is certain is a no-go. A pause that the next
 * failure causes is a warning. A resume accepts the failures so far, so a paused migration has no answer.
 */
export function failureAnswers(facts: GoNoGoFacts): readonly Answer[] {
  const { limits, failures, progress } = facts;
  if (progress?.state === 'paused') return [];
  const { failed, tried, accepted: acceptedFailures } = failures;
  const accepted =
    acceptedFailures > 0 ? ', not counting those that had already failed when someone last resumed the migration' : '';
  const soFar = `${outOf(failed, tried, 'tried company')} could not be moved${accepted} (${limitsText(limits)})`;
  const certain = pausesAfter(facts);
  if (certain !== null) {
    const more =
      certain === 1
        ? '1 more company has been tried, even if it moves'
        : `${certain} more companies have been tried, even if all of them move`;
    const when = certain === 0 ? 'as soon as a worker moves or checks another company' : `once ${more}`;
    return [{ check: CHECK, go: false, why: `the migration pauses itself ${when}: ${soFar}; ${remedy(facts)}` }];
  }
  if (!exceedsTolerance(limits, { failed: failed + 1, tried: tried + 1 })) return [];
  const why = `the next company that cannot be moved pauses the migration: ${soFar}; ${remedy(facts)}`;
  return [{ check: CHECK, go: true, warning: true, why }];
}

/**
 * Returns after how many more companies the migration pauses, even if all of them are moved; null if it does not. The
 * share counts only once enough companies have been tried.
 */
function pausesAfter({ limits, failures, progress }: GoNoGoFacts): number | null {
  const { failed, tried } = failures;
  if (exceedsTolerance(limits, failures)) return 0;
  const more = MIN_TRIED_FOR_SHARE - tried;
  const { waiting = 0, unconfirmed = 0, withoutCredential = 0, heldBack = 0 } = progress?.counts ?? {};
  const movable = waiting - unconfirmed - withoutCredential - heldBack;
  return more > 0 && more <= movable && exceedsTolerance(limits, { failed, tried: tried + more }) ? more : null;
}

function limitsText({ toleratedFailures, toleratedShare }: MigrationLimits): string {
  const limits = [
    ...(toleratedFailures === null ? [] : [counted(toleratedFailures, 'company')]),
    ...(toleratedShare === null
      ? []
      : [`${percent(toleratedShare)} once ${MIN_TRIED_FOR_SHARE} companies have been tried`]),
  ];
  return `${limits.length === 1 ? 'limit' : 'limits'}: ${limits.join(', ')}`;
}

function remedy({ migrationId, route, limits, failures }: GoNoGoFacts): string {
  const resolve =
    failures.failed === 0 ? '' : `to see the failures and how to resolve them: ferry exceptions ${migrationId}; `;
  return `${resolve}to tolerate more failures: ferry adjust ${migrationId}${raisedLimits(limits, failures)}${route === 'self-service' ? ' --as client --by "your name"' : ''}`;
}

function raisedLimits(
  { toleratedFailures, toleratedShare }: MigrationLimits,
  { failed, tried }: GoNoGoFacts['failures'],
): string {
  const next = { failed: failed + 1, tried: Math.max(tried + 1, MIN_TRIED_FOR_SHARE) };
  const isCountExceeded = exceedsTolerance({ toleratedFailures, toleratedShare: null }, next);
  const isShareExceeded = exceedsTolerance({ toleratedFailures: null, toleratedShare }, next);
  const share = Math.min(1, Math.ceil((next.failed / next.tried) * 100) / 100);
  return `${isCountExceeded ? ` --tolerated-failures ${next.failed}` : ''}${isShareExceeded ? ` --tolerated-share ${share}` : ''}`;
}
