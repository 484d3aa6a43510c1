/** Output of the commands that report the result of a migration and export its audit trail. */
import { z } from 'zod';
import * as company from './company-parts';
import * as decided from './decision-parts';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count, nullableText, nullableTime, texts, time } = part;

const figures = z.strictObject({
  crossed: count.describe(
    'companies whose credential was handed over to the service, or whose end customer reconnected instead',
  ),
  crossingUnknown: count.describe(
    'companies whose credential might have been handed over to the service; it is unknown whether it was used',
  ),
  movable: count.describe(
    'companies whose credential was not handed over to the service, and that can still be moved while the migration is open',
  ),
  mustReconnect: count,
  mustReconnectNotCrossed: count.describe(
    'the part of `mustReconnect` whose credential was not handed over to the service',
  ),
  leftOutUnauthorized: count.describe(
    'companies that had to reconnect but were left out, and whose credential was not handed over to the service',
  ),
  reconnectionsCheckedAt: nullableTime.describe(
    'when the service was last asked whether end customers had reconnected',
  ),
  leftOutAtService: count.describe(
    'companies that were left out after their credential was handed over to the service',
  ),
  firstStartedAt: nullableTime.describe('when the first move began; null if no move has begun'),
  lastMovedAt: nullableTime.describe('when the latest move was completed; null if no company has moved'),
  movingMs: z
    .number()
    .describe(
      'milliseconds between `firstStartedAt` and `lastMovedAt` in which at least one company was moving; time in which several companies were moving is counted once, and moves that failed are not counted. 0 if no company has moved',
    ),
  longestStaleHours: z
    .number()
    .nullable()
    .describe(
      'the longest time for which the data of a moved company was out of date: from its confirmation to its move, in hours; null if no company has moved',
    ),
  medianStaleHours: z
    .number()
    .nullable()
    .describe(
      'the median of the times for which the data of moved companies was out of date, in hours; null if no company has moved',
    ),
  credentialsLeft: count.describe(
    'sealed credentials that have not been deleted yet: in the vault, or supplied and not in the vault yet',
  ),
});

const stoppage = {
  kind: z
    .enum(['pause', 'outage'])
    .describe('`pause`: the migration paused itself; `outage`: it waited, because no call got through'),
  stop: part.stopReason.nullable().describe('why the migration paused itself; null for an outage, or if it is unknown'),
  source: z
    .enum(['service', 'platform'])
    .nullable()
    .describe(
      '`service`: no call got through to the service; `platform`: no call got through from the service to the platform; null for a pause',
    ),
  beganAt: time,
  endedAt: nullableTime.describe('null while it continues'),
};

export const REPORT_SCHEMAS: CommandSchemas = {
  'ferry.report/1': [
    'ferry report',
    {
      migrationId: z.string(),
      route: part.route,
      client: z.string(),
      platformKey: z.string(),
      contact: z.string(),
      ending: z.enum(['completed', 'abandoned', 'cancelled']).nullable(),
      endedInTemporal: decided.endedInTemporal
        .nullable()
        .describe(
          'how and when the workflow ended in Temporal before the migration had ended; null if that did not happen or is unknown, and once the migration has been closed',
        ),
      isFinishing: z
        .boolean()
        .describe(
          'true if the migration has ended, but either it is not closed yet, or companies that were moving are still being checked',
        ),
      paused: z.boolean(),
      ledgerBehind: z
        .boolean()
        .describe(
          'true if the ledger was restored to an older state, so that the numbers can be wrong; run ferry reconcile',
        ),
      suppliedBy: z.string(),
      applications: z.strictObject({
        moved: company.movedWithApplication.describe(
          'the applications with which companies were connected, including companies that do not count as moved',
        ),
        replaced: company.movedWithApplication.describe('the applications in `moved` that were replaced later'),
        registered: company.application
          .nullable()
          .describe('the application that is registered now; null if it is unknown or belongs to another client'),
      }),
      planned: z
        .strictObject({
          startAt: time,
          opensAt: time
            .exactOptional()
            .describe(
              'when the first window after the start opens; absent if the start is in a window, or if there are no windows',
            ),
          estimate: part.estimate,
        })
        .nullable(),
      suppliedAt: time,
      closedAt: nullableTime,
      vaultDestroyedAt: nullableTime,
      counts: company.counts,
      figures,
      decisions: z.array(z.strictObject({ decision: decided.decision, outcome: decided.outcome })),
      changedSinceSignOff: z
        .array(company.changedSinceSignOff)
        .describe(
          'the sign-offs since which outcomes have changed, for example because an end customer has reconnected',
        ),
      stoppages: z
        .array(z.strictObject(stoppage))
        .describe(
          'the times in which no company moved because the migration had paused itself or waited out an outage; oldest first',
        ),
      unproven: texts
        .nullable()
        .describe(
          'how the ledger differs from the signed decisions; null if the migration was started without approvers',
        ),
      companies: z.array(
        z
          .strictObject({
            ...company.fields,
            switchOn: z.enum(['never', 'ask-first', 'not-yet', 'until-reconnected', 'after-authorization', 'yes']),
            remedies: z.array(company.remedy),
          })
          .meta({
            id: 'ReportedCompany',
            description: 'a company, and whether the client may let its own application sync this company again',
          }),
      ),
    },
  ],
  'ferry.audit/1': [
    'ferry audit',
    {
      migrationId: z.string(),
      stoppages: z
        .array(
          z.strictObject({
            ...stoppage,
            why: z
              .string()
              .describe(
                'for a pause, its reason and the advice of that time; for an outage, the error of a call that failed',
              ),
          }),
        )
        .describe(
          'the times in which no company moved because the migration had paused itself or waited out an outage; oldest first',
        ),
      trail: z.array(
        z
          .strictObject({
            at: time,
            applied: z.boolean(),
            outcome: z.string(),
            decision: decided.decision,
            signed: z.looseObject({ message: z.string() }).optional().describe('the signed message as received'),
          })
          .meta({ id: 'TrailEntry' }),
      ),
    },
  ],
  'ferry.audit-verification/1': [
    'ferry audit --verify',
    {
      migrationId: z.string(),
      entries: count,
      unproven: z.array(z.strictObject({ line: count, decisionId: nullableText, why: z.string() })),
      unverified: count.describe(
        'applied decisions of support that were not verified, because no key of support was given',
      ),
      added: z.array(decided.approver).describe('the approvers that were added by signed decisions'),
      end: z
        .strictObject({
          migrationId: z.string(),
          entries: count,
          sha256: z.string(),
          exportedBy: z.string(),
          exportedAt: time,
        })
        .nullable()
        .describe(
          'null if the file as a whole is not signed, or if its signature was not verified, because no key of support was given',
        ),
    },
  ],
};
