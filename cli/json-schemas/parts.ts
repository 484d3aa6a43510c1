/** What several commands print with `--json`: the parts that have names of their own in docs/json.md. */
import { z } from 'zod';
import { COMPANY_STATES, type Counts } from '../../domain/companies/company-state';
import type { Evidence, SyncSchedule } from '../../domain/companies/evidence';
import type { Estimate } from '../../domain/planning/estimate';
import { FAILURE_KINDS } from '../../domain/companies/failures';
import type { Finding } from '../../domain/companies/manifest';
import type { FirstCompany, Pause, Preflight, Proposal } from '../../domain/migration/migration-state';
import type { Outage } from '../../domain/migration/outage';
import type { Step } from '../../domain/migration/steps';
import { ROLES, STEPS } from '../../domain/migration/steps';
import type { WindowOccurrence, Window } from '../../domain/planning/windows';

export const time = z.iso.datetime().describe('ISO 8601, UTC');
export const count = z.int().min(0);
export const role = z.enum(ROLES);
export const step = z.enum(STEPS as readonly [Step, ...Step[]]).meta({ id: 'Step' });
export const route = z.enum(['managed', 'self-service']);
export const failureKind = z.enum(FAILURE_KINDS).meta({ id: 'FailureKind' });

export const counts = (
  z.strictObject({
    total: count,
    unconfirmed: count.describe('not yet confirmed as disabled'),
    unconfirmedInFirstWave: count,
    withoutCredential: count.describe('waiting, confirmed, without a credential that counts'),
    heldBack: count.describe('waiting for a correction'),
    waiting: count,
    importing: count,
    syncing: count,
    migrated: count,
    mustReconnect: count.describe('of those that failed'),
    failed: count,
    skipped: count,
    excluded: count,
    outcomeUnknown: count,
    exceptionsDigest: z.string().nullable(),
  }) satisfies z.ZodType<Counts>
).meta({ id: 'Counts', description: 'companies by how far they are' });

export const estimate = (
  z.strictObject({
    volume: z.strictObject({
      companies: count,
      records: z.number(),
      companiesWithoutVolume: count,
      largestCompany: z.number(),
      largestFamily: count,
      darkSince: time.nullable(),
    }),
    requests: z.number(),
    lowMs: z.number(),
    highMs: z.number(),
    ends: z.strictObject({ earliest: time, latest: time }).nullable(),
    darkHours: z.number().nullable().describe('hours without fresh data, at most'),
    basis: z.enum(['assumed', 'platform', 'migration']),
    measuredOn: count,
  }) satisfies z.ZodType<Estimate>
).meta({ id: 'Estimate' });

export const window = (
  z.strictObject({
    days: z.array(z.enum(['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'])),
    from: z.string(),
    to: z.string(),
    timeZone: z.string(),
  }) satisfies z.ZodType<Window>
).meta({ id: 'Window' });

export const opening = (z.strictObject({ opensAt: time, closesAt: time }) satisfies z.ZodType<WindowOccurrence>).meta({
  id: 'Opening',
});

export const evidence = (
  z.strictObject({
    check: z.string(),
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
    nextAt: time.nullable(),
  }) satisfies z.ZodType<SyncSchedule>
).meta({ id: 'SyncSchedule' });

export const preflight = (
  z.strictObject({
    companies: count,
    manifestDigest: z.string().nullable(),
    suppliedBy: z.string().nullable(),
    problems: z.array(z.string()),
    problemCodes: z.array(z.string()),
    warnings: z.array(z.string()),
    heldBack: count,
    callbackUrl: z.string().nullable(),
  }) satisfies z.ZodType<Omit<Preflight, 'problemCodes'> & { problemCodes: readonly string[] }>
).meta({ id: 'Preflight', description: 'what the check of the details has found' });

export const proposal = (
  z.strictObject({ startAt: time, role, by: z.string(), at: time }) satisfies z.ZodType<Proposal>
).meta({ id: 'Proposal' });

