/**
 * The schemas of responses. They follow the specification, not the service's own schemas, so that the tests check
 * required fields, unknown fields, and where `null` is allowed.
 */
import { z } from 'zod';

const uuid = z.uuid();
const moment = z.iso.datetime();
const statusCode = z.int().min(100).max(599);

export const connection = z.strictObject({
  id: uuid,
  integrationId: uuid,
  integrationKey: z.string().regex(/^[a-z]{4}$/),
  sourceId: uuid,
  sourceType: z.enum(['Accounting', 'Banking', 'BankFeed', 'Commerce', 'Expense', 'Other', 'Unknown']),
  platformName: z.string(),
  linkUrl: z.url(),
  status: z.enum(['PendingAuth', 'Linked', 'Unlinked', 'Deauthorized']),
  created: moment,
  lastSync: moment.optional(),
  connectionInfo: z
    .object({ organizationId: z.string(), organizationName: z.string() })
    .catchall(z.string())
    .optional(),
  dataConnectionErrors: z
    .array(
      z.strictObject({
        statusCode: z.string(),
        statusText: z.enum([
          'GrantRefused',
          'ApplicationRefused',
          'WrongOrganization',
          'PlatformUnavailable',
          'PlatformRateLimited',
        ]),
        errorMessage: z.string(),
        erroredOnUtc: moment,
        status: z.enum(['Active', 'Resolved']),
      }),
    )
    .optional(),
});

export const company = z.strictObject({
  id: uuid,
  name: z.string().min(1),
  redirect: z.url(),
  description: z.string().optional(),
  lastSync: moment.optional(),
  created: moment,
  createdByUserName: z.string().nullable(),
  products: z.array(z.unknown()),
  tags: z.record(z.string(), z.string().max(100)).optional(),
  dataConnections: z.array(connection),
});

export const pullOperation = z.strictObject({
  id: uuid,
  companyId: uuid,
  connectionId: uuid,
  dataType: z.string(),
  status: z.enum([
    'Initial',
    'Queued',
    'Fetching',
    'MapQueued',
    'Mapping',
    'Complete',
    'FetchError',
    'MapError',
    'InternalError',
    'ProcessingQueued',
    'Processing',
    'ProcessingError',
    'ValidationQueued',
    'Validating',
    'ValidationError',
    'AuthError',
    'Cancelled',
    'NotSupported',
    'RateLimitError',
    'PermissionsError',
    'PrerequisiteNotMet',
  ]),
  statusDescription: z.string().nullable(),
  errorMessage: z.string().nullable(),
  requested: moment,
  completed: moment.optional(),
  progress: z.number().min(0).max(100),
  isCompleted: z.boolean(),
  isErrored: z.boolean(),
});

export const dataStatus = z.record(
  z.string(),
  z.strictObject({
    dataType: z.string(),
    currentStatus: pullOperation.shape.status,
    lastSuccessfulSync: moment.optional(),
    latestSyncId: uuid.optional(),
    latestSuccessfulSyncId: uuid.optional(),
  }),
);

/** The schema of an invoice. An invoice can have additional fields. */
export const invoice = z.looseObject({
  id: z.string(),
  modifiedDate: moment,
  invoiceNumber: z.string(),
  issueDate: moment,
  dueDate: moment,
  currency: z.string(),
  totalAmount: z.number(),
  totalTaxAmount: z.number(),
  amountDue: z.number(),
  status: z.enum(['Draft', 'Submitted', 'PartiallyPaid', 'Paid', 'Void']),
});

export const syncSettings = z.strictObject({
  companyId: uuid,
  settings: z.array(
    z.strictObject({
      dataType: z.string(),
      fetchOnFirstLink: z.boolean(),
      syncSchedule: z.int().min(0),
      syncOrder: z.int(),
    }),
  ),
  overridesDefaults: z.boolean(),
});

const validation = z.strictObject({
  errors: z.array(
    z.strictObject({ message: z.string(), itemId: z.string().optional(), validatorName: z.string().optional() }),
  ),
  warnings: z.array(z.never()),
});

export const pushOperation = z.strictObject({
  companyId: uuid,
  pushOperationKey: uuid,
  dataConnectionKey: uuid,
  dataType: z.string().optional(),
  requestedOnUtc: moment,
  completedOnUtc: moment.optional(),
  status: z.enum(['Pending', 'Failed', 'Success', 'TimedOut']),
  statusCode,
  providerStatusCode: statusCode.optional(),
  changes: z.array(z.unknown()).optional(),
  errorMessage: z.string().optional(),
  validation: validation.optional(),
});

/** The client's own application at a platform, without its secret. */
export const application = z.strictObject({ clientId: z.string(), environment: z.enum(['production', 'sandbox']) });

export const integration = z.strictObject({
  key: connection.shape.integrationKey,
  logoUrl: z.url(),
  name: z.string(),
  enabled: z.boolean(),
  sourceType: connection.shape.sourceType,
  migrationRoutes: z.array(z.enum(['managed', 'self-service'])).min(1),
  authorizationFields: z.array(z.strictObject({ name: z.string(), required: z.boolean() })).min(1),
  callbackUrl: z.url(),
  application: application.nullable(),
});

export const account = z.strictObject({
  plan: z.enum(['trial', 'free', 'paid']),
  companyLimit: z.int().optional(),
  companiesUsed: z.int(),
  expiresAt: moment.optional(),
  role: z.enum(['client', 'administrator']),
});

const link = z.strictObject({ href: z.string().startsWith('/') });

/**
 * Returns the schema of a page that is not empty (section 2.2 of the specification). Every endpoint with several
 * results returns pages.
 */
export const pageOf = <Item extends z.ZodType>(item: Item) =>
  z.strictObject({
    results: z.array(item).min(1, 'the page is empty'),
    pageNumber: z.int().min(1),
    pageSize: z.int().min(1).max(5000),
    totalResults: z.int().min(0),
    _links: z.strictObject({
      self: z.strictObject({ href: link.shape.href.refine((href) => !href.includes('?'), 'has a query') }),
      current: link,
      next: link.optional(),
      previous: link.optional(),
    }),
  });

/** The schema of the body of every error (section 2.3 of the specification). */
export const error = z.strictObject({
  statusCode,
  service: z.string().min(1),
  error: z.string().min(1),
  correlationId: uuid,
  validation: validation.optional(),
  canBeRetried: z.enum(['True', 'False', 'Unknown']),
  detailedErrorCode: z.int(),
});
