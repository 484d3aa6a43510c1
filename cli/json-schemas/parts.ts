/**
 * The types that several outputs share; those about companies are in company-parts.ts, and those about decisions in
 * decision-parts.ts. docs/json.md lists the types with an id as shared types.
 */
import { z } from 'zod';
import type { Estimate } from '../../domain/planning/estimate';
import { FAILURE_KINDS } from '../../domain/companies/failures';
import type { Finding } from '../../domain/companies/finding';
import type { EndedBy, Pause, Proposal, Reopened } from '../../domain/migration/migration-state';
import type { Preflight } from '../../domain/migration/preflight-result';
import type { Forecast } from '../../domain/progress/forecast';
import type { Outage } from '../../domain/migration/outage';
import { ROLES, STEPS, type Step } from '../../domain/migration/steps';
import type { MigrationLimits, ReminderIntervals } from '../../domain/planning/limits';
import type { WindowOccurrence, Window } from '../../domain/planning/windows';

/** Maps the name of a schema to its fields and to the commands that print it. */
export type CommandSchemas = Readonly<
  Record<`ferry.${string}/${number}`, readonly [command: string, fields: z.ZodRawShape]>
>;

export const time = z.iso.datetime().describe('ISO 8601, UTC');
export const nullableTime = time.nullable();
export const count = z.int().min(0);
export const nullableText = z.string().nullable();
export const texts = z.array(z.string());
export const role = z.enum(ROLES);
export const step = z.enum(STEPS as readonly [Step, ...Step[]]).meta({ id: 'Step' });
export const route = z.enum(['managed', 'self-service']);
export const failureKind = z.enum(FAILURE_KINDS).meta({ id: 'FailureKind' });

export const estimate = (
  z.strictObject({
    volume: z.strictObject({
      companies: count,
      records: z.number(),
      companiesWithoutVolume: count,
      largestCompany: z.number(),
      largestFamily: count,
      staleSince: nullableTime,
    }),
    requests: z.number(),
    lowMs: z.number(),
    highMs: z.number(),
    ends: z.strictObject({ earliest: time, latest: time }).nullable(),
    staleHours: z
      .number()
      .nullable()
      .describe(
        'maximum number of hours for which the data of a company is out of date, not rounded; null if `ends` is null',
      ),
    basis: z.enum(['assumed', 'platform', 'migration']),
    measuredOn: count,
  }) satisfies z.ZodType<Estimate>
).meta({ id: 'Estimate' });

export const forecast = (
  z.strictObject({
    companies: count.describe('companies that the forecast covers'),
    isComplete: z
      .boolean()
      .describe('false if other companies are deferred or wait for people, so that the migration ends later'),
    beginsAt: nullableTime.describe(
      'when the next move begins; null if companies are moving, or if moves can begin now',
    ),
    ends: z
      .strictObject({ earliest: time, latest: time })
      .nullable()
      .describe(
        'when the moves end; null if the moves would take more than a year in the windows, or if they need a further window while the windows are paused',
      ),
    basis: z.enum(['throughput', 'estimate']),
    staleMs: z
      .number()
      .nullable()
      .describe(
        'maximum time, until `ends.latest`, for which the data of a company is out of date, in milliseconds; the data of companies that the forecast does not cover stays out of date longer; null if `ends` is null',
      ),
  }) satisfies z.ZodType<Forecast>
).meta({ id: 'Forecast' });

export const window = (
  z.strictObject({
    days: z.array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])),
    from: z.string(),
    to: z.string(),
    timeZone: z.string(),
  }) satisfies z.ZodType<Window>
).meta({ id: 'Window' });

const reminders = z.strictObject({
  firstAfterMs: count,
  everyMs: count,
  escalateAfterMs: count,
}) satisfies z.ZodType<ReminderIntervals>;

export const limits = (
  z.strictObject({
    slicesAtOnce: count,
    companiesPerSliceAtOnce: count,
    companiesPerMinute: count.nullable(),
    syncTimeoutMs: count,
    rampCompanies: count,
    toleratedFailures: count.nullable(),
    toleratedShare: z.number().nullable(),
    windows: z.array(window),
    remindBeforeStale: reminders,
    remindWhileStale: reminders,
  }) satisfies z.ZodType<MigrationLimits>
).meta({ id: 'Limits', description: 'the limits of `ferry adjust`; null means no limit' });

export const windowOccurrence = (
  z.strictObject({ opensAt: time, closesAt: time }) satisfies z.ZodType<WindowOccurrence>
).meta({
  id: 'WindowOccurrence',
});

