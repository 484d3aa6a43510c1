/** The points of the handover report that tell the client what to switch back on, send, delete and rotate. */
import { countOpen } from '../../domain/companies/company-state';
import type { ApplicationFacts, ApplicationsOfMoved, MovedWithApplication } from '../../domain/preflight/applications';
import {
  applicationName,
  isSameApplication,
  remedyForReplaced,
  replacedProblem,
} from '../../domain/preflight/applications';
import { isApplicationNeeded } from '../../domain/preflight/preflight';
import { counted, namedCompanies, timeText, sentence } from '../../domain/text/sentences';
import { findPlatform, isRotating } from '../../platforms/platforms';
import { AFTER_THE_END, reconnectionsText } from '../wording/client-page';
import type { ReportHead } from './report-facts';
import { ASK_FIRST_AFTER_STOP, askContact } from './stopped-points';
import { platformOf, reportStage, viewOf } from './report-facts';

/** A sentence with its topic and the number of companies it applies to: `Not yet (23): companies that ...` */
export interface Point {
  readonly topic: string;
  readonly companies?: number;
  readonly text: string;
  /** The id of the section of the HTML page that contains the details. */
  readonly section?: string;
}

/** Returns which companies the client may switch back on, with their number where it is known. */
export function switchOnPoints(head: ReportHead): readonly Point[] {
  const { counts, figures, ending } = head;
  const { crossed, crossingUnknown, movable, mustReconnectNotCrossed } = figures;
  const notHandedOver = counts.total - crossed - crossingUnknown - mustReconnectNotCrossed;
  const never = {
    topic: 'Never',
    companies: crossed,
    text: `${AFTER_THE_END.never}. If two applications use the same token, both can lose access.`,
  };
  if (reportStage(head) === 'terminated')
    return [never, { topic: 'Ask first', companies: counts.total - crossed, text: ASK_FIRST_AFTER_STOP }];
  return [
    never,
    {
      topic: 'Ask first',
      companies: crossingUnknown,
      text: `${AFTER_THE_END.askFirst}. Call the contact under "Who to call".`,
    },
    ...(ending === null
      ? [
          {
            topic: 'Not yet',
            companies: movable,
            text: 'companies that can still be moved.',
          },
          {
            topic: 'Yes',
            text: 'companies that were left out. If the tables below say otherwise for a company, follow the tables.',
          },
        ]
      : [
          {
            topic: 'Yes',
            companies: notHandedOver,
            text: `${AFTER_THE_END.yes}. If the tables below say otherwise for a company, follow the tables.`,
          },
          ...(mustReconnectNotCrossed === 0
            ? []
            : [
                {
                  topic: 'Until it reconnects',
                  companies: mustReconnectNotCrossed,
                  text: 'companies that must reconnect. You may use each in your own application until its end customer reconnects with the link.',
                },
              ]),
        ]),
  ];
}

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
  const shared = isSecretShared(head) ? 'give' : 'if you gave it to support, rotate it and give';
  const all: readonly (Point & { readonly companies: number })[] = [
    ...applications.replaced.map((each) => replacedPoint(each, applications)),
    {
      topic: 'Send the link to each company that must reconnect',
      companies: figures.mustReconnect,
      text: `its owner opens the link and authorizes us again. ${reconnections}.`,
      section: 'must-reconnect',
    },
    {
      topic: 'Supply credentials',
      companies: stage === 'open' ? counts.withoutCredential : 0,
      // In self-service, credentials count whenever they were obtained.
      text: `the data of these companies is out of date until they have moved; the table names them.${head.route === 'managed' ? ' Export the credentials after you have confirmed that syncing is off.' : ''}`,
      section: 'not-finished',
    },
    {
      topic: 'Look at the companies that were not moved',
      companies: counts.failed - figures.mustReconnect,
      text: 'the table says why, and what can be done.',
      section: 'not-moved',
    },
    {
      topic: 'Look at the companies that were not moved when the migration ended',
      companies: ended ? countOpen(counts) : 0,
      text: 'the table shows their states.',
      section: 'not-finished',
    },
    {
      topic: 'Ask support about the companies that were left out after access to them was handed over to us',
      companies: ended ? figures.leftOutAtService : 0,
      text: 'support can tell you whether their connections stay in use. Never switch their syncing back on.',
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
            text:
              secrets > 1
                ? 'the section about credentials says what to do with each secret.'
                : figures.crossed + figures.crossingUnknown > 0
                  ? `${shared} support the new secret before the old secret expires.`
                  : `${isSecretShared(head) ? 'it was shared for this migration' : 'if you gave it to support, rotate it'}. ${UNUSED_SECRET}`,
            section: 'credentials',
          },
        ]),
  ];
}

