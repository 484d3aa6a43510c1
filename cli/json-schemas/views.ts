/** Output of the commands that show migrations, their progress and their companies. */
import { z } from 'zod';
import * as company from './company-parts';
import * as decided from './decision-parts';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count, nullableText, nullableTime, texts, time } = part;

const progress = {
  migrationId: z.string(),
  route: part.route,
  client: z.string(),
  platformKey: z.string(),
  contact: z.string(),
  state: z
    .enum(['running', 'waiting', 'paused', 'terminated', 'completed', 'abandoned', 'cancelled'])
    .describe('`terminated` if the workflow has ended in Temporal, but the migration has not'),
  step: part.step,
  waitingFor: part.waitingFor,
  waitingSince: nullableTime,
  steps: z.array(
    z.strictObject({
      step: part.step,
      state: z.enum(['done', 'open', 'later']),
      openedAt: nullableTime,
      endedAt: nullableTime,
      approvals: z.array(z.strictObject({ step: part.step, role: part.role, by: z.string(), at: time })),
    }),
  ),
  counts: company.counts,
  digests: z
    .record(part.step, z.string())
    .describe('for each step, the digest of what people review before they decide'),
  revisions: z
    .partialRecord(part.step, z.string())
    .exactOptional()
    .describe(
      'for each step, the id of the latest decision that changed what people review; the digests cover these ids',
    ),
  windows: z.array(part.window),
  preflight: part.preflight.nullable(),
  checking: z.boolean(),
  estimate: part.estimate.nullable(),
  throughput: z
    .strictObject({ moved: count, withinMs: z.number() })
    .nullable()
    .describe(
      'number of companies moved in the ten minutes before the last count, and for how many milliseconds of this time companies were moving',
    ),
  replacedApplication: count
    .exactOptional()
    .describe(
      'companies that depend on an application that was replaced after they were connected, according to the latest count',
    ),
  companiesPerMinute: z
    .number()
    .nullable()
    .exactOptional()
    .describe('maximum number of moves that begin in a minute; null if there is no maximum'),
  proposal: part.proposal.nullable(),
  reconnections: z
    .strictObject({ waiting: count, checkedAt: nullableTime })
    .exactOptional()
    .describe(
      'companies that are waiting for their end customers to reconnect, and when the service was last asked about them',
    ),
  window: part.windowOccurrence.nullable(),
  openedWindow: part.windowOccurrence
    .nullable()
    .exactOptional()
    .describe(
      "the window that was opened last, by the migration's Schedule in Temporal or by `ferry schedule trigger`",
    ),
  areWindowsPaused: z
    .boolean()
    .exactOptional()
    .describe(
      'true if the windows are paused, and no window is open. Without the ledger, follows from the time when the migration last looked for a window',
    ),
  noFurtherWindow: z
    .boolean()
    .exactOptional()
    .describe(
      'true if the windows were paused while companies were moving: moves continue until the open window closes, and no further window opens',
    ),
  firstCompany: company.firstCompany.nullable(),
  requestedFirst: z.strictObject({ reference: z.string(), notReady: z.boolean() }).nullable(),
  outage: part.outage.nullable(),
  pause: part.pause
    .nullable()
    .describe(
      'the automatic pause, or the oldest pause by a person if the migration did not pause itself; null if the migration is not paused',
    ),
  pauses: z
    .array(part.pause)
    .exactOptional()
    .describe('all pauses: the automatic pause, and at most one pause by each side'),
  reopened: part.reopened.nullable(),
  signing: z
    .strictObject({ mustSign: z.array(part.role), approvers: z.array(decided.approver) })
    .describe('the roles whose decisions must be signed, and the keys that can sign these decisions'),
  fourEyes: z
    .strictObject({ suppliers: texts })
    .nullable()
    .exactOptional()
    .describe(
      'the people who have supplied details, who cannot accept them; null if the migration does not have the four-eyes rule',
    ),
  endedBy: part.endedBy.nullable(),
  endedInTemporal: decided.endedInTemporal
    .exactOptional()
    .describe(
      'how and when the workflow ended in Temporal before the migration had ended; present only if `state` is `terminated`',
    ),
};

