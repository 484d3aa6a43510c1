/**
 * Facts about the whole migration for the handover report, in Markdown and in HTML. Each format shows some facts that
 * the other does not.
 */
import type { Counts } from '../../domain/companies/company-state';
import { countOpen } from '../../domain/companies/company-state';
import type { ReportFigures } from '../../store';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { decisionText } from '../wording/decisions';
import type { PlannedEstimate } from '../../domain/planning/estimate';
import type { Ending } from '../../domain/migration/migration-state';
import { duration, counted } from '../../domain/text/sentences';
import type { Route } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import { isApplicationNeeded } from '../../domain/preflight/preflight';
import type { ReportView } from './company-sections';
import { hoursText, timeText } from './report-times';

export interface ReportHead {
  readonly migrationId: string;
  readonly route: Route;
  readonly client: string;
  readonly platformKey: string;
  readonly contact: string;
  readonly ending: Ending | null;
  readonly paused: boolean;
  readonly suppliedAt: string;
  readonly suppliedBy: string;
  readonly closedAt: string | null;
  readonly vaultDestroyedAt: string | null;
  readonly counts: Counts;
  readonly figures: ReportFigures;
  readonly planned: PlannedEstimate | null;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
  /** How the ledger differs from the signed decisions; null if decisions need not be signed. */
  readonly unproven: readonly string[] | null;
}

/** A sentence with its topic and the number of companies it applies to: `Not yet (23): companies that ...` */
export interface Point {
  readonly topic: string;
  readonly companies?: number;
  readonly text: string;
  /** The section of the HTML page with the details. */
  readonly section?: string;
}

/** Returns the facts that decide how companies are shown. The year is the one in which the migration began. */
export function viewOf({ ending, suppliedAt }: Pick<ReportHead, 'ending' | 'suppliedAt'>): ReportView {
  return { ended: ending !== null, year: suppliedAt.slice(0, 4) };
}

export function platformOf({ platformKey }: Pick<ReportHead, 'platformKey'>): string {
  return findPlatform(platformKey)?.name ?? platformKey;
}

export function stateText({ ending, paused, decisions }: ReportHead): string {
  switch (ending) {
    case null:
      return `${paused ? 'paused' : 'in progress'} (this report is preliminary)`;
    case 'completed':
      return 'completed';
    case 'cancelled':
    case 'abandoned': {
      const last = decisions.findLast(({ decision, outcome }) => outcome.applied && ends(decision));
      if (!last) return ending;
      const { by, role, reason } = last.decision;
      return `${ending} by ${by} (${role})${reason === undefined ? '' : `; reason: ${reason}`}`;
    }
  }
}

function ends(decision: Decision): boolean {
  return decision.kind === 'cancel' || (decision.kind === 'step' && decision.afterwards?.next === 'abandon');
}

/** Returns the facts at the top of the report. */
export function mainFacts(head: ReportHead): readonly (readonly [label: string, value: string])[] {
  return [
    ['Client', head.client],
    ['Platform', platformOf(head)],
    ...(head.route === 'self-service'
      ? [['Route', 'self-service (the client confirmed at the start that syncing is off for every company)'] as const]
      : []),
    ['State', stateText(head)],
    ...(head.unproven === null ? [] : [['Signed decisions', proofText(head.unproven)] as const]),
    ['Details supplied', `${timeText(head.suppliedAt)} by ${head.suppliedBy}`],
    ['Times', 'all in UTC'],
    ['Who to call', head.contact],
  ];
}

function proofText(unproven: readonly string[]): string {
  if (unproven.length === 0)
    return 'every confirmation, and every permission to move companies, is backed by a signed decision';
  return `${unproven.join('; ')}. Someone changed the database without a signed decision. Find out who before you rely on this report`;
}

export function resultRows({ counts, figures }: ReportHead): readonly (readonly [what: string, companies: number])[] {
  return [
    ['in the manifest', counts.total],
    ['moved', counts.moved],
    ['must reconnect', figures.mustReconnect],
    ['not moved', counts.failed - figures.mustReconnect],
    ['left out before their move', counts.excluded],
    ['left out after an attempt to move them', counts.skipped],
    ['not finished', countOpen(counts)],
  ];
}

