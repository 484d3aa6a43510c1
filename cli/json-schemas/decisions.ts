/** Output of the commands for decisions and windows, of `ferry reconcile` and of `ferry sweep`. */
import { z } from 'zod';
import * as decided from './decision-parts';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count, nullableText, texts } = part;

/** The fields of a decision that a restored ledger had lost. */
const lostDecision = { decisionId: z.string(), kind: z.string(), by: nullableText, at: z.string() };

export const DECISION_SCHEMAS: CommandSchemas = {
  'ferry.decision/1': [
    'ferry approve, reject, sign-off, propose-time, and every other command that sends a decision and has no schema of its own',
    {
      ...decided.sentDecision,
      companies: count
        .optional()
        .describe(
          'number of companies that the decision names; if a part of the decision was refused, the parts after it were not sent, and their companies are not counted',
        ),
      preflight: part.preflight.nullable().optional().describe('only from ferry application'),
      firstOpening: part.windowOccurrence
        .nullable()
        .optional()
        .describe(
          'only from ferry propose-time: as `firstOpening` in ferry.show/1, but also null if no worker answers or the proposal has changed since',
        ),
    },
  ],
  'ferry.schedule/1': [
    'ferry schedule show',
    {
      schedules: z.array(
        z.strictObject({
          migrationId: z.string(),
          windows: z.array(part.window),
          occurrences: z.array(part.windowOccurrence),
          state: z.enum(['running', 'paused', 'not-yet', 'none']),
          note: nullableText,
          startAt: nullableText.describe(
            'the proposed or approved start, if it is in the future and `state` is `not-yet`; `occurrences` then omits windows that close before the start',
          ),
          allReleased: z
            .boolean()
            .describe('true if all companies are allowed to move: in step 6 and in the self-service route'),
        }),
      ),
    },
  ],
  'ferry.schedule-change/1': [
    'ferry schedule pause, resume, trigger',
    { results: z.array(z.strictObject({ migrationId: z.string(), done: z.boolean(), text: z.string() })) },
  ],
  'ferry.reconciliation/1': [
    'ferry reconcile',
    {
      migrationId: z.string(),
      workflow: z.enum(['running', 'gone', 'completed', 'abandoned', 'cancelled']),
      decisions: z
        .array(
          z.strictObject({
            ...lostDecision,
            wasRefused: z.literal(true).exactOptional().describe('the decision had been refused'),
            isPartial: z
              .literal(true)
              .exactOptional()
              .describe(
                'the ledger has lost credentials of this decision that might still be needed; if `workflow` is `running`, supply them again',
              ),
          }),
        )
        .describe('decisions that the ledger had lost, and has now recorded again'),
      refused: z
        .array(
          z.strictObject({
            ...lostDecision,
            why: z.string(),
            supplyWith: z
              .enum(['manifest', 'amend'])
              .exactOptional()
              .describe(
                'the ledger has lost the rows of the latest manifest; this command supplies them again (`amend` if support has accepted the details, or companies have been moved, tried or left out)',
              ),
          }),
        )
        .describe(
          'decisions that the workflow has applied, but that the ledger does not accept; if `workflow` is `running`, make these decisions again',
        ),
      linked: texts.describe('references of companies that are now syncing, because their connections are linked'),
      notMoved: texts,
      unknown: texts.describe(
        'references of companies whose single-use credential might have been used; if `workflow` is `running`, a person must decide',
      ),
      interrupted: texts.describe(
        'references of companies whose single-use credential might have been used; if `workflow` is `running`, this credential will be sent to the same connection again',
      ),
      adopted: texts.describe(
        'references of waiting companies that already exist at the service, and whose credential can still be sent; the ledger now has their ids at the service',
      ),
      gone: texts.describe(
        'references of companies that the service no longer has. Their credentials might have been sent, so these companies need new credentials',
      ),
      toCreate: texts.describe(
        'references of companies that the service no longer has; if `workflow` is `running`, the next try creates these companies again',
      ),
      doubled: texts.describe('references for which the service has more than one company'),
      isIncomplete: z
        .literal(true)
        .exactOptional()
        .describe('the repair was interrupted and began again; repairs from before the interruption are not listed'),
    },
  ],
  'ferry.sweep/1': [
    'ferry sweep',
    {
      schedulesDeleted: texts,
      closed: texts,
      closing: texts,
      open: texts,
      failed: z
        .array(z.object({ migrationId: z.string(), why: z.string() }))
        .describe('migrations that could not be closed'),
    },
  ],
};