export const VIEW_SCHEMAS: CommandSchemas = {
  'ferry.list/1': [
    'ferry list',
    {
      migrations: z.array(
        z.strictObject({
          migrationId: z.string(),
          state: z.string(),
          step: z.string(),
          waitingFor: z.string(),
          total: count,
          done: count.describe(
            'companies with a final outcome; once the workflow has ended, also the companies that were not moved yet',
          ),
          failed: count.describe(
            'companies that must reconnect or were not moved; companies that were left out are not counted',
          ),
          startedAt: time,
          missingKey: nullableText.describe(
            'id of the payload key that is missing on this machine; null if no key is missing',
          ),
          problem: nullableText.describe(
            'why the workers cannot continue this migration; null if no such problem is known',
          ),
          onHoldSince: nullableTime.describe(
            'since when the migration has been on hold and retries automatically; null if it is not known to be on hold',
          ),
          endedInTemporal: z
            .boolean()
            .describe('true if the workflow has ended in Temporal, but the migration has not: support has to close it'),
          ledgerBehind: z
            .boolean()
            .describe(
              'true if the ledger was restored to an older state, so that the counts can be wrong; run ferry reconcile',
            ),
          onlyInLedger: z
            .boolean()
            .describe(
              'true if only the ledger has the migration: Temporal deleted it after its end, lost it, or never had it',
            ),
        }),
      ),
    },
  ],
  'ferry.show/1': [
    'ferry show',
    {
      ...progress,
      forecast: part.forecast.nullable(),
      limits: part.limits
        .nullable()
        .describe(
          'the limits in effect, which `ferry adjust` changes; null if no database is configured, or if the ledger does not have the migration',
        ),
      retrying: texts.describe('errors of failed activities and workflow tasks that Temporal is retrying'),
      clientPage: part.clientPage,
      keyFingerprint: nullableText.describe(
        'fingerprint of the migration key (ferry migration-key); null without a database or a vault, or if the provider has not signed the key',
      ),
      windowsPaused: nullableText.describe(
        'who paused the windows in step 6, and why. In a window that is already open, companies continue to move. Null if the windows are not paused, if no company is left to move, before step 6, after the end, or if no database is configured',
      ),
      ledgerBehind: z.boolean().describe('true if the ledger was restored to an older state; run ferry reconcile'),
      interrupted: z
        .strictObject({ companies: count, inFlightUntil: nullableTime })
        .nullable()
        .describe(
          'companies whose move was interrupted, and until when a credential can still be in flight to the service; null if no database is configured',
        ),
      deferred: z
        .strictObject({
          companies: count,
          references: texts.describe('at most 8'),
          nextTryAt: nullableTime.describe(
            'when the delay of the first of them has passed; null if there are none, if each lacks a confirmation or a usable credential, or while the ledger is behind',
          ),
        })
        .nullable()
        .describe('companies whose field `deferred` in ferry.companies/1 is true; null if no database is configured'),
      confirmedBy: z
        .strictObject({ people: count, names: texts.describe('at most 10') })
        .nullable()
        .describe(
          'people of the client who have confirmed that syncing is off for at least one company; null if no database is configured',
        ),
      changedSinceSignOff: z
        .array(company.changedSinceSignOff)
        .nullable()
        .describe(
          'the sign-offs since which outcomes have changed, for example because an end customer has reconnected; null if no database is configured',
        ),
      replacedApplications: company.movedWithApplication
        .nullable()
        .describe(
          'applications that were replaced after companies had been connected with them, including companies that do not count as moved. The service can no longer refresh the tokens of these companies. Null if no database is configured',
        ),
      next: part.next,
      meanwhile: part.meanwhile,
      firstOpening: part.windowOccurrence
        .nullable()
        .describe(
          'the window that is open at the start (or now, if the start has passed), or else the next window. Null without a start, if moves can begin at any time, once the first company has begun to move, or while the ledger is behind',
        ),
    },
  ],
  'ferry.limits/1': ['ferry adjust without a limit', { migrationId: z.string(), limits: part.limits }],
  'ferry.watch/1': [
    'ferry watch',
    {
      migrationId: z.string(),
      state: z.string(),
      step: part.step,
      waitingFor: part.waitingFor,
      meanwhile: part.meanwhile,
      counts: company.counts,
      pause: part.pause.nullable(),
      pauses: z.array(part.pause).describe('all pauses: the automatic pause, and at most one pause by each side'),
    },
  ],
  'ferry.go-nogo/1': [
    'ferry go-nogo',
    {
      migrationId: z.string(),
      go: z.boolean(),
      window: part.windowOccurrence.nullable(),
      answers: z.array(
        z.strictObject({
          check: z.string(),
          go: z.boolean(),
          warning: z.literal(true).optional().describe('set if the answer is go, but with a warning'),
          why: z.string(),
        }),
      ),
      pauseNotes: texts.describe('the conditions under which the migration pauses itself'),
      notes: texts,
      contact: z.string(),
      next: part.next,
    },
  ],
  'ferry.companies/1': [
    'ferry companies',
    {
      migrationId: z.string(),
      page: count.optional(),
      matching: count.optional().describe('total number of matching companies; only with --page or --limit'),
      companies: z.array(z.strictObject(company.fieldsForSupport).meta({ id: 'Company' })),
    },
  ],
  'ferry.exceptions/1': [
    'ferry exceptions',
    {
      migrationId: z.string(),
      withoutCredential: count.describe('companies that lack only a usable credential'),
      retried: count.describe(
        'companies that are waiting for another try and lack nothing, for example after ferry retry; deferred companies are not counted',
      ),
      retriedRemedies: z
        .array(z.strictObject({ remedy: company.remedy, does: z.string(), companies: count, command: z.string() }))
        .describe(
          'the decisions that people can make about the companies in `retried` until the next try. A command names at most 50 companies. Empty if the companies are being tried now',
        ),
      replacedApplication: count.describe(
        'companies that depend on an application that was replaced after they were connected; `ferry companies --replaced-application` lists them',
      ),
      notMovedAtEnd: count.describe(
        'companies that were still waiting when the migration ended, and have no problem of their own; 0 while the migration is open',
      ),
      exceptions: z.array(
        z
          .strictObject({
            ...company.fieldsForSupport,
            remedies: z.array(z.strictObject({ remedy: company.remedy, does: z.string(), command: z.string() })),
          })
          .meta({
            id: 'Exception',
            description: 'a company that was not moved or cannot be moved as it is, and its remedies',
          }),
      ),
    },
  ],
};
