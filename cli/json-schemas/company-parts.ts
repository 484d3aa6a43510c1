/** The types about companies that several outputs share. */
import { z } from 'zod';
import { CLIENT_STATES, COMPANY_STATES, type ClientState } from '../../domain/companies/company-state';
import { type Counts } from '../../domain/companies/counts';
import { EVIDENCE_CODES, type Evidence, type SyncSchedule } from '../../domain/companies/evidence';
import type { FirstCompany } from '../../domain/migration/migration-state';
import type { ChangedSinceSignOff } from '../../domain/progress/sign-off-changes';
import { count, failureKind, role, time, nullableText, nullableTime, texts } from './parts';

const clientState = z.enum(Object.keys(CLIENT_STATES) as [ClientState, ...ClientState[]]);

export const counts = (
  z.strictObject({
    total: count,
    unconfirmed: count.describe(
      'waiting companies that are not held back, and for which the client has not confirmed that syncing is off',
    ),
    unconfirmedInFirstWave: count,
    unconfirmedInNextWave: count
      .exactOptional()
      .describe('unconfirmed companies in the lowest wave that has unconfirmed companies'),
    lackingCredentialInNextWave: count
      .exactOptional()
      .describe(
        'companies of `unconfirmedInNextWave` that need a credential after their confirmation, because none is stored or the platform rotates tokens',
      ),
    withoutCredential: count.describe(
      'waiting, confirmed companies that are not held back and have no usable credential',
    ),
    firstWithoutCredential: texts
      .nullable()
      .exactOptional()
      .describe('references of the first five companies that `withoutCredential` counts'),
    heldBack: count.describe(
      'companies that are waiting for a correction, or for the check of an added or corrected row',
    ),
    waiting: count,
    retried: count
      .exactOptional()
      .describe(
        'companies that are waiting for another try and lack nothing, for example after ferry retry; deferred companies are not counted',
      ),
    firstRetried: texts
      .nullable()
      .exactOptional()
      .describe('references of the first five companies that `retried` counts'),
    deferred: count
      .exactOptional()
      .describe(
        'companies that lack nothing and are retried automatically, because a call to the service or the platform did not succeed. After only one try, a company counts only if the next try is more than five minutes away, or if the platform refused the application',
      ),
    importing: count,
    syncing: count,
    moved: count,
    mustReconnect: count.describe('failed companies whose end customer must reconnect'),
    relinked: count
      .exactOptional()
      .describe('failed companies that people have relinked, and whose end customers have not reconnected yet'),
    failed: count,
    skipped: count,
    excluded: count,
    firstNotMoved: texts
      .nullable()
      .exactOptional()
      .describe('references of the first five companies that failed or were left out'),
    outcomeUnknown: count,
    waitingAgain: count
      .optional()
      .describe('waiting companies whose credential was handed over to the service, or might have been'),
    exceptionsDigest: nullableText,
  }) satisfies z.ZodType<Counts>
).meta({ id: 'Counts', description: 'number of companies in each state' });

export const evidence = (
  z.strictObject({
    code: z.enum(EVIDENCE_CODES),
    label: z.string(),
    passed: z.boolean(),
    detail: z.string(),
    correlationId: z.string().exactOptional(),
    durationMs: z.number().exactOptional(),
    records: z
      .strictObject({ dataType: z.string(), expected: z.number().nullable(), found: z.number() })
      .exactOptional(),
  }) satisfies z.ZodType<Evidence>
).meta({ id: 'Evidence', description: 'one check of a company' });

const syncSchedule = (
  z.strictObject({
    everyHours: z.strictObject({ least: z.number(), most: z.number() }).nullable(),
    nextAt: nullableTime,
  }) satisfies z.ZodType<SyncSchedule>
).meta({ id: 'SyncSchedule' });

export const firstCompany = (
  z.strictObject({
    row: count,
    reference: z.string(),
    stage: z.enum(['importing', 'verified', 'failed']),
    failure: failureKind.nullable(),
    evidence: z.array(evidence),
    checkedAt: time.exactOptional().describe('when the latest result was read; absent until there is a result'),
  }) satisfies z.ZodType<FirstCompany>
).meta({ id: 'FirstCompany' });