/** Returns rows with a label, the planned value and the actual value. */
export function timeRows(head: ReportHead): readonly (readonly [string, string, string])[] {
  const { planned, figures, closedAt } = head;
  const { year } = viewOf(head);
  const { firstStartedAt, lastMovedAt, longestStaleHours, medianStaleHours } = figures;
  const at = (iso: string | null | undefined): string => (iso ? timeText(iso, year) : '');
  const expected = planned?.estimate;
  const took = firstStartedAt && lastMovedAt ? duration(Date.parse(lastMovedAt) - Date.parse(firstStartedAt)) : '';
  const stale =
    longestStaleHours === null || medianStaleHours === null
      ? ''
      : `${hoursText(longestStaleHours)} at most, median ${hoursText(medianStaleHours)}`;
  return [
    ['first move began', at(planned?.startAt), at(firstStartedAt)],
    [
      'last company moved',
      expected?.ends ? `${at(expected.ends.earliest)} to ${at(expected.ends.latest)}` : '',
      at(lastMovedAt),
    ],
    [
      'duration',
      expected ? `${duration(expected.lowMs)} to ${duration(expected.highMs)} within the windows` : '',
      took,
    ],
    ['data out of date', expected?.staleHours == null ? '' : `up to ${hoursText(expected.staleHours)}`, stale],
    ['migration closed', '', at(closedAt)],
  ];
}

/** Returns how long data is out of date, in one to three sentences. */
export function outOfDateText({ ending, planned, figures }: ReportHead): string {
  const { longestStaleHours: longest, medianStaleHours: median } = figures;
  if (ending !== null) {
    const moved =
      longest === null || median === null
        ? ''
        : `The data of all moved companies is up to date again. It was out of date for ${hoursText(longest)} at most (median: ${hoursText(median)}). `;
    return `${moved}The data of companies that were not moved stays out of date until you switch them back on in your own application or their end customers reconnect.`;
  }
  const expected =
    planned?.estimate.staleHours == null ? '' : ` Expected: up to ${hoursText(planned.estimate.staleHours)}.`;
  const measured =
    longest === null || median === null ? '' : ` So far: ${hoursText(longest)} at most (median: ${hoursText(median)}).`;
  return `From the moment syncing is disabled for a company until it has been moved.${expected}${measured}`;
}

/** Returns what may be switched back on, with the number of companies where it is known. */
export function switchOnPoints({ counts, figures, ending }: ReportHead): readonly Point[] {
  const { crossed, crossingUnknown, movable } = figures;
  const notHandedOver = counts.total - crossed - crossingUnknown;
  return [
    {
      topic: 'Never',
      companies: crossed,
      text: 'companies whose access was handed over to us. If two applications use the same token, both can lose access.',
    },
    {
      topic: 'Ask first',
      companies: crossingUnknown,
      text: 'companies for which we do not know yet whether the token was used. Call the contact above.',
    },
    ...(ending === null
      ? [
          {
            topic: 'Not yet',
            companies: movable,
            text: 'companies that can still be moved.',
          },
          { topic: 'Yes', text: 'companies that were left out, unless the tables below say otherwise.' },
        ]
      : [
          {
            topic: 'Yes',
            companies: notHandedOver,
            text: 'companies whose access was not handed over to us. You may use them in your own application until their end customers reconnect to us, unless the tables below say otherwise.',
          },
        ]),
  ];
}

/** Returns what the client has to do, in order of urgency. */
export function requiredActions(head: ReportHead): readonly Point[] {
  const { counts, figures, ending } = head;
  const ended = ending !== null;
  const secret = rotationPoints(head).length > 0;
  const all: readonly (Point & { readonly companies: number })[] = [
    {
      topic: 'Send each company that must reconnect its link',
      companies: figures.mustReconnect,
      text: 'its owner opens the link and authorizes us again.',
      section: 'must-reconnect',
    },
    {
      topic: 'Look at the companies that were not moved',
      companies: counts.failed - figures.mustReconnect,
      text: 'the table says why, and what can be done.',
      section: 'not-moved',
    },
    {
      topic: 'Look at the companies that were not finished',
      companies: ended ? countOpen(counts) : 0,
      text: 'the table says in which state they are.',
      section: 'not-finished',
    },
    {
      topic: 'Remove the stored tokens of the moved companies',
      companies: ended ? counts.moved : 0,
      text: `from your own application. Do not disconnect them in ${platformOf(head)}.`,
      section: 'credentials',
    },
  ];
  const waiting = all.filter(({ companies }) => companies > 0);
  if (!ended) return waiting;
  return [
    ...waiting,
    {
      topic: 'Delete your copies of the credentials',
      text: 'exports, spreadsheets, and copies in email, chat and backups.',
      section: 'credentials',
    },
    ...(secret
      ? [
          {
            topic: 'Rotate the secret of your application',
            text: 'and give support the new one before the old one expires.',
            section: 'credentials',
          },
        ]
      : []),
  ];
}