/** Says what the client has to do about the companies of a replaced application. */
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

/** Says that no action is required. A report of a migration that continues does not list what it is waiting for. */
export function nothingToDo({ ending }: ReportHead): string {
  return ending === null
    ? 'This report lists no task for you. The page of the migration says what the migration is waiting for now.'
    : 'Nothing.';
}

/** Returns what happened to the credentials, and what the client should do about its own copies. */
export function credentialPoints(head: ReportHead): readonly Point[] {
  const { vaultDestroyedAt, figures, ending } = head;
  if (ending !== null && !mayHaveCopies(head))
    return [{ topic: 'None', text: 'no credential was supplied for this migration.' }, ...rotationPoints(head)];
  const count = figures.credentialsLeft;
  const left = counted(count, 'credential');
  return [
    vaultDestroyedAt
      ? {
          topic: 'Destroyed',
          text:
            `the secret that decrypts the credentials of this migration was erased at ${timeText(vaultDestroyedAt)}. ${count === 0 ? 'No credential is' : `${left} ${count === 1 ? 'is' : 'are'}`} left in our database. ` +
            'Encrypted copies can remain in the files, log and backups of our database. Our master key alone cannot decrypt these copies: a copy of the erased secret would also be needed.',
        }
      : {
          topic: ending === null || count === 0 ? 'Stored' : 'Destroyed soon',
          text: `${count === 0 ? 'none at the moment.' : `${left}, in encrypted form.`} ${ending === null ? keptText(count) : destroyedText(count)}`,
        },
    {
      topic: 'To delete on your side',
      text: 'every export and spreadsheet that contains tokens, the files from which you supplied credentials, and all copies in email, chat and backups.',
    },
    ...rotationPoints(head),
    ...(ending !== null && figures.crossed === 0
      ? []
      : [
          {
            topic: 'To remove on your side',
            text:
              'the stored tokens of the companies whose access was handed over to us, so that nothing refreshes or revokes them. ' +
              `Do not disconnect these companies in ${platformOf(head)}, because that would end our access too.`,
          },
        ]),
  ];
}

/**
 * Returns whether the client may have exported credentials for this migration. In self-service, and on platforms that
 * do not rotate tokens, they can be supplied at the start, without a decision.
 */
function mayHaveCopies({ route, platformKey, counts, figures, decisions }: ReportHead): boolean {
  const platform = findPlatform(platformKey);
  const hasDecided = decisions.some(({ decision: { kind }, outcome }) => outcome.applied && EXPORTED_BY.includes(kind));
  if (hasDecided || figures.crossed + figures.crossingUnknown > 0 || route === 'self-service') return true;
  return counts.total > 0 && (platform === undefined || !isRotating(platform));
}

/** After these decisions, the client may have exported credentials. */
const EXPORTED_BY: readonly string[] = ['sync-disabled', 'credentials-supplied', 'replace-credential'];

/** Returns when stored credentials are deleted, and until when they can be decrypted. */
function keptText(count: number): string {
  const deleted =
    count === 0 ? '' : 'Each credential is deleted once its company has been moved, or when the migration ends. ';
  return `${deleted}Until the migration ends, our keys can still decrypt copies of deleted credentials in the files, log and backups of our database. When the migration ends, we erase the secret that is needed to decrypt them.`;
}

