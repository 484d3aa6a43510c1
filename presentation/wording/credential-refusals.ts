/** Why a credential that comes through the portal is not stored, as clauses about one or more credentials. */
export const NO_SUCH_COMPANY = 'the manifest has no company with this reference';
export const DUPLICATE = 'the file contains this reference more than once';
export const NOT_CONFIRMED = 'you have not confirmed that syncing is off for the company';
export const TOO_EARLY =
  'credentials that were obtained before you confirmed that syncing is off may no longer work; export them again';