/** Returns what happened to the credentials, and what the client should do about its own copies. */
export function credentialPoints(head: ReportHead): readonly Point[] {
  const { vaultDestroyedAt, figures } = head;
  const count = figures.credentialsLeft;
  const left = counted(count, 'credential');
  return [
    vaultDestroyedAt
      ? {
          topic: 'Destroyed',
          text:
            `the secret that decrypts the credentials supplied for this migration was erased at ${timeText(vaultDestroyedAt)}, and the credentials were deleted; ${count === 0 ? 'none is' : `${left} ${count === 1 ? 'is' : 'are'}`} left in our database. ` +
            'Encrypted copies can remain in the files, log and backups of our database. Nobody can decrypt them, not even with our master key, unless the secret was copied before it was erased.',
        }
      : {
          topic: 'Still needed',
          text: `${storedText(count)} Until the migration ends, our keys could still decrypt deleted credentials in the files, log and backups of our database. When it ends, we erase the secret needed to do so.`,
        },
    {
      topic: 'To delete on your side',
      text: 'every export and spreadsheet that contains tokens, the files that you passed to ferry, and all copies in email, chat and backups.',
    },
    ...rotationPoints(head),
    {
      topic: 'To remove on your side',
      text:
        'the stored tokens of the companies that were moved, so that nothing refreshes or revokes them. ' +
        `Do not disconnect these companies in ${platformOf(head)}, because that would end our access too.`,
    },
  ];
}

/** Returns how many credentials are stored, and when they are deleted. */
function storedText(count: number): string {
  if (count === 0) return 'none at the moment.';
  return `${counted(count, 'credential')}, stored in encrypted form. Each is deleted once its company has been moved; the others are deleted when the migration ends.`;
}

/** Returns how to rotate the client secret that was shared; empty if none was needed. */
function rotationPoints(head: ReportHead): readonly Point[] {
  const { route, ending, decisions, platformKey } = head;
  const application = decisions
    .flatMap(({ decision, outcome }) => (outcome.applied && decision.kind === 'application-supplied' ? [decision] : []))
    .at(-1);
  const platform = findPlatform(platformKey);
  if (!application && platform && !isApplicationNeeded(route, platform)) return [];
  const name = application ? ` ${application.clientId} (${application.environment})` : '';
  const secret = `the secret of your application${name} at ${platformOf(head)}`;
  // In self-service, the report cannot know whether the secret was shared, because support registers the application
  // without a decision.
  const mayBeUnshared = route === 'self-service' && !application;
  // `ferry application` needs an open migration and an administrator's key.
  const canSupply = route === 'managed' && ending === null;
  return [
    {
      topic: 'To rotate on your side',
      text:
        `${secret}, ${mayBeUnshared ? 'if you gave it to support' : 'because it was shared'} for this migration. ` +
        `The moved connections depend on it, so ${canSupply ? 'supply the new secret (with: ferry application)' : 'give support the new secret'} before the old one expires.`,
    },
  ];
}

/** A decision in the report. */
export interface DecisionRow {
  readonly when: string;
  readonly who: string;
  readonly what: string;
  /** Why it was refused; null if it was applied. */
  readonly refused: string | null;
}

export function decisionRows(head: Pick<ReportHead, 'decisions' | 'ending' | 'suppliedAt'>): readonly DecisionRow[] {
  const { year } = viewOf(head);
  return head.decisions.map(({ decision, outcome }) => ({
    when: timeText(outcome.at, year),
    who: `${decision.by} (${decision.role})`,
    what: decisionText(decision, (iso) => timeText(iso, year)),
    refused: outcome.applied ? null : outcome.text,
  }));
}
