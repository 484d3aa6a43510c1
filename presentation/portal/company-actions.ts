/** Decisions about companies: confirmations, credentials, the application, and exceptions. */
import { withoutCredentialText } from '../../domain/companies/credential-state';
import { withdrawalText } from '../../domain/decisions/withdrawals';
import { isBeforeSyncIsOff, isMoveStep } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import { hasOverdueConfirmations, shouldCorrectApplication } from '../../domain/progress/meanwhile';
import { nextWaveText } from '../../domain/progress/waiting-for';
import { counted, oneLine, outOf } from '../../domain/text/sentences';
import { hasClientTask, lastDecisionText, meanwhileText, needsApplication } from '../wording/client-task';
import { ownApplication, type ActionFacts, type Candidate } from './candidate';

const ENCRYPTED =
  "is encrypted on your device before it is sent. Only the provider's servers that move the companies can decrypt it.";

export function confirmation(progress: Progress, { unconfirmedFirst }: ActionFacts): Candidate {
  const { step, state, counts, digests } = progress;
  const { unconfirmed, withoutCredential, unconfirmedInNextWave } = counts;
  // Companies of the next wave keep syncing until all confirmed companies have usable credentials.
  const isTheirTurn =
    step === 'disable-syncing' ||
    withoutCredential === 0 ||
    unconfirmedInNextWave === undefined ||
    unconfirmedFirst !== null;
  return {
    message: 'confirmSyncDisabled',
    digest: digests['disable-syncing'],
    draft: { kind: 'sync-disabled', companies: 'all' },
    applies: unconfirmed > 0,
    title: 'Confirm that syncing is off',
    facts: [
      ...(isBeforeSyncIsOff(step) ? ['You can confirm now, but it is not necessary before step 4'] : []),
      ...(unconfirmedFirst === null
        ? []
        : [`${unconfirmedFirst} moves first, so you must confirm that its syncing is off`]),
      `${outOf(unconfirmed, counts.total, 'company')} without a confirmation`,
      ...(unconfirmedInNextWave === undefined || unconfirmedInNextWave === unconfirmed
        ? []
        : [`Next: ${nextWaveText(counts)}`]),
    ],
    consequence:
      'Confirm only companies that your own application no longer syncs. The data of these companies is out of date from the moment when syncing stops until they have moved. Never switch syncing back on for a company that is moving or has moved.',
    isExpected:
      hasOverdueConfirmations(progress) ||
      (isTheirTurn && !isBeforeSyncIsOff(step) && state !== 'paused' && hasClientTask(progress)),
  };
}

export function supplies(
  progress: Progress,
  { canSeal, isRotating, unconfirmedFirst }: ActionFacts,
): readonly Candidate[] {
  const { route, step, state, counts, pause, reopened } = progress;
  const { waiting, unconfirmed, heldBack, withoutCredential } = counts;
  const isMoving = route === 'self-service' || isMoveStep(step);
  // If `isRotating`, unconfirmed companies accept no credential. `unconfirmed` leaves out the held-back companies, of
  // which an unknown number are confirmed.
  const accepting = isRotating ? waiting - unconfirmed - heldBack : waiting;
  const application = ownApplication(progress);
  const isSupplyingDetails = step === 'supply-details' && route === 'managed';
  return [
    manifest(progress),
    {
      message: 'credentialsSupplied',
      draft: { kind: 'credentials-supplied', companies: 0 },
      applies: canSeal && accepting > 0 && (unconfirmedFirst === null || withoutCredential > 0),
      title: 'Supply credentials',
      facts: [
        ...(withoutCredential === 0 ? [] : [`Missing: credentials of ${withoutCredentialText(counts)}`]),
        ...(isRotating
          ? ['Each credential must have been obtained after you confirmed that syncing is off for its company.']
          : []),
      ],
      consequence: `Each credential ${ENCRYPTED}`,
      // The chosen first company has to be confirmed before its credential is supplied.
      isExpected: withoutCredential > 0 && isMoving && unconfirmedFirst === null,
    },
    {
      message: 'applicationSupplied',
      draft: { kind: 'application-supplied', clientId: 'any', environment: 'production' },
      applies: canSeal && (isSupplyingDetails || pause?.stopReason === 'application-refused') && route === 'managed',
      title: application ? 'Replace your application' : 'Supply your application',
      facts: application ? [`Now: ${oneLine(application.clientId, 250)} (${application.environment})`] : [],
      consequence: `The client secret ${ENCRYPTED} These servers then register the application and check the details again.`,
      isExpected:
        shouldCorrectApplication(progress) ||
        (isSupplyingDetails && state !== 'paused' && (reopened?.asksForChanges === true || needsApplication(progress))),
    },
  ];
}

function manifest({ route, step, state, counts, preflight, reopened }: Progress): Candidate {
  const isMissing = preflight?.problemCodes.includes('no-companies') ?? false;
  const by = preflight?.suppliedBy ?? null;
  return {
    message: 'manifestSupplied',
    draft: { kind: 'manifest-supplied', manifestDigest: '', companies: 1 },
    applies: route === 'managed' && step === 'supply-details',
    title: isMissing ? 'Supply the manifest' : 'Replace the manifest',
    facts:
      counts.total === 0
        ? []
        : [`Now: ${counted(counts.total, 'company')}${by === null ? '' : `, supplied by ${oneLine(by, 200)}`}`],
    consequence: isMissing
      ? 'The companies in the file are stored and checked. You can replace them until support has accepted the details.'
      : 'The companies in the file replace all current companies, and are checked. Stored credentials are deleted, and earlier confirmations that syncing is off no longer count.',
    isExpected: (isMissing || reopened?.asksForChanges === true) && state !== 'paused',
  };
}

