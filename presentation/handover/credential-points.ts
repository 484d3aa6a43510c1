/** The points of the handover report about the credentials: what to delete, and which secrets to rotate. */
import {
  applicationName,
  isSameApplication,
  remedyForReplaced,
  type ApplicationFacts,
  type MovedWithApplication,
} from '../../domain/preflight/applications';
import { isApplicationNeeded } from '../../domain/preflight/preflight';
import { counted, namedCompanies, timeText } from '../../domain/text/sentences';
import { findPlatform, isRotating } from '../../platforms/platforms';
import { reportStage, type ReportHead } from './report-facts';
import type { Point } from './points';
import { platformOf } from '../wording/client-page';

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
export function mayHaveCopies({ route, platformKey, counts, figures, decisions }: ReportHead): boolean {
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

function destroyedText(count: number): string {
  return count === 0
    ? 'The migration has ended, so we will soon erase the secret that can still decrypt copies of deleted credentials.'
    : 'The migration has ended, so we will soon erase the secret that decrypts the credentials, and delete the credentials.';
}

/**
 * Returns how to rotate the client secrets that were shared or may have been shared. Empty if no decision supplied an
 * application, and one of these is true:
 *
 * - The migration is managed, and no application was used.
 * - The migration is self-service, and its platform's tokens are never refreshed, so it needs no application.
 * - The migration is self-service and has handed over credentials, but their application is not known.
 */
export function rotationPoints(head: ReportHead): readonly Point[] {
  const { route, platformKey, applications, figures } = head;
  const supplied = lastSupplied(head);
  const platform = findPlatform(platformKey);
  if (supplied === null) {
    if (platform && !isApplicationNeeded(route, platform)) return [];
    // A managed migration for which no application was supplied or used has shared no secret.
    const isUnusedOrUnknown = route === 'managed' ? figures.crossed === 0 : figures.crossed > 0;
    if (isUnusedOrUnknown && applications.moved.length === 0) return [];
  }
  const dependents =
    figures.crossed > 0 ? 'Connections at the service depend' : 'A connection at the service could depend';
  const needed = applications.moved;
  const other =
    supplied && !needed.some(({ application }) => isSameApplication(application, supplied)) ? [supplied] : [];
  const point = (application: ApplicationFacts | null, why: string): Point => ({
    topic: 'To rotate on your side',
    text: `the secret of your application${application ? ` ${applicationName(application)}` : ''} at ${platformOf(head)}, ${isSecretShared(head, application) ? 'because it was shared' : 'if you gave it to support'} for this migration. ${why}`,
  });
  const possiblyUsed =
    figures.crossingUnknown > 0
      ? `A connection at the service could depend on it, so ${GIVE_IN_TIME}.`
      : unusedText(head, supplied);
  const whyOther = reportStage(head) === 'open' ? `The migration needs it, so ${GIVE_IN_TIME}.` : possiblyUsed;
  if (needed.length + other.length <= 1) {
    const [only] = needed;
    const isDependedOn = figures.crossed + figures.crossingUnknown > 0;
    const why = isDependedOn ? `${dependents} on it, so ${GIVE_IN_TIME}.` : whyOther;
    return [point(only?.application ?? supplied, only && isReplaced(only, head) ? whyToRotate(only, head) : why)];
  }
  return [
    ...needed.map((each) => point(each.application, whyToRotate(each, head))),
    ...other.map((application) => point(application, whyOther)),
  ];
}

/** Names support, because the portal accepts a secret only in step 1, or after the platform refused the application. */
const GIVE_SECRET = 'give support the new secret';
const GIVE_IN_TIME = `${GIVE_SECRET} before the old secret expires`;

/**
 * Returns whether support needs the new secret of an application that no connection uses: companies that must reconnect
 * will use the application, unless another one is registered.
 *
 * @param application null if it is not known
 */
export function unusedText({ figures, applications }: ReportHead, application: ApplicationFacts | null): string {
  const { registered } = applications;
  const isReplacedNow = application !== null && registered !== null && !isSameApplication(application, registered);
  return figures.mustReconnect > 0 && !isReplacedNow
    ? `Companies that reconnect with their links will depend on it, so ${GIVE_IN_TIME}.`
    : 'No connection at the service uses it, so support does not need the new secret.';
}

/** Returns whether connections depend on an application, and what to do before its old secret expires. */
function whyToRotate(used: MovedWithApplication, head: ReportHead): string {
  const companies = namedCompanies(used.companies, used.references);
  const { applications } = head;
  const canRegisterAgain = (replaced: MovedWithApplication): boolean =>
    remedyForReplaced(replaced, applications, 'client').registerAgain !== null;
  if (isReplaced(used, head))
    return canRegisterAgain(used)
      ? `The connections of ${companies} need it only if the application is registered again. If you choose that instead of reconnecting, ${GIVE_SECRET}.`
      : `${companies} ${used.companies === 1 ? 'was' : 'were'} connected with this application, but must reconnect with the application that is registered now, so support does not need the new secret.`;
  // An account has one application per platform, so registering a replaced application again replaces this one.
  return applications.replaced.some(canRegisterAgain)
    ? `The connections of ${companies} depend on it while the application is registered. If the application stays registered, ${GIVE_IN_TIME}.`
    : `The connections of ${companies} depend on it, so ${GIVE_IN_TIME}.`;
}

function isReplaced({ application }: MovedWithApplication, { applications }: ReportHead): boolean {
  return applications.replaced.some((replaced) => isSameApplication(replaced.application, application));
}

/**
 * Returns whether the client has certainly shared the secret of an application for this migration. Otherwise the
 * application was already registered, for example for another migration, or support registered it without a decision.
 *
 * @param application null means any application; by default, the first with which companies were moved, or else any
 */
export function isSecretShared(
  { decisions, applications }: ReportHead,
  application: ApplicationFacts | null = applications.moved[0]?.application ?? null,
): boolean {
  return suppliedIn(decisions).some((each) => application === null || isSameApplication(each, application));
}

function lastSupplied({ decisions }: ReportHead): ApplicationFacts | null {
  return suppliedIn(decisions).at(-1) ?? null;
}

/** Returns the applications that decisions have supplied, oldest first. */
function suppliedIn(decisions: ReportHead['decisions']): readonly ApplicationFacts[] {
  return decisions.flatMap(({ decision, outcome }) =>
    outcome.applied && decision.kind === 'application-supplied' ? [decision] : [],
  );
}