export const preflight = (
  z.strictObject({
    companies: count,
    manifestDigest: nullableText,
    suppliedBy: nullableText,
    problems: texts,
    clientProblems: texts.exactOptional(),
    advice: texts.exactOptional().describe('what to do about each problem, in the order of `problems`'),
    problemCodes: texts,
    warnings: texts,
    clientWarnings: texts.exactOptional(),
    warningAdvice: texts.exactOptional().describe('what to do about each warning'),
    heldBack: count,
    callbackUrl: nullableText,
    application: z
      .strictObject({ clientId: z.string(), environment: z.string(), suppliedBy: nullableText })
      .nullable()
      .exactOptional(),
  }) satisfies z.ZodType<Omit<Preflight, 'problemCodes'> & { problemCodes: readonly string[] }>
).meta({ id: 'Preflight', description: 'result of the check of the supplied details' });

export const proposal = (
  z.strictObject({ startAt: time, role, by: z.string(), at: time }) satisfies z.ZodType<Proposal>
).meta({ id: 'Proposal' });

export const stopReason = z.enum([
  'key-refused',
  'account-limit',
  'application-refused',
  'wrong-organization',
  'too-many-failures',
  'ledger-behind',
]);

export const pause = (
  z.strictObject({
    reason: z
      .string()
      .describe(
        'for an automatic pause, its cause and the advice of that time, and, if known, the failure rate or the companies that led to the pause; `waitingFor` has the current advice',
      ),
    by: nullableText,
    role: role
      .exactOptional()
      .describe('absent if the migration paused itself, or if an earlier version recorded the pause'),
    stopReason: stopReason.nullable(),
    at: time,
  }) satisfies z.ZodType<Pause>
).meta({ id: 'Pause' });

export const reopened = (
  z.strictObject({
    step,
    by: z.string(),
    role,
    reason: nullableText,
    at: time,
    company: z.string().exactOptional().describe('the rejected first company'),
    asksForChanges: z
      .literal(true)
      .exactOptional()
      .describe(
        'support rejected details in which the check had found no error, and the client has not changed the details since',
      ),
    proposed: z
      .boolean()
      .exactOptional()
      .describe(
        'true if a proposal reopened step 2, false if step 2 was rejected; absent for other steps or if unknown',
      ),
    withdrawn: z
      .array(role)
      .exactOptional()
      .describe(
        'the roles whose sign-off the decision of `by` has withdrawn, and that have not signed off again. Does not list the roles whose sign-off only an earlier decision has withdrawn. Absent if the handover was rejected',
      ),
  }) satisfies z.ZodType<Reopened>
).meta({
  id: 'Reopened',
  description:
    'who reopened a step or rejected its result, and why. Kept until the step or the migration has ended. In step 6, kept until the role that rejected the handover, or every role in `withdrawn`, has signed off',
});

export const endedBy = (
  z.strictObject({ by: z.string(), role, reason: nullableText, at: time }) satisfies z.ZodType<EndedBy>
).meta({ id: 'EndedBy', description: 'who cancelled or abandoned a migration, and why' });

export const outage = (
  z.strictObject({
    why: z.string(),
    since: time,
    until: time,
    source: z.enum(['service', 'platform']).exactOptional(),
  }) satisfies z.ZodType<Outage>
).meta({
  id: 'Outage',
});

export const waitingFor = z
  .strictObject({ roles: z.array(role).describe('empty if no person must act'), what: z.string() })
  .meta({ id: 'WaitingFor' });

export const meanwhile = waitingFor
  .nullable()
  .describe(
    'what people must do for some companies while the migration moves other companies, waits for other people or is paused, and that support must confirm keys of invited people; null if there is nothing to do, or while the ledger is behind',
  );

export const next = z
  .array(
    z.strictObject({
      who: role,
      command: z.string(),
      first: z.string().exactOptional().describe('what a person must do before running the command'),
      does: z.string().exactOptional().describe('what the command does; absent if its name says so'),
    }),
  )
  .describe('commands for the next actions');

export const clientPage = nullableText.describe(
  "link to the migration's page in the read-only Temporal UI for clients (not the portal); null if no such UI is configured, or if the workflow ended in Temporal before the migration had ended",
);

const finding = (
  z.strictObject({
    code: z.string().describe('stable: never renamed'),
    severity: z.enum(['error', 'warning']),
    file: z.string().exactOptional(),
    line: count.exactOptional(),
    column: count.exactOptional(),
    field: z.string().exactOptional(),
    message: z.string(),
    advice: z.string(),
  }) satisfies z.ZodType<Omit<Finding, 'code'> & { code: string }>
).meta({ id: 'Finding', description: 'a problem with a file, the account, the platform or other migrations' });

/** The findings of a check. At most 10,000 of each kind are listed. */
export const findingFields = {
  findings: z.array(finding),
  findingsNotListed: count.optional(),
};
