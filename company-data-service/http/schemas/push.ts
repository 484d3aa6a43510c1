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
    statusCode: z
      .number()
      .int()
      .describe('Status of the operation: 202 while it is pending, 200 on success, otherwise the status of the error.'),
    providerStatusCode: z.number().int().optional().describe('Status code of the latest response from the platform.'),
    changes: z.array(
      z.object({ type: z.literal('Created'), recordRef: z.object({ id: z.string(), dataType: z.string() }) }),
    ),
    errorMessage: z.string().optional(),
  })
  .meta({ id: 'PushOperation' });
export type PushOperationView = z.infer<typeof PushOperationSchema>;

/** The schema of a pushed record, whose fields depend on the data type. */
export const PushedRecordSchema = z.record(z.string(), z.unknown());