export const firstCompany = (
  z.strictObject({
    row: count,
    reference: z.string(),
    stage: z.enum(['importing', 'proven', 'failed']),
    failure: failureKind.nullable(),
    evidence: z.array(evidence),
  }) satisfies z.ZodType<FirstCompany>
).meta({ id: 'FirstCompany' });

export const pause = (
  z.strictObject({
    reason: z.string(),
    by: z.string().nullable(),
    stop: z
      .enum(['key-refused', 'account-limit', 'application-refused', 'wrong-organization', 'too-many-failures'])
      .nullable(),
    at: time,
  }) satisfies z.ZodType<Pause>
).meta({ id: 'Pause' });

export const standstill = (
  z.strictObject({ why: z.string(), since: time, until: time }) satisfies z.ZodType<Outage>
).meta({ id: 'Standstill' });

export const waitingFor = z
  .strictObject({ roles: z.array(role).describe('empty: nobody is waited for'), what: z.string() })
  .meta({ id: 'WaitingFor' });

export const next = z
  .array(z.strictObject({ who: role, command: z.string() }))
  .describe('what can be typed to take it further');

/** Fields of a company as the ledger has it. */
export const companyFields = {
  row: count.describe('its place in the manifest, from 1'),
  reference: z.string(),
  name: z.string(),
  organization: z.string(),
  wave: count.nullable(),
  expectedInvoices: count.nullable(),
  state: z.enum(COMPANY_STATES),
  confirmedAt: time.nullable().describe('when its syncing was confirmed as disabled'),
  crossedAt: time.nullable().describe('since when the service holds its grant'),
  sentAt: time
    .nullable()
    .describe('when a token that can be used once was last sent, unless it was certainly not used'),
  companyId: z.string().nullable(),
  connectionId: z.string().nullable(),
  storedName: z.string().nullable(),
  linkUrl: z.string().nullable().describe('where its end customer connects again'),
  movedAt: time.nullable(),
  failure: failureKind.nullable(),
  failureText: z.string().nullable(),
  correlationId: z.string().nullable(),
  evidence: z.array(evidence).nullable(),
  syncSchedule: syncSchedule.nullable(),
  settledBy: z.string().nullable().describe('who left it out or gave it up'),
  settledReason: z.string().nullable(),
  heldBack: z.string().nullable().describe('what the check of the details has against it'),
};

const finding = (
  z.strictObject({
    code: z.string().describe('never renamed'),
    severity: z.enum(['error', 'warning']),
    file: z.string().exactOptional(),
    line: count.exactOptional(),
    column: count.exactOptional(),
    field: z.string().exactOptional(),
    message: z.string(),
    advice: z.string(),
  }) satisfies z.ZodType<Omit<Finding, 'code'> & { code: string }>
).meta({ id: 'Finding', description: 'what is wrong with a file, an account or other migrations' });

/** What a check of files has found: at most 10,000 of a kind. */
export const findingFields = {
  findings: z.array(finding),
  findingsNotListed: count.optional(),
};

/** A decision as it was sent: its other fields follow from its kind. */
export const decision = z
  .looseObject({
    kind: z.string(),
    decisionId: z.string(),
    role: role.nullable(),
    by: z.string().nullable(),
    reason: z.string().optional(),
  })
  .meta({ id: 'Decision', description: 'as it was sent; its other fields follow from its kind' });

export const outcome = z
  .strictObject({
    decisionId: z.string(),
    applied: z.boolean(),
    text: z.string(),
    at: time,
    malformed: z.literal(true).optional(),
  })
  .meta({ id: 'Outcome' });

/** A decision that was sent, and what became of it. */
export const sent = {
  migrationId: z.string(),
  message: z.string().describe('the wire name of the decision'),
  became: z.enum(['applied', 'refused', 'recorded']).describe('recorded: kept until a worker runs'),
  decisionId: z.string(),
  text: z.string(),
  signedBy: z.string().nullable(),
};
