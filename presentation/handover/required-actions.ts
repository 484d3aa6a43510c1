/** The points of the handover report that tell the client what it has to do. */
import { countOpen } from '../../domain/companies/counts';
import {
  applicationName,
  remedyForReplaced,
  replacedProblem,
  type ApplicationsOfMoved,
  type MovedWithApplication,
} from '../../domain/preflight/applications';
import { timeText, sentence } from '../../domain/text/sentences';
import { findPlatform, isRotating } from '../../platforms/platforms';
import { reconnectionsText, platformOf } from '../wording/client-page';
import { reportStage, viewOf, type ReportHead } from './report-facts';
import type { Point } from './points';
import { mayHaveCopies, rotationPoints, unusedText, isSecretShared } from './credential-points';

/** Returns what the client has to do, in order of urgency. */
export function requiredActions(head: ReportHead): readonly Point[] {
  const { counts, figures, applications } = head;
  const stage = reportStage(head);
  const ended = stage === 'ended';
  const checkedAt = figures.reconnectionsCheckedAt;
  const reconnections =
    checkedAt === null && stage !== 'open'
      ? 'Reconnections were never checked'
      : reconnectionsText(checkedAt === null ? null : timeText(checkedAt, viewOf(head).year));
  const secrets = rotationPoints(head).length;
  const all: readonly (Point & { readonly companies: number })[] = [
    ...applications.replaced.map((each) => replacedPoint(each, applications)),
    {
      topic: 'Send the link to each company that must reconnect',
      companies: figures.mustReconnect,
      text: `its end customer opens the link and authorizes us again. ${reconnections}.`,
      section: 'must-reconnect',
    },
    {
      topic: 'Supply credentials',
      companies: stage === 'open' ? counts.withoutCredential : 0,
      // In self-service, and on platforms that do not rotate tokens, credentials count whenever they were obtained.
      text: `the data of these companies is out of date until they have moved; the table names them.${mustBeRecent(head) ? ' Export the credentials after you have confirmed that syncing is off.' : ''}`,
      section: 'not-finished',
    },
    {
      topic: 'Look at the companies that were not moved',
      companies: counts.failed - figures.mustReconnect,
      text: 'the table says why, and what can be done.',
      section: 'not-moved',
    },
    {
      topic: 'Look at the companies whose moves were not finished when the migration ended',
      companies: ended ? countOpen(counts) : 0,
      text: 'the table says what to do about each.',
      section: 'not-finished',
    },
    {
      topic: 'Ask support about the left-out companies whose access was handed over to us',
      companies: ended ? figures.leftOutAtService : 0,
      text: 'support can tell you whether their connections stay in use. Never switch the syncing of these companies back on.',
      section: 'left-out',
    },
    {
      topic: 'Remove the stored tokens of the companies whose access was handed over to us',
      companies: ended ? figures.crossed : 0,
      text: `delete the tokens from your own application, but do not disconnect these companies in ${platformOf(head)}.`,
      section: 'credentials',
    },
  ];
  const waiting = all.filter(({ companies }) => companies > 0);
  if (!ended) return stage === 'terminated' ? [askContact(head), ...waiting] : waiting;
  return [
    ...waiting,
    ...(mayHaveCopies(head)
      ? [
          {
            topic: 'Delete your copies of the credentials',
            text: 'exports, spreadsheets, and copies in email, chat and backups.',
            section: 'credentials',
          },
        ]
      : []),
    ...(secrets === 0
      ? []
      : [
          {
            topic: `Rotate the ${secrets === 1 ? 'secret of your application' : 'secrets of your applications'}`,
            text: rotationText(head, secrets),
            section: 'credentials',
          },
        ]),
  ];
}

/** Returns whether only credentials count that were obtained after the confirmation that syncing is off. */
function mustBeRecent({ route, platformKey }: ReportHead): boolean {
  const platform = findPlatform(platformKey);
  return route === 'managed' && (platform === undefined || isRotating(platform));
}

const ONLY_IF_SHARED = 'this is necessary only if you gave it to support';

function rotationText(head: ReportHead, secrets: number): string {
  const { figures, applications } = head;
  if (secrets > 1 || applications.replaced.length > 0) {
    return `the section about credentials says what to do with ${secrets > 1 ? 'each' : 'the'} secret.`;
  }
  const isShared = isSecretShared(head);
  if (figures.crossed + figures.crossingUnknown > 0) {
    return `${isShared ? 'give' : `${ONLY_IF_SHARED}. If you rotate it, give`} support the new secret before the old secret expires.`;
  }
  return `${isShared ? 'it was shared for this migration' : ONLY_IF_SHARED}. ${unusedText(head, null)}`;
}

/**
 * Says that the client has to ask its contact, because support decides what happens after the migration was stopped.
 */
function askContact({ counts }: ReportHead): Point {
  const open = countOpen(counts);
  return {
    topic: 'Ask the contact under "Who to call" what happens next',
    text: 'the migration was stopped, so no company moves. Until you know what happens next, do not switch any syncing back on.',
    ...(open > 0 ? { companies: open, section: 'not-finished' } : { section: 'statistics' }),
  };
}

function replacedPoint(
  replaced: MovedWithApplication,
  applications: ApplicationsOfMoved,
): Point & { readonly companies: number } {
  const { companies, application } = replaced;
  const { registerAgain, lost, reconnect } = remedyForReplaced(replaced, applications, 'client');
  const connected = companies === 1 ? 'the company that was connected' : 'the companies that were connected';
  const name = applicationName(application);
  const remedy = registerAgain === null ? reconnect : `instead, you can ${reconnect}`;
  const consequence = lost === null ? '' : ` If ${name} is registered again, ${lost} must reconnect.`;
  return {
    topic: registerAgain === null ? `Reconnect ${connected} with ${name}` : sentence(registerAgain),
    companies,
    text: `${replacedProblem(replaced, applications)}. ${sentence(remedy)}.${consequence}`,
    section: 'replaced-application',
  };
}

/**
 * Says that the report lists no task. Until the migration has ended, the client can still have a task, because the
 * report does not list what the migration is waiting for.
 */
export function nothingToDo({ ending }: ReportHead): string {
  return ending === null
    ? 'This report lists no task for you. The page of the migration says what the migration is waiting for now.'
    : 'Nothing.';
}