export const fields = {
  row: count.describe('position in the manifest, starting at 1'),
  reference: z.string(),
  name: z.string(),
  organization: z.string(),
  wave: count.nullable(),
  expectedInvoices: count.nullable(),
  state: clientState,
  ledgerState: z.enum(COMPANY_STATES),
  confirmedAt: nullableTime.describe(
    'when the client confirmed that syncing is off; null without a confirmation, or if it was withdrawn',
  ),
  credential: z
    .enum(['supplied', 'missing', 'too-early'])
    .nullable()
    .describe(
      'null if the company is not waiting or the migration has ended; `too-early` means that the credential was obtained before the confirmation',
    ),
  crossedAt: nullableTime.describe(
    'when the credential was handed over to the service, or the end customer reconnected without it; null if neither is known, but the credential can have been used if `sentAt` is not null',
  ),
  sentAt: nullableTime.describe(
    'when a worker last recorded that it was about to send a credential of this company, which can be one that was replaced later; null if no credential can have been used',
  ),
  existedBefore: z
    .boolean()
    .describe('true if the client supplied the id of a company that already existed at the service'),
  companyId: nullableText,
  connectionId: nullableText,
  storedName: nullableText,
  linkUrl: nullableText.describe('where the end customer can reconnect'),
  movedAt: nullableTime,
  failure: failureKind.nullable(),
  failureText: nullableText,
  correlationId: nullableText,
  evidence: z.array(evidence).nullable(),
  syncSchedule: syncSchedule.nullable(),
  leftOutBy: nullableText.describe('who left the company out'),
  leftOutReason: nullableText,
  heldBack: nullableText.describe(
    'errors that the check of the supplied details found, or `not checked yet`; null if the company is not held back',
  ),
  tries: count.describe('number of times that the import of the company was tried'),
  deferred: z
    .boolean()
    .describe(
      'true if the company is retried automatically once it has a confirmation and a usable credential, because a call to the service or the platform did not succeed. After only one try, it is true only if the next try is more than five minutes away, or if the platform refused the application',
    ),
  retryAt: nullableTime.describe(
    'the earliest time of the next try, which also waits for an open window; null if the company is not deferred, or lacks a confirmation or a usable credential',
  ),
  relinkingSince: nullableTime.describe(
    'when a person last decided to relink the company; null if no such decision is in effect. Even without such a decision, the migration checks companies that must reconnect',
  ),
  replacedApplication: z
    .boolean()
    .describe(
      'true if the application was replaced after the company was connected, so that the service can no longer refresh the tokens; resolved once the end customer reconnects at `linkUrl`, or support registers the replaced application again',
    ),
};

/** All fields, including those that only support may see, which the handover report leaves out. */
export const fieldsForSupport = {
  ...fields,
  heldBackDetails: nullableText.describe(
    '`heldBack` with the names of other clients, migrations and companies, for support only; null if `heldBack` is complete, or if the company is not held back',
  ),
};

/** A way to resolve the problem of a company. */
export const remedy = z.enum([
  'retry',
  'relink',
  'replace-credential',
  'credentials',
  'application',
  'skip',
  'amend',
  'exclude',
]);

export const application = z.strictObject({ clientId: z.string(), environment: z.string() });

/** The companies that were moved with each application. */
export const movedWithApplication = z.array(
  z.strictObject({
    application,
    companies: count,
    references: texts.describe('references of at most 10 of these companies'),
    withoutLink: count
      .exactOptional()
      .describe(
        'number of these companies whose link to reconnect is not known; only for a replaced application, and absent if every company has a link',
      ),
  }),
);

/** The companies whose outcome has changed since a sign-off that still counts. */
export const changedSinceSignOff = (
  z.strictObject({
    role,
    by: z.string(),
    at: time.describe('the time of the sign-off'),
    changed: z.array(
      z.strictObject({
        state: clientState.describe('the new outcome'),
        companies: count,
        references: texts.describe('the first five'),
      }),
    ),
  }) satisfies z.ZodType<ChangedSinceSignOff>
).meta({
  id: 'ChangedSinceSignOff',
  description:
    'a sign-off of the handover that still counts, and the companies whose outcome has changed since; a decision that withdraws a sign-off removes it from this list',
});