const COMPANIES = ['any'] as const;
const WAITING = 'waiting for another try';

export function exceptions(progress: Progress, { canSeal }: ActionFacts): readonly Candidate[] {
  const { route, step, counts, checking, state } = progress;
  const { waiting, heldBack, failed, outcomeUnknown, mustReconnect, deferred = 0, retried = 0 } = counts;
  const isSelfService = route === 'self-service';
  const isBeforeMoving = isSelfService && step === 'supply-details';
  const stuck = failed + outcomeUnknown;
  const again = deferred + retried;
  const isExpected = isSelfService && stuck > 0 && hasClientTask(progress) && state !== 'paused';
  const facts = (mustReconnectText: string): string[] => [
    ...fact(failed - mustReconnect, 'not moved'),
    ...fact(outcomeUnknown, 'with an unknown outcome'),
    ...fact(mustReconnect, mustReconnectText),
  ];
  const withAgain = [...facts('must reconnect'), ...fact(again, WAITING)];
  const isHeldBackTask = heldBack > 0 && !checking && state !== 'paused';
  return [
    {
      message: 'exclude',
      draft: { kind: 'exclude', companies: COMPANIES, reason: 'any' },
      applies: waiting > 0,
      title: 'Leave companies out',
      facts: [
        `${counted(waiting, 'company')} can be left out`,
        ...(heldBack === 0 || checking ? [] : [`${counted(heldBack, 'company')} cannot be moved without a correction`]),
      ],
      consequence: `The companies that you name will not be moved, and cannot be added to this migration again.${manifestText(progress)}${endText(progress)}`,
      isIrreversible: true,
      isExpected:
        isHeldBackTask && (hasClientTask(progress) || meanwhileText(progress) !== null) && !isBeforeSyncIsOff(step),
      reason: 'required',
    },
    {
      message: 'retry',
      draft: { kind: 'retry', companies: 'all' },
      applies: isSelfService && (isBeforeMoving || stuck > 0),
      title: isBeforeMoving ? 'Have the details checked again' : 'Try companies again',
      facts: isBeforeMoving
        ? []
        : [
            ...facts(
              'must reconnect. A retry leaves a company as it is if the company has a link to reconnect and the service has accepted its credential',
            ),
            ...fact(deferred, WAITING),
          ],
      consequence: isBeforeMoving
        ? 'The details are checked again, which takes from a few seconds to a few minutes.'
        : `The companies are tried again${mustReconnect > 0 ? ' if a retry can help them' : ''}. A company whose credential was accepted before is only synced and checked again.`,
      isExpected: isExpected || (isBeforeMoving && hasClientTask(progress)),
      reason: 'optional',
    },
    {
      message: 'relink',
      draft: { kind: 'relink', companies: 'all' },
      applies: isSelfService && mustReconnect > 0,
      title: 'Wait until companies have reconnected',
      facts: [`${counted(mustReconnect, 'company')} must reconnect`],
      consequence:
        'If the companies have a link to reconnect, they are checked again once their end customers have reconnected them.',
      isExpected,
      reason: 'optional',
    },
    {
      message: 'replaceCredential',
      draft: { kind: 'replace-credential', companies: COMPANIES },
      applies: canSeal && stuck + again > 0,
      title: 'Replace credentials',
      facts: withAgain,
      ...withdrawalWarnings(progress),
      consequence: `Each credential ${ENCRYPTED} The companies are tried again with the new credentials.`,
      isExpected,
      reason: 'optional',
    },
    {
      message: 'skip',
      draft: { kind: 'skip', companies: COMPANIES, reason: 'any' },
      applies: isSelfService && stuck + again > 0,
      title: 'Give up on companies',
      facts: withAgain,
      consequence: `The companies that you name will not be tried again.${endText(progress)}`,
      isIrreversible: true,
      isExpected,
      reason: 'required',
    },
  ];
}

function fact(companies: number, what: string): readonly string[] {
  return companies === 0 ? [] : [`${counted(companies, 'company')} ${what}`];
}

/** Warns that the decision withdraws sign-offs, which were given for another outcome. */
function withdrawalWarnings({ steps }: Progress): Pick<Candidate, 'warnings'> {
  const signedOff = steps.find(({ step }) => step === 'complete-migration')?.approvals ?? [];
  if (signedOff.length === 0) return {};
  const given = withdrawalText(signedOff.map(({ by, role }) => ({ step: 'complete-migration' as const, by, role })));
  return { warnings: [`This withdraws ${given}. The handover must then be signed off again`] };
}

/** Returns the warning that leaving out a company prevents a new manifest; empty in steps that accept none anyway. */
function manifestText({ route, step }: Progress): string {
  return route === 'managed' && step === 'supply-details'
    ? ' The manifest can then no longer be replaced, but support can still add and correct companies.'
    : '';
}

/**
 * Returns the warning that the migration ends after the decision about the last company; empty if it does not. Only a
 * self-service migration ends in this way, because it has no sign-off.
 */
function endText(progress: Progress): string {
  return progress.route === 'self-service' ? ` ${lastDecisionText(progress)}` : '';
}
