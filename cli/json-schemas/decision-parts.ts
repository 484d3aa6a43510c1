/** The types about decisions and their outcomes that several outputs share. */
import { z } from 'zod';
import { role, time, nullableText, nullableTime } from './parts';

/** A key of a person whose signed decisions are accepted. */
export const approver = z.strictObject({
  role,
  by: z.string(),
  publicKey: z.string().describe('Ed25519, 64 hexadecimal digits'),
});

export const decision = z
  .looseObject({
    kind: z.string(),
    decisionId: z.string(),
    role: role.nullable(),
    by: nullableText,
    reason: z.string().optional(),
  })
  .meta({ id: 'Decision', description: 'a decision as it was sent; its other fields depend on its kind' });

export const outcome = z
  .strictObject({
    decisionId: z.string(),
    applied: z.boolean(),
    text: z.string(),
    at: time,
    malformed: z.literal(true).optional(),
  })
  .meta({ id: 'Outcome' });

/** How and when the workflow of a migration ended in Temporal before the migration had ended. */
export const endedInTemporal = z.strictObject({
  status: z.enum(['terminated', 'timed_out', 'failed', 'cancelled_in_temporal']),
  at: nullableTime,
});

/** A decision and its result. */
export const sentDecision = {
  migrationId: z.string(),
  message: z.string().describe('name of the Temporal update or signal'),
  outcome: z
    .enum(['applied', 'refused', 'recorded'])
    .describe(
      '`recorded` means that Temporal has the decision, but its outcome is not known yet, or cannot be read on this machine',
    ),
  decisionId: z.string(),
  text: z.string(),
  signedBy: nullableText,
};
