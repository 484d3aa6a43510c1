import { z } from 'zod';

export const ConnectionSchema = z
  .object({
    id: z.uuid(),
    integrationId: z.uuid(),
    integrationKey: z.string().length(4),
    sourceId: z.uuid(),
    sourceType: z.enum(['Accounting', 'Banking', 'BankFeed', 'Commerce', 'Expense', 'Other', 'Unknown']),
    platformName: z.string(),
    linkUrl: z.url().describe('The page where the end customer authorizes the connection. The link does not expire.'),
    status: z.enum(['PendingAuth', 'Linked', 'Unlinked', 'Deauthorized']),
    created: z.iso.datetime(),
    lastSync: z.iso.datetime().optional(),
    connectionInfo: z
      .record(z.string(), z.string())
      .optional()
      .describe(
        'Information from the platform. Absent until the connection is first linked. `lastAuthorized` is the time when the platform last accepted a migrated credential or the consent of the end customer.',
      ),
    dataConnectionErrors: z.array(
      z.object({
        statusCode: z.string(),
        statusText: z.string(),
        errorMessage: z.string(),
        erroredOnUtc: z.iso.datetime(),
        status: z.enum(['Active', 'Resolved']),
      }),
    ),
  })
  .meta({ id: 'Connection' });
export type ConnectionView = z.infer<typeof ConnectionSchema>;

export const NewConnectionSchema = z.object({ platformKey: z.string() });

export const ConnectionPatchSchema = z.object({ status: z.literal('Unlinked') });

/** The schema of an authorization, whose fields depend on the platform: see `GET /integrations/{platformKey}`. */
export const AuthorizationSchema = z.record(z.string(), z.unknown());
