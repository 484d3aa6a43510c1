/**
 * Schemas of the service's responses, from which their types are inferred.
 *
 * The schemas are lenient. Unknown fields are dropped, and a field is required only if the orchestrator cannot work
 * without it, because most fields are optional in the specification.
 */
import { z } from 'zod';
import { redactErrorText } from '../security/redaction';

/** Returns the schema of an optional field. A missing field and `null` both parse to undefined. */
const optional = <S extends z.ZodType>(schema: S) =>
  z
    .nullish(schema)
    .transform((value) => value ?? undefined)
    .optional();

const text = optional(z.string());
/** An error text of the service or a platform, redacted because it can quote the request. */
const errorText = optional(z.string().transform((value) => redactErrorText(value)));
/** A date and time, as ISO 8601. A text that is not a date parses to undefined. */
const moment = optional(z.string()).transform((value) => {
  const at = new Date(value ?? '');
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
});
const tags = optional(z.record(z.string(), z.string()));
/** The organization of a linked connection, according to the platform: `organizationId`, `organizationName`. */
const info = optional(z.record(z.string(), z.string()));

/** An error of a connection. `statusText` is its code: `GrantRefused`, `ApplicationRefused`, ... */
const connectionErrorSchema = z.object({
  statusCode: optional(z.coerce.string()),
  statusText: text,
  errorMessage: errorText,
  erroredOnUtc: text,
  status: text,
});

/**
 * A connection. If its status is `PendingAuth` or `Deauthorized`, the end customer has to authorize it at `linkUrl`.
 */
export const connectionSchema = z.object({
  id: z.string().min(1),
  integrationKey: text,
  platformName: text,
  linkUrl: text,
  status: z.enum(['PendingAuth', 'Linked', 'Unlinked', 'Deauthorized']),
  created: text,
  lastSync: text,
  connectionInfo: info,
  dataConnectionErrors: z.nullish(z.array(connectionErrorSchema)).transform((errors) => errors ?? []),
});
export type Connection = z.infer<typeof connectionSchema>;

export const companySchema = z.object({
  id: z.string().min(1),
  /** The name as stored. The service removes characters that it does not allow. */
  name: z.string(),
  redirect: text,
  description: text,
  created: text,
  lastSync: text,
  tags,
  /** Summary of the company's connections, so that they need not be read individually. */
  dataConnections: optional(z.array(z.object({ integrationKey: text, status: text, connectionInfo: info }))),
});
export type Company = z.infer<typeof companySchema>;

export const integrationSchema = z.object({
  key: z.string().min(1),
  name: z.string(),
  enabled: z.boolean(),
  sourceType: text,
  /** The redirect URI that the client has to add to its application at the platform. */
  callbackUrl: text,
  /** The account's application, without its secret. Null if none is registered, absent if the service omits it. */
  application: z.object({ clientId: z.string(), environment: z.string() }).nullish(),
});
export type Integration = z.infer<typeof integrationSchema>;

export const accountSchema = z.object({
  plan: z.string(),
  role: z.string(),
  companyLimit: optional(z.number()),
  companiesUsed: optional(z.number()),
  /** When a trial or free account expires. */
  expiresAt: moment,
});
export type Account = z.infer<typeof accountSchema>;

/** A sync of one data set. `isCompleted` means that it has succeeded, `isErrored` that it has failed. */
export const pullOperationSchema = z.object({
  id: z.string().min(1),
  dataType: z.string(),
  status: z.string(),
  statusDescription: errorText,
  errorMessage: errorText,
  requested: z.string(),
  completed: text,
  progress: optional(z.number()),
  isCompleted: z.boolean(),
  isErrored: z.boolean(),
});
export type PullOperation = z.infer<typeof pullOperationSchema>;

/** Status of each data set of a company. `currentStatus`: `Queued`, `Fetching`, `Complete`, `FetchError`, ... */
export const dataStatusSchema = z.record(
  z.string(),
  z.object({
    dataType: z.string(),
    currentStatus: z.string(),
    lastSuccessfulSync: text,
    latestSyncId: text,
    latestSuccessfulSyncId: text,
  }),
);
export type DataStatus = z.infer<typeof dataStatusSchema>;

/** `syncSchedule` is the interval in hours; 0 means never. */
const syncSettingSchema = z.object({
  dataType: z.string(),
  fetchOnFirstLink: z.boolean(),
  syncSchedule: z.number(),
  syncOrder: z.number(),
});

export const syncSettingsSchema = z.object({
  settings: z.array(syncSettingSchema),
  overridesDefaults: z.boolean(),
});
export type SyncSettings = z.infer<typeof syncSettingsSchema>;

/**
 * The push of a record to a platform. `statusCode` is the status of the operation, `providerStatusCode` the latest
 * status from the platform.
 */
export const pushOperationSchema = z.object({
  pushOperationKey: z.string().min(1),
  dataConnectionKey: text,
  dataType: text,
  status: z.enum(['Pending', 'Failed', 'Success', 'TimedOut']),
  statusCode: optional(z.number()),
  providerStatusCode: optional(z.number()),
  requestedOnUtc: text,
  completedOnUtc: text,
  errorMessage: errorText,
});
export type PushOperation = z.infer<typeof pushOperationSchema>;

/** A record of a data set: an invoice, a bill, ... Fields that are not listed are kept. */
const recordSchema = z.looseObject({ id: z.string(), modifiedDate: text });
export type DataRecord = z.infer<typeof recordSchema>;

const link = optional(z.object({ href: z.string() }));

/** Returns the schema of one page of a list. */
const pageOf = <S extends z.ZodType>(result: S) =>
  z.object({
    results: z.array(result),
    pageNumber: optional(z.number().int()),
    pageSize: optional(z.number().int()),
    /** Number of results on all pages, after filtering. */
    totalResults: z.number().int().nonnegative(),
    _links: z.object({ self: link, current: link, next: link, previous: link }),
  });
export type Page<T> = Omit<z.infer<ReturnType<typeof pageOf>>, 'results'> & { results: T[] };

export const companyPageSchema = pageOf(companySchema);
export const connectionPageSchema = pageOf(connectionSchema);
export const integrationPageSchema = pageOf(integrationSchema);
export const pullOperationPageSchema = pageOf(pullOperationSchema);
export const pushOperationPageSchema = pageOf(pushOperationSchema);
export const recordPageSchema = pageOf(recordSchema);

/**
 * The service's error body (section 2.3 of the specification). A body that lacks one of the first four fields was not
 * sent by the service.
 */
export const errorBodySchema = z.object({
  statusCode: z.number(),
  error: z.string(),
  service: z.string().min(1),
  correlationId: z.guid(),
  validation: optional(z.object({ errors: z.array(z.object({ message: z.string() })) })).catch(undefined),
});
