/** A migration in step 1 for which no application was supplied, while another client's application is registered. */
import { dependentFindings } from '../../../domain/preflight/dependents';
import { preflight, stateAt } from '../../support/migrations/migration-states';

const application = { clientId: 'the-app-of-bee', environment: 'production' };
const bee = { migrationId: 'bee.quickbooks-online', client: 'bee', hasEnded: true, application, companies: 24 };
const [finding] = dependentFindings(application, { client: 'acme', supplied: null, others: [bee] }, true);

export const OTHER_CLIENTS_APPLICATION = stateAt('supply-details', {
  preflight: {
    ...preflight({ warnings: [finding?.message ?? ''], warningAdvice: [finding?.advice ?? ''] }),
    clientWarnings: [finding?.clientMessage ?? ''],
    application: { ...application, suppliedBy: null },
  },
});
