import { countCompanies } from '../../companies/companies';
import type { Api, ServiceContext } from '../context';
import { AccountViewSchema } from '../schemas/integration';
import { TRIAL_COMPANIES } from './companies';

export function accountRoutes(app: Api, { db }: ServiceContext): void {
  app.get(
    '/account',
    {
      schema: {
        summary: 'Read the plan and the limits of the account, and the role of the key',
        tags: ['Service'],
        response: { 200: AccountViewSchema },
      },
    },
    async ({ caller }) => {
      const { plan, role, accountId, expiresAt } = caller;
      return {
        plan,
        ...(plan === 'trial' && { companyLimit: TRIAL_COMPANIES }),
        companiesUsed: await countCompanies(db, accountId),
        ...(expiresAt && { expiresAt: expiresAt.toISOString() }),
        role,
      };
    },
  );
}
