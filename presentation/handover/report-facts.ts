/** The facts of the handover report about the migration as a whole. Markdown and HTML show the same ones. */
import type { Counts } from '../../domain/companies/company-state';
import { openCompanies } from '../../domain/companies/company-state';
import type { ReportFigures } from '../../store';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { decisionText } from '../wording/decisions';
import type { Planned } from '../../domain/planning/estimate';
import type { Ending } from '../../domain/migration/migration-state';
import { duration, moment, counted } from '../../domain/text/sentences';
import type { Route } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';

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
  readonly planned: Planned | null;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
}

/** A sentence with its topic and the number of companies: `Never (23): we have access to it now.` */
export interface Point {
  readonly topic: string;
  readonly companies?: number;
  readonly text: string;
}

export function platformOf({ platformKey }: Pick<ReportHead, 'platformKey'>): string {
  return findPlatform(platformKey)?.name ?? platformKey;
}

export function stateText({ ending, paused, decisions }: ReportHead): string {
  switch (ending) {
    case null:
      return paused ? 'paused: this report is preliminary' : 'in progress: this report is preliminary';
    case 'completed':
      return 'completed';
    case 'cancelled':
    case 'abandoned': {
      const last = decisions.findLast(({ decision, outcome }) => outcome.applied && ends(decision));
      if (!last) return ending;
      const { by, role, reason } = last.decision;
      return `${ending} by ${by} (${role})${reason === undefined ? '' : `: ${reason}`}`;
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
      ? [['Route', 'self-service: its start confirmed syncing off for every company'] as const]
      : []),
    ['State', stateText(head)],
    ['Supplied', `${moment(head.suppliedAt)} by ${head.suppliedBy}`],
    ['Who to call', head.contact],
  ];
}

export function resultRows({ counts, figures }: ReportHead): readonly (readonly [what: string, companies: number])[] {
  return [
    ['in the manifest', counts.total],
    ['moved', counts.migrated],
    ['must reconnect', figures.mustReconnect],
    ['not moved', counts.failed - figures.mustReconnect],
    ['given up', counts.skipped],
    ['left out', counts.excluded],
    ['not finished', openCompanies(counts)],
  ];
}

/** Returns rows of a label, the planned and the actual value. */
export function timeRows({ planned, figures, closedAt }: ReportHead): readonly (readonly [string, string, string])[] {
  const { firstStartedAt, lastMovedAt, longestDarkHours, medianDarkHours } = figures;
  const at = (iso: string | null | undefined): string => (iso ? moment(iso) : '');
  const expected = planned?.estimate;
  const took = firstStartedAt && lastMovedAt ? duration(Date.parse(lastMovedAt) - Date.parse(firstStartedAt)) : '';
  const dark =
    longestDarkHours === null || medianDarkHours === null
      ? ''
      : `${hours(longestDarkHours)} at most, median ${hours(medianDarkHours)}`;
  return [
    ['first company started', at(planned?.startAt), at(firstStartedAt)],
    [
      'last company moved',
      expected?.ends ? `${moment(expected.ends.earliest)} to ${moment(expected.ends.latest)}` : '',
      at(lastMovedAt),
    ],
    [
      'duration',
      expected ? `${duration(expected.lowMs)} to ${duration(expected.highMs)} within the windows` : '',
      took,
    ],
    ['hours without fresh data', expected?.darkHours == null ? '' : `up to ${expected.darkHours}`, dark],
    ['closed', '', at(closedAt)],
  ];
}

/** Rounds up to a tenth, because the text says "at most". */
function hours(number: number): string {
  return String(Math.ceil(number * 10) / 10);
}

/** Returns `6 minutes` or `6.3 hours`, rounded up. */
function hoursText(number: number): string {
  return number < 1 ? counted(Math.ceil(number * 60), 'minute') : counted(Math.ceil(number * 10) / 10, 'hour');
}

