/** The portal's API, called by its own page: the session is in a cookie. */
import { createPortalApi } from '../client/api';

export const {
  readSession,
  readMigration,
  endSession,
  redeem,
  signInAgain,
  startIdentity,
  finishIdentity,
  readCompanies,
  eachCompany,
  submit,
} = createPortalApi({
  origin: '',
  headers: { 'x-tokenferry-portal': '1' },
  unreachable: () => 'The portal cannot be reached. Check your connection.',
});
