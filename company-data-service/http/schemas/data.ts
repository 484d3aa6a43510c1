import { z } from 'zod';

export const PullOperationSchema = z
  .object({
    id: z.uuid(),
    companyId: z.uuid(),
    connectionId: z.uuid(),
    dataType: z.string(),
    status: z.string(),
    statusDescription: z.string().nullable(),
    errorMessage: z.string().nullable(),
    requested: z.iso.datetime(),
    completed: z.iso.datetime().optional(),
    progress: z.number().int().min(0).max(100),
    isCompleted: z.boolean(),
    isErrored: z.boolean(),
  })
  .meta({ id: 'PullOperation' });
export type PullOperationView = z.infer<typeof PullOperationSchema>;

export const DataStatusSchema = z.record(
  z.string(),
  z.object({
    dataType: z.string(),
    currentStatus: z.string(),
    lastSuccessfulSync: z.iso.datetime().optional(),
    latestSyncId: z.uuid().optional(),
    latestSuccessfulSyncId: z.uuid().optional(),
  }),
);
export type DataStatusView = z.infer<typeof DataStatusSchema>;

/** The schema of a record. Its other fields depend on the data type. */
export const RecordSchema = z.looseObject({ id: z.string(), modifiedDate: z.iso.datetime() });