/** Returns how long data is out of date, in one or two sentences. */
export function outOfDateText({ ending, planned, figures }: ReportHead): string {
  const { longestDarkHours: longest, medianDarkHours: median } = figures;
  if (ending !== null) {
    const moved =
      longest === null || median === null
        ? ''
        : `Up to date again for all moved companies. They were out of date for ${hoursText(longest)} at most (median ${hoursText(median)}). `;
    return `${moved}Companies that were not moved stay out of date until you switch them on again or their owners reconnect.`;
  }
  const expected =
    planned?.estimate.darkHours == null ? '' : ` Expected: up to ${hoursText(planned.estimate.darkHours)}.`;
  const measured =
    longest === null || median === null ? '' : ` So far: ${hoursText(longest)} at most (median ${hoursText(median)}).`;
  return `From the moment a company's syncing is disabled until it is moved.${expected}${measured}`;
}

/** Returns what may be switched on again, each answer with the number of companies it applies to. */
export function switchOnPoints({ counts, figures, ending }: ReportHead): readonly Point[] {
  const { crossed, crossingUnknown } = figures;
  const others = counts.total - crossed - crossingUnknown;
  return [
    {
      topic: 'Never',
      companies: crossed,
      text: 'we have access to it now. If two applications use the same token, both can lose access.',
    },
    {
      topic: 'Ask first',
      companies: crossingUnknown,
      text: 'we do not know yet whether its token was used. Call the contact above.',
    },
    ...(ending === null
      ? [
          {
            topic: 'Not yet',
            companies: others - counts.excluded - counts.skipped,
            text: 'it can still be moved.',
          },
          { topic: 'Yes', text: 'companies that were left out or given up, unless their line below says otherwise.' },
        ]
      : [
          {
            topic: 'Yes',
            companies: others,
            text: 'we have no access to it. You may keep using it in your own app until its owner reconnects here.',
          },
        ]),
  ];
}

/** Returns what happened to the credentials, and what the client should do about its own copies. */
export function credentialPoints(head: ReportHead): readonly Point[] {
  const { vaultDestroyedAt, figures, decisions } = head;
  const application = decisions
    .flatMap(({ decision, outcome }) => (outcome.applied && decision.kind === 'application-supplied' ? [decision] : []))
    .at(-1);
  const named = application ? ` ${application.clientId} (${application.environment})` : '';
  const left = counted(figures.credentialsLeft, 'credential');
  return [
    vaultDestroyedAt
      ? {
          topic: 'Destroyed',
          text: `all credentials supplied for this migration, and the key that decrypts them, were destroyed at ${moment(vaultDestroyedAt)}; ${figures.credentialsLeft === 0 ? 'none is' : left} left.`,
        }
      : { topic: 'Still needed', text: `${left}, encrypted. They are destroyed when the migration ends.` },
    {
      topic: 'To delete on your side',
      text: 'every export and spreadsheet with tokens, the files you gave to ferry, and all copies in email, chat and backups.',
    },
    {
      topic: 'To rotate on your side',
      text:
        `the secret of your application${named} at ${platformOf(head)}, because it was shared for this migration. ` +
        'The moved connections need it: supply the new secret (ferry application) before the old one expires.',
    },
    {
      topic: 'To remove on your side',
      text:
        'the stored tokens of the companies that were moved, so that nothing refreshes or revokes them. ' +
        `Do not press Disconnect in ${platformOf(head)}: it would end our access too.`,
    },
  ];
}

/** A decision as the report lists it. */
export interface DecisionRow {
  readonly when: string;
  readonly who: string;
  readonly what: string;
  /** Why it was refused; null: it was not. */
  readonly refused: string | null;
}

export function decisionRows({ decisions }: Pick<ReportHead, 'decisions'>): readonly DecisionRow[] {
  return decisions.map(({ decision, outcome }) => ({
    when: moment(outcome.at),
    who: `${decision.by} (${decision.role})`,
    what: decisionText(decision),
    refused: outcome.applied ? null : outcome.text,
  }));
}
