/**
 * Schemas of the service's responses, from which their types are inferred.
 *
 * The schemas are lenient. Unknown fields are dropped, except those of records. A field is required only if the
 * orchestrator cannot work without it, because most fields are optional in the specification.
 */
import { z } from 'zod';
import { redactCredentials, redactErrorText } from '../security/redaction';

/** Returns the schema of an optional field. A missing field and `null` both parse to undefined. */
const optional = <S extends z.ZodType>(schema: S) =>
  z
    .nullish(schema)
    .transform((value) => value ?? undefined)
    .optional();

/** An id, which becomes part of paths and is stored in the ledger. */
const id = z.guid();
/** The name of a data set, which becomes part of paths. */
const dataType = z.string().regex(/^[\w-]{1,100}$/);
/** Maximum length of a text, in characters. The service's longest text, a description, has 1,000. */
const MAX_TEXT_LENGTH = 10_000;
/** The largest number that a column of type `integer` holds. */
const MAX_INTEGER = 2 ** 31 - 1;
/**
 * Text that is compared with other values, so it is changed only if it is too long, or if it contains control
 * characters, half a surrogate pair or a credential in a known form.
 */
const comparedText = z
  .string()
  .transform((value) => redactCredentials(value.slice(0, MAX_TEXT_LENGTH).replace(/[\p{Cc}\p{Cs}]+/gu, ' ')));
const text = optional(comparedText);
/** A text that people read, redacted because the service or a platform can quote a credential in it. */
const shownText = optional(z.string().transform((value) => redactErrorText(value)));
/** An address that people open. Anything but an http or https URL parses to undefined. */
const link = optional(z.string().max(MAX_TEXT_LENGTH).pipe(comparedText).catch('')).transform((value) =>
  value !== undefined && isWebAddress(value) ? value : undefined,
);
/** A date and time, as ISO 8601. A text that is not a date parses to undefined. */
const moment = optional(z.string()).transform((value) => {
  const at = new Date(value ?? '');
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
});
const tags = optional(z.record(z.string(), z.string()));
/**
 * The organization of a connection that has been linked, according to the platform (`organizationId`,
 * `organizationName`), and when the connection was last authorized (`lastAuthorized`, ISO 8601; absent if the service
 * does not say it).
 */
const info = optional(
  z.record(z.string(), comparedText).transform((fields) => {
    const { organizationName } = fields;
    return organizationName === undefined ? fields : { ...fields, organizationName: redactErrorText(organizationName) };
  }),
);

/** An error of a connection. `statusText` is its code: `GrantRefused`, `ApplicationRefused`, ... */
const connectionErrorSchema = z.object({
  statusCode: optional(z.coerce.string()),
  statusText: shownText,
  errorMessage: shownText,
  erroredOnUtc: text,
  status: text,
});

/**
 * A connection. If its status is `PendingAuth` or `Deauthorized`, it has to be authorized: with a credential, or by the
 * end customer at `linkUrl`.
 */
export const connectionSchema = z.object({
  id,
  integrationKey: text,
  platformName: shownText,
  linkUrl: link,
  status: z.enum(['PendingAuth', 'Linked', 'Unlinked', 'Deauthorized']),
  created: text,
  lastSync: text,
  connectionInfo: info,
  dataConnectionErrors: z.nullish(z.array(connectionErrorSchema)).transform((errors) => errors ?? []),
});
export type Connection = z.infer<typeof connectionSchema>;

export const companySchema = z.object({
  id,
  /** The name as stored. The service removes characters that it does not allow. */
  name: comparedText,
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
  name: comparedText,
  enabled: z.boolean(),
  sourceType: text,
  /** The redirect URI that the client has to add to its application at the platform. */
  callbackUrl: link,
  /** The account's application, without its secret. Null if none is registered, absent if the service omits it. */
  application: z.object({ clientId: comparedText, environment: comparedText }).nullish(),
});
export type Integration = z.infer<typeof integrationSchema>;

export const accountSchema = z.object({
  plan: comparedText,
  role: comparedText,
  companyLimit: optional(z.number()),
  companiesUsed: optional(z.number()),
  /** When a trial or free account expires. */
  expiresAt: moment,
});
export type Account = z.infer<typeof accountSchema>;

/** A sync of one data set. `isCompleted` means that it has succeeded, `isErrored` that it has failed. */
export const pullOperationSchema = z.object({
  id,
  dataType,
  status: comparedText,
  statusDescription: shownText,
  errorMessage: shownText,
  requested: comparedText,
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
    dataType,
    currentStatus: comparedText,
    lastSuccessfulSync: text,
    latestSyncId: text,
    latestSuccessfulSyncId: text,
  }),
);
export type DataStatus = z.infer<typeof dataStatusSchema>;

/** `syncSchedule` is the interval in hours; 0 means never. */
const syncSettingSchema = z.object({
  dataType,
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
  pushOperationKey: id,
  dataConnectionKey: text,
  dataType: text,
  status: z.enum(['Pending', 'Failed', 'Success', 'TimedOut']),
  statusCode: optional(z.number()),
  providerStatusCode: optional(z.number()),
  requestedOnUtc: text,
  completedOnUtc: text,
  errorMessage: shownText,
});
export type PushOperation = z.infer<typeof pushOperationSchema>;

/** A record of a data set: an invoice, a bill, ... Fields that are not listed are kept. */
const recordSchema = z.looseObject({ id: z.string(), modifiedDate: text });
export type DataRecord = z.infer<typeof recordSchema>;

const pageLink = optional(z.object({ href: z.string() }));

/** Returns the schema of one page of a list. */
const pageOf = <S extends z.ZodType>(result: S) =>
  z.object({
    results: z.array(result),
    pageNumber: optional(z.number().int()),
    pageSize: optional(z.number().int()),
    /** Number of results on all pages, after filtering. */
    totalResults: z.number().int().nonnegative().max(MAX_INTEGER),
    _links: z.object({ self: pageLink, current: pageLink, next: pageLink, previous: pageLink }),
  });
export type Page<T> = Omit<z.infer<ReturnType<typeof pageOf>>, 'results'> & { results: T[] };

export const companyPageSchema = pageOf(companySchema);
export const connectionPageSchema = pageOf(connectionSchema);
export const pullOperationPageSchema = pageOf(pullOperationSchema);
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

function isWebAddress(value: string): boolean {
  return URL.canParse(value) && ['http:', 'https:'].includes(new URL(value).protocol);
}
