/**
 * The remedies for a company, and who can apply them. The page and `ferry --portal` take their advice from here. They
 * advise the client only to make decisions that it can make now, so that each piece of advice has a button or a
 * command.
 */
import type { Remedy } from '../../domain/companies/remedies';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { REPLACED_PROBLEM } from '../../domain/preflight/applications';
import { counted } from '../../domain/text/sentences';
import type { Route } from '../../platforms/platforms';
import type { MigrationView } from '../contract/migration-view';
import type { Action, Company } from './api';

interface Help {
  /** The client's decision. */
  readonly message: DecisionMessage;
  /** The text of the button; null for the decision's own title. */
  readonly title: string | null;
  /** Follows "You can" or "The client can". */
  readonly client: string;
  /** Follows "Support can", in the managed route; null if the remedy is left to the client. */
  readonly support: string | null;
}

const HELP: Readonly<Record<Remedy, Help>> = {
  retry: { message: 'retry', title: 'Try again', client: 'try again', support: 'try again' },
  relink: {
    ...{ message: 'relink', title: 'Wait for the reconnection' },
    client: 'let the migration check the company again once the end customer has reconnected it',
    support: 'let the migration check the company again once the end customer has reconnected it',
  },
  'replace-credential': {
    ...{ message: 'replaceCredential', title: 'Replace the credential' },
    ...{ client: 'replace the stored credential with a new credential', support: null },
  },
  credentials: {
    ...{ message: 'credentialsSupplied', title: 'Supply a credential' },
    ...{ client: 'supply a credential', support: null },
  },
  application: {
    ...{ message: 'applicationSupplied', title: null },
    client: 'supply the application that obtained the credential, if no company has moved with another application',
    support:
      'register the application that obtained the credential, if no company has moved with another application, and then try the company again',
  },
  amend: {
    ...{ message: 'manifestSupplied', title: null },
    client: 'replace the manifest with a corrected one',
    support: 'correct the manifest, if you send the correct row',
  },
  skip: { message: 'skip', title: 'Give up', client: 'give up on the company', support: 'give up on the company' },
  exclude: { message: 'exclude', title: 'Leave out', client: 'leave the company out', support: null },
};

/** The actions of the contact in the self-service route, in which only the client decides about its companies. */
const CONTACT_HELP: Readonly<Partial<Record<Remedy, string>>> = {
  application:
    'register the application that obtained the credential, if no company has moved with another application, so that you can try the company again',
  amend: 'correct the manifest, if you send the correct row',
};

/** Who tries a company again once the client has supplied its application. */
const NEXT_TRY = {
  managed: ', so that support can try the company again',
  'self-service': ', and then try the company again',
} as const satisfies Record<Route, string>;

/** A decision of the client that can help a company. */
export interface OfferedRemedy {
  readonly remedy: Remedy;
  readonly action: Action;
  /** True if the decision is about companies, false if it is about the whole migration. */
  readonly namesCompanies: boolean;
  readonly advice: string;
}

/** Returns the decisions that the client can make now about a company with these remedies, the most promising first. */
export function offeredRemedies(
  { actions, isRotating, route }: Pick<MigrationView, 'actions' | 'isRotating' | 'route'>,
  remedies: readonly string[],
): readonly OfferedRemedy[] {
  return known(remedies).flatMap((remedy) => {
    const { message, title, client } = HELP[remedy];
    const offered = actions.find((action) => action.message === message);
    if (offered === undefined) return [];
    const isSupply = remedy === 'credentials' || remedy === 'replace-credential';
    const exported = isSupply && isRotating ? ' that was exported after the confirmation that syncing is off' : '';
    const advice = client + (remedy === 'application' ? NEXT_TRY[route] : exported);
    return [{ remedy, action: { ...offered, title: title ?? offered.title }, namesCompanies: title !== null, advice }];
  });
}

/**
 * Returns, in whole sentences, how others can help a company: its end customer, and support or, in the self-service
 * route, the contact.
 */
export function otherHelp(
  view: Pick<MigrationView, 'actions' | 'isRotating' | 'route'>,
  { remedies, linkUrl }: { readonly remedies: readonly string[]; readonly linkUrl: string | null },
): readonly string[] {
  const own = offeredRemedies(view, remedies).map(({ remedy }) => remedy);
  const isSelfService = view.route === 'self-service';
  const help = known(remedies)
    .filter((remedy) => !own.includes(remedy))
    .flatMap((remedy) => (isSelfService ? CONTACT_HELP[remedy] : HELP[remedy].support) ?? []);
  return [
    ...(linkUrl === null ? [] : ['The end customer can reconnect the company on the reconnect page.']),
    ...(help.length === 0 ? [] : [`${isSelfService ? 'Your contact' : 'Support'} can: ${help.join('; ')}.`]),
  ];
}

const known = (remedies: readonly string[]): readonly Remedy[] =>
  remedies.filter((remedy): remedy is Remedy => Object.hasOwn(HELP, remedy));

/**
 * Returns whether a company lacks only a usable credential. The remedy `exclude` shows that the company is waiting, and
 * the remedy `amend` that it is held back.
 */
export function lacksCredential({ state, confirmedAt, hasCredential, remedies }: Company): boolean {
  const isWaiting = state === 'not-moved-yet' && remedies.includes('exclude');
  return isWaiting && confirmedAt !== null && !hasCredential && !remedies.includes('amend');
}

/**
 * Returns whether the file with all reconnect links contains a company (`needsLink` in
 * `domain/companies/company-state.ts`). A company that was not moved for another reason can also have a link.
 */
export function isInReconnectLinks({ state, problem, linkUrl }: Company): boolean {
  return linkUrl !== null && (state === 'must-reconnect' || (problem?.includes(REPLACED_PROBLEM) ?? false));
}

/**
 * Returns the text for a migration without exceptions. Companies that only lack a credential, or that will be tried
 * again without being deferred, do not count as exceptions, so the text gives their number until the migration has
 * ended.
 */
export function noExceptionsText({ counts, next }: Pick<MigrationView, 'counts' | 'next'>): string {
  // Once the migration has ended, `next` is null, and no credential can be supplied.
  if (next === null) return 'No company needs attention.';
  const { withoutCredential, retried = 0 } = counts;
  const again =
    retried === 0 ? '' : ` ${counted(retried, 'company')} ${retried === 1 ? 'is' : 'are'} waiting to be tried again.`;
  if (withoutCredential === 0) return `No company needs attention now.${again}`;
  const lacking = counted(withoutCredential, 'company');
  return `No company has failed, but ${lacking} with syncing off ${withoutCredential === 1 ? 'has' : 'have'} no usable credential.${again}`;
}
