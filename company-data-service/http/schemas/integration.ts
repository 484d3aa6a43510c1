import { z } from 'zod';

/** No platform has longer ids and secrets. */
const MAX_TEXT = 1_000;

export const ApplicationBodySchema = z.object({
  clientId: z.string().min(1).max(MAX_TEXT),
  clientSecret: z.string().min(1).max(MAX_TEXT),
  environment: z.enum(['production', 'sandbox']),
});

/** An application without its secret, which is never shown. */
export const ApplicationSchema = ApplicationBodySchema.omit({ clientSecret: true });

export const IntegrationSchema = z
  .object({
    key: z.string().length(4),
    logoUrl: z.url(),
    name: z.string(),
    enabled: z.boolean(),
    sourceType: z.enum(['Accounting', 'Banking', 'BankFeed', 'Commerce', 'Expense', 'Other', 'Unknown']),
    migrationRoutes: z.array(z.enum(['managed', 'self-service'])),
    authorizationFields: z.array(z.object({ name: z.string(), required: z.boolean() })),
    callbackUrl: z
      .url()
      .describe(
        'Add this redirect URI to the application that you registered with the platform. After consent, the platform ' +
          'opens the URI in the browser of the end customer. The URI is not an operation of this API, and the sandbox ' +
          'does not serve it.',
      ),
    application: ApplicationSchema.nullable().describe(
      'The account’s own application, without its secret. Null if no application is registered.',
    ),
  })
  .meta({ id: 'Integration' });
export type IntegrationView = z.infer<typeof IntegrationSchema>;

export const AccountViewSchema = z
  .object({
    plan: z.enum(['trial', 'free', 'paid']),
    companyLimit: z.number().int().optional().describe('Absent if there is no limit.'),
    companiesUsed: z.number().int(),
    expiresAt: z.iso.datetime().optional().describe('Absent if the account does not expire.'),
    role: z.enum(['client', 'administrator']),
  })
  .meta({ id: 'Account' });
