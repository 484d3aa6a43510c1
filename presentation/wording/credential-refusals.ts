/**
 * Why a credential that comes through the portal is not stored, in the client's words. Each text is a clause that can
 * explain the refusal of one credential or of several.
 */
import type { CompanyState } from '../../domain/companies/company-state';

export const NO_SUCH_COMPANY =
  'no company of the manifest has the same reference; if the reference is wrong, correct it in the file';
export const DUPLICATE = 'the file contains the same reference more than once';
export const NOT_CONFIRMED = 'you have not confirmed that syncing is off; confirm that first';
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
      return 'a company that has moved needs no credential';
    case 'importing':
    case 'syncing':
      return 'a company that is being moved accepts no credential';
    case 'skipped':
    case 'excluded':
      return 'a company that was left out needs no credential';
    case 'waiting':
      return replaces
        ? `a company that is waiting to be moved needs no replacement; use "Supply credentials" on the page, or run: ferry --portal '<link>' credentials '<file>'`
        : CHANGED;
    case 'failed':
    case 'outcome-unknown':
      return replaces
        ? CHANGED
        : `a company that was tried needs a replacement; use "Replace credentials" on the page, or run: ferry --portal '<link>' replace-credential '<file>'`;
  }
}

const CHANGED = 'the state of a company changed while its credential was being stored; supply the credential again';
