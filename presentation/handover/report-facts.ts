/** What the handover report says of a migration as a whole, before it is Markdown or a page. */
import type { Counts } from '../../domain/companies/company-state';
import { openCompanies } from '../../domain/companies/company-state';
import type { Figures } from '../../store';
import type { Decision, Outcome } from '../../domain/migration/decision';
import { decisionText } from '../wording/decisions';
import { duration } from '../../domain/text/moments';
import type { Planned } from '../../domain/planning/estimate';
import type { Ending } from '../../domain/migration/migration-state';
import { moment } from '../../domain/text/moments';
import type { Route } from '../../platforms/platforms';
import { findPlatform } from '../../platforms/platforms';
import { counted } from '../../domain/text/sentences';

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
  readonly figures: Figures;
  readonly planned: Planned | null;
  readonly decisions: readonly { readonly decision: Decision; readonly outcome: Outcome }[];
}

/** A sentence, and what it is about: `Never (23): the service holds its grant.` */
export interface Point {
  readonly about: string;
  readonly companies?: number;
  readonly text: string;
}

export function platformOf({ platformKey }: Pick<ReportHead, 'platformKey'>): string {
  return findPlatform(platformKey)?.name ?? platformKey;
}

export function stateInWords({ ending, paused, decisions }: ReportHead): string {
  switch (ending) {
    case null:
      return paused ? 'paused: this report is preliminary' : 'under way: this report is preliminary';
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

/** Label and value, one below the other. */
export function mainFacts(head: ReportHead): readonly (readonly [label: string, value: string])[] {
  return [
    ['Client', head.client],
    ['Platform', platformOf(head)],
    ...(head.route === 'self-service' ? [['Route', 'self-service; its start confirmed every company'] as const] : []),
    ['State', stateInWords(head)],
    ['Supplied', `${moment(head.suppliedAt)} by ${head.suppliedBy}`],
    ['Whom to call', head.contact],
  ];
}

export function resultRows({ counts, figures }: ReportHead): readonly (readonly [what: string, companies: number])[] {
  return [
    ['in the manifest', counts.total],
    ['moved', counts.migrated],
    ['must connect again', figures.mustReconnect],
    ['not moved', counts.failed - figures.mustReconnect],
    ['given up', counts.skipped],
    ['left out', counts.excluded],
    ['without an outcome', openCompanies(counts)],
  ];
}

/** What, as planned, as it came. */
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

function hours(number: number): string {
  return String(Math.ceil(number * 10) / 10);
}

/** How long data is stale, in a sentence or two. */
export function staleInWords({ ending, planned, figures }: ReportHead): string {
  const { longestDarkHours: longest, medianDarkHours: median } = figures;
  const soFar =
    longest === null || median === null
      ? ''
      : `${hours(longest)}\u00a0h at most, ${hours(median)}\u00a0h in the median`;
  if (ending !== null) {
    const moved = soFar === '' ? '' : `No longer, for the companies that were moved; it was ${soFar}. `;
    return `${moved}That of companies that were not moved: until they are switched on again, or have connected again.`;
  }
  const expected = planned?.estimate.darkHours == null ? '' : ` Expected: up to ${planned.estimate.darkHours}\u00a0h.`;
  const measured = soFar === '' ? '' : ` So far: ${soFar}.`;
  return `From the moment a company's syncing is disabled until it is moved.${expected}${measured}`;
}

/** What may be switched on again, by how many companies that is said of. */
export function switchOnPoints({ counts, figures, ending }: ReportHead): readonly Point[] {
  const { crossed, crossingUnknown } = figures;
  const others = counts.total - crossed - crossingUnknown;
  return [
    {
      about: 'Never',
      companies: crossed,
      text: 'the service holds its grant. A token that two applications use can end for both.',
    },
    {
      about: 'Ask first',
      companies: crossingUnknown,
      text: 'whether its token was used is not known yet. Call the contact above.',
    },
    ...(ending === null
      ? [
          {
            about: 'Not yet',
            companies: others - counts.excluded - counts.skipped,
            text: 'it may still be moved.',
          },
          { about: 'Yes', text: 'what was left out or given up, unless its line says otherwise.' },
        ]
      : [
          {
            about: 'Yes',
            companies: others,
            text: 'the service holds no grant of it. In your own application it goes on as before, as long as its token is good there; one that must connect again does so until then.',
          },
        ]),
  ];
}

/** What became of the credentials, and what the client should do about its own. */
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
          about: 'Destroyed',
          text: `every credential supplied for this migration, and the key that opened them, was destroyed at ${moment(vaultDestroyedAt)}; ${figures.credentialsLeft === 0 ? 'none is' : left} left.`,
        }
      : { about: 'Still needed', text: `${left}, kept encrypted: destroyed when the migration ends.` },
    {
      about: 'To destroy on your side',
      text: 'every export and spreadsheet of tokens, the files that were given to ferry, and their copies in mails, chats and backups.',
    },
    {
      about: 'To rotate on your side',
      text:
        `the secret of your application${named} at ${platformOf(head)}, wherever it was written down on the way. ` +
        'The connections that were moved need it: give a new one to the service (ferry application) before the old one ends.',
    },
    {
      about: 'To remove on your side',
      text:
        'the stored tokens of the companies that were moved, so that nothing refreshes or ' +
        "revokes them. Nobody presses Disconnect: that ends the service's access too.",
    },
  ];
}

/** A decision as the report lists it. */
export interface Decided {
  readonly when: string;
  readonly who: string;
  readonly what: string;
  /** Why it was refused; null: it was not. */
  readonly refused: string | null;
}

export function decisionsMade({ decisions }: Pick<ReportHead, 'decisions'>): readonly Decided[] {
  return decisions.map(({ decision, outcome }) => ({
    when: moment(outcome.at),
    who: `${decision.by} (${decision.role})`,
    what: decisionText(decision),
    refused: outcome.applied ? null : outcome.text,
  }));
}
