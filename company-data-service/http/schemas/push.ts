import { z } from 'zod';

export const PushOperationSchema = z
  .object({
    companyId: z.uuid(),
    pushOperationKey: z.uuid(),
    dataConnectionKey: z.uuid(),
    dataType: z.string(),
    requestedOnUtc: z.iso.datetime(),
    completedOnUtc: z.iso.datetime().optional(),
    status: z.enum(['Pending', 'Failed', 'Success', 'TimedOut']),
    statusCode: z.number().int().describe('of the operation: 202 while it is pending, 200 on success'),
    providerStatusCode: z.number().int().optional().describe('what the platform answered last'),
    changes: z.array(
      z.object({ type: z.literal('Created'), recordRef: z.object({ id: z.string(), dataType: z.string() }) }),
    ),
    errorMessage: z.string().optional(),
  })
  .meta({ id: 'PushOperation' });
export type PushOperationView = z.infer<typeof PushOperationSchema>;

/** Its fields depend on the data type. */
export const PushedRecordSchema = z.record(z.string(), z.unknown());
