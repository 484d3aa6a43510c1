/**
 * What the service answers, as far as it is used here. Schemas are the types.
 *
 * Lenient on purpose: unknown fields are dropped, and a field is only required if nothing can be done without it,
 * because the specification leaves most of them open.
 */
import { z } from 'zod';
import { redact } from './redaction';

/** A field that may be left out, or be `null`, which means the same. */
const absent = <S extends z.ZodType>(schema: S) =>
  z
    .nullish(schema)
    .transform((value) => value ?? undefined)
    .optional();

const text = absent(z.string());
/** What somebody behind the service has said, who may have quoted what they were sent. */
const words = absent(z.string().transform((said) => redact(said)));
const tags = absent(z.record(z.string(), z.string()));
/** What the platform says a connection belongs to, once it is linked: `organizationId`, `organizationName`. */
const info = absent(z.record(z.string(), z.string()));

/**
 * Something the platform said about a connection. `statusText` is the vocabulary: `GrantRefused`, `ApplicationRefused`,
 * ...
 */
const connectionErrorSchema = z.object({
  statusCode: absent(z.coerce.string()),
  statusText: text,
  errorMessage: words,
  erroredOnUtc: text,
  status: text,
});

/** `PendingAuth` and `Deauthorized` mean that the end customer has to authorize again, at `linkUrl`. */
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
  /** As the service stored it: characters that it does not allow are missing. */
  name: z.string(),
  redirect: text,
  description: text,
  created: text,
  lastSync: text,
  tags,
  /** In short: to see what a company is connected to without asking for each. */
  dataConnections: absent(z.array(z.object({ integrationKey: text, status: text, connectionInfo: info }))),
});
export type Company = z.infer<typeof companySchema>;

export const integrationSchema = z.object({
  key: z.string().min(1),
  name: z.string(),
  enabled: z.boolean(),
  sourceType: text,
  /** The redirect URI to be added to the client's application at the platform. */
  callbackUrl: text,
  /** The account's own application, without its secret; `null`: none was registered; absent: the service does not say. */
  application: z.object({ clientId: z.string(), environment: z.string() }).nullish(),
});
export type Integration = z.infer<typeof integrationSchema>;

export const accountSchema = z.object({
  plan: z.string(),
  role: z.string(),
  companyLimit: absent(z.number()),
  companiesUsed: absent(z.number()),
  /** When a trial or free account ends, ISO 8601. */
  expiresAt: text,
});
export type Account = z.infer<typeof accountSchema>;

/** The sync of one data set. It is over when `isCompleted`, or, having failed, `isErrored`. */
export const pullOperationSchema = z.object({
  id: z.string().min(1),
  dataType: z.string(),
  status: z.string(),
  statusDescription: words,
  errorMessage: words,
  requested: z.string(),
  completed: text,
  progress: absent(z.number()),
  isCompleted: z.boolean(),
  isErrored: z.boolean(),
});
export type PullOperation = z.infer<typeof pullOperationSchema>;

/**
 * How far each data set of a company is. `currentStatus`: `Queued`, `Fetching`, ..., `Complete`, `FetchError`,
 * `NotSupported`, ...
 */
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

/** `syncSchedule` is in hours; 0 is never. */
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

/** A record on its way to a platform. `statusCode` is the operation's own, `providerStatusCode` the platform's. */
export const pushOperationSchema = z.object({
  pushOperationKey: z.string().min(1),
  dataConnectionKey: text,
  dataType: text,
  status: z.enum(['Pending', 'Failed', 'Success', 'TimedOut']),
  statusCode: absent(z.number()),
  providerStatusCode: absent(z.number()),
  requestedOnUtc: text,
  completedOnUtc: text,
  errorMessage: words,
});
export type PushOperation = z.infer<typeof pushOperationSchema>;

/** A record of a data set: an invoice, a bill, ... Its own fields are kept as they are. */
const recordSchema = z.looseObject({ id: z.string(), modifiedDate: text });
export type DataRecord = z.infer<typeof recordSchema>;

const link = absent(z.object({ href: z.string() }));

/** A page of a list. */
const pageOf = <S extends z.ZodType>(result: S) =>
  z.object({
    results: z.array(result),
    pageNumber: absent(z.number().int()),
    pageSize: absent(z.number().int()),
    /** After filters. */
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

/** The service's error body, as far as it is one: what answers may also be a proxy. */
export const errorBodySchema = z.object({
  error: text.catch(undefined),
  service: text.catch(undefined),
  correlationId: text.catch(undefined),
  validation: absent(z.object({ errors: z.array(z.object({ message: z.string() })) })).catch(undefined),
});