/** Returns what happens to the credentials of a migration that has ended. */
function destroyedText(count: number): string {
  return count === 0
    ? 'The migration has ended, so we will soon erase the secret that can still decrypt copies of deleted credentials.'
    : 'The migration has ended, so we will soon erase the secret that decrypts the credentials, and delete the credentials.';
}

/**
 * Returns how to rotate the client secrets that were shared or may have been shared. Empty if no application was needed
 * or, in a managed migration, supplied; or if credentials were handed over in a self-service migration whose
 * application is not known.
 */
function rotationPoints(head: ReportHead): readonly Point[] {
  const { route, ending, platformKey, applications, figures } = head;
  const supplied = lastSupplied(head);
  const platform = findPlatform(platformKey);
  if (!supplied && platform && !isApplicationNeeded(route, platform)) return [];
  // A managed migration for which no application was supplied or used has shared no secret.
  const isUnused = figures.crossed === 0 && applications.moved.length === 0;
  if (route === 'managed' && supplied === null && isUnused) return [];
  if (!isSecretShared(head) && figures.crossed > 0 && applications.moved.length === 0) return [];
  const shared = isSecretShared(head) ? 'because it was shared' : 'if you gave it to support';
  // `ferry application` needs an open migration and an administrator's key.
  const how = route === 'managed' && ending === null ? 'supply the new secret' : 'give support the new secret';
  const dependents =
    figures.crossed > 0 ? 'Connections at the service depend' : 'A connection at the service could depend';
  const needed = applications.moved;
  const other =
    supplied && !needed.some(({ application }) => isSameApplication(application, supplied)) ? [supplied] : [];
  const point = (application: ApplicationFacts | null, why: string): Point => ({
    topic: 'To rotate on your side',
    text: `the secret of your application${application ? ` ${applicationName(application)}` : ''} at ${platformOf(head)}, ${shared} for this migration. ${why}`,
  });
  if (needed.length + other.length <= 1)
    return [
      point(
        needed[0]?.application ?? supplied,
        figures.crossed + figures.crossingUnknown > 0
          ? `${dependents} on it, so ${how} before the old secret expires.`
          : reportStage(head) === 'open'
            ? `The migration needs it, so ${how} before the old secret expires.`
            : UNUSED_SECRET,
      ),
    ];
  return [
    ...needed.map((each) => point(each.application, whyToRotate(each, head, how))),
    ...other.map((application) => point(application, UNUSED_SECRET)),
  ];
}

const UNUSED_SECRET = 'No connection at the service uses it, so support does not need the new secret.';

/** Returns whether connections depend on an application, and what to do before its old secret expires. */
function whyToRotate(used: MovedWithApplication, { applications }: ReportHead, how: string): string {
  const companies = namedCompanies(used.companies, used.references);
  const replaced = applications.replaced.find(({ application }) => isSameApplication(application, used.application));
  const isToReconnect =
    replaced !== undefined && remedyForReplaced(replaced, applications, 'client').registerAgain === null;
  return isToReconnect
    ? `${companies} ${used.companies === 1 ? 'was' : 'were'} connected with it and must reconnect, so no connection will depend on it.`
    : `The connections of ${companies} depend on it, so ${how} before the old secret expires.`;
}

/**
 * Returns whether support certainly knows the secret. In self-service, the report often cannot tell, because support
 * registers the application without a decision.
 */
function isSecretShared(head: ReportHead): boolean {
  return head.route === 'managed' || lastSupplied(head) !== null;
}

/** Returns the application that was supplied last by a decision; null if none was. */
function lastSupplied({ decisions }: ReportHead): ApplicationFacts | null {
  return (
    decisions
      .flatMap(({ decision, outcome }) =>
        outcome.applied && decision.kind === 'application-supplied' ? [decision] : [],
      )
      .at(-1) ?? null
  );
}
