/** What can be done about a company that is not moved: the one table that lists, the report and refusals ask. */
import type { CompanyState } from './company-state';
import type { FailureKind } from './failures';

/** Each is a command of `ferry` of this name. */
export type Remedy = 'retry' | 'relink' | 'replace-credential' | 'skip' | 'amend' | 'exclude';

/** As much of a company as decides about it. */
export interface Remediable {
  readonly state: CompanyState;
  readonly failure: FailureKind | null;
  /** Where its end customer can connect again. */
  readonly linkUrl: string | null;
  /** What the check of the details found wrong with it. */
  readonly heldBack: string | null;
}

/** Everything that can be done about it, the likeliest to help first. None: nothing can or has to be done. */
export function remediesFor({ state, failure, linkUrl, heldBack }: Remediable): readonly Remedy[] {
  const relink: readonly Remedy[] = linkUrl === null ? [] : ['relink'];
  switch (state) {
    case 'failed':
      return [...remediesForFailure(failure, relink), 'skip'];
    case 'outcome-unknown':
      return ['retry', ...relink, 'replace-credential', 'skip'];
    case 'waiting':
      return heldBack === null ? ['exclude'] : ['amend', 'exclude'];
    case 'importing':
    case 'syncing':
    case 'migrated':
    case 'skipped':
    case 'excluded':
      return [];
  }
}

function remediesForFailure(failure: FailureKind | null, relink: readonly Remedy[]): readonly Remedy[] {
  switch (failure) {
    case 'reauthorization-required':
      return [...relink, 'replace-credential', 'retry'];
    case 'wrong-organization':
      return ['replace-credential', ...relink, 'retry'];
    case 'credential-unreadable':
      return ['replace-credential', 'retry'];
    case 'refused':
    case 'incomplete':
    case 'sync-failed':
    case 'sync-timed-out':
    case null:
      return ['retry', 'replace-credential'];
  }
}

/** What it does, for whoever chooses it. */
export function remedyText(remedy: Remedy): string {
  switch (remedy) {
    case 'retry':
      return 'move it again, or only sync and check it again where its credential was accepted already';
    case 'relink':
      return 'its end customer connects again with the link, and it is checked then';
    case 'replace-credential':
      return 'the client obtains a new credential, and it is moved with that';
    case 'skip':
      return 'give it up';
    case 'amend':
      return 'correct its row of the manifest';
    case 'exclude':
      return 'leave it out';
  }
}
