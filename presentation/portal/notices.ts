/** The notices of the portal's view: why the migration does not continue, when it will, and what is wrong. */
import type { MigrationView } from '../../portal/contract/migration-view';
import { isOver } from '../../domain/migration/terminated';
import { countOpen } from '../../domain/companies/counts';
import { replacedText, type ApplicationsOfMoved, type MovedWithApplication } from '../../domain/preflight/applications';
import { farStartText } from '../../domain/progress/first-opening';
import { endedByText, pausedTexts, reopenedText, type Progress } from '../../domain/progress/progress';
import { retriedText } from '../../domain/progress/retried';
import { sinceOwnSignOffText } from '../../domain/progress/sign-off-changes';
import { deadlineText, openingText, reconnectionsAfterEnd } from '../wording/client-page';
import type { ActionFacts } from './candidate';

function replacedNotice(replaced: MovedWithApplication, applications: ApplicationsOfMoved): string {
  const warning = `Warning: ${replacedText(replaced, applications, 'client')}.`;
  const links = replaced.companies - (replaced.withoutLink ?? 0);
  return links === 0
    ? warning
    : `${warning} The list of companies that need attention has the ${links === 1 ? 'link' : 'links'}.`;
}

type NoticeFacts = Pick<ActionFacts, 'applications' | 'changedSinceSignOff'>;

/**
 * Returns what the client should know apart from its task, one notice per fact.
 *
 * @param now ISO 8601, UTC
 */
export function noticesOf(
  progress: Progress,
  { applications, changedSinceSignOff, task }: NoticeFacts & Pick<MigrationView, 'task'>,
  now: string,
): string[] {
  const ended = endedByText(progress);
  const opening = openingText(progress, now);
  // The task shows its deadline itself.
  const deadline = task?.by == null ? deadlineText(progress, now) : null;
  const retried = retriedText(progress, now);
  const farAway = isOver(progress.state) ? null : farStartText(progress, now);
  return [
    ...(ended === null ? [] : [`Ended ${ended}`]),
    ...[reconnectionsAfterEnd(progress) ?? []].flat(),
    ...pausedTexts(progress).map((paused) => `Paused ${paused}`),
    ...[reopenedText(progress) ?? []].flat(),
    ...changedSinceSignOff.flatMap((change) =>
      change.role === 'client'
        ? [sinceOwnSignOffText(change, !isOver(progress.state) && countOpen(progress.counts) === 0)]
        : [],
    ),
    ...(applications === null ? [] : applications.replaced.map((each) => replacedNotice(each, applications))),
    ...(farAway === null ? [] : [`Warning: ${farAway}`]),
    ...(opening === null ? [] : [`${opening.why}: ${opening.text}`]),
    ...(deadline === null ? [] : [`Deadline: ${deadline}`]),
    ...(retried === null ? [] : [`${retried}.`]),
    // During the first check, the headline already says so.
    ...(progress.checking && progress.preflight !== null && !isOver(progress.state)
      ? ['The details are being checked again.']
      : []),
  ];
}
