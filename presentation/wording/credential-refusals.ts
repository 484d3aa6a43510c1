/**
 * Why a credential that comes through the portal is not stored, in the client's words. Each text is a clause that can
 * explain the refusal of one credential or of several.
 */
import type { CompanyState } from '../../domain/companies/company-state';

export const NO_SUCH_COMPANY = 'the manifest has no company with this reference';
export const DUPLICATE = 'the file contains this reference more than once';
export const NOT_CONFIRMED = 'you have not confirmed that syncing is off for the company';
export const TOO_EARLY =
  'credentials that were obtained before you confirmed that syncing is off might no longer work; export the credentials again';

/**
 * Returns why the state of a company accepts no credential, in the client's words.
 *
 * @param replaces true for new credentials of companies that were not moved
 */
export function wrongStateText(state: CompanyState, replaces: boolean): string {
  switch (state) {
    case 'moved':
      return 'the company has already moved, so it needs no credential';
    case 'importing':
    case 'syncing':
      return 'the company is being moved now';
    case 'skipped':
    case 'excluded':
      return 'the company was left out of the migration';
    case 'waiting':
      return replaces
        ? 'the company is still waiting to be moved; to replace its stored credential, use "Supply credentials" on the page, or the command "credentials" of ferry --portal'
        : CHANGED;
    case 'failed':
    case 'outcome-unknown':
      return replaces
        ? CHANGED
        : 'the move of the company has already been tried; to supply a new credential, replace the stored credential';
  }
}

const CHANGED = 'the state of the company has just changed; try again';
