/** Output of the commands for decisions and windows. */
import { z } from 'zod';
import * as part from './parts';
import type { CommandSchemas } from './parts';

const { count } = part;

export const DECISION_SCHEMAS: CommandSchemas = {
  'ferry.decision/1': [
    'every command that sends a decision: ferry approve, reject, sign-off, propose-time, ...',
    {
      ...part.sent,
      companies: count.optional().describe('number of companies in the decision'),
      preflight: part.preflight.nullable().optional().describe('only from ferry application'),
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
          note: z.string().nullable(),
        }),
      ),
    },
  ],
  'ferry.schedule-change/1': [
    'ferry schedule pause, resume, trigger',
    { results: z.array(z.strictObject({ migrationId: z.string(), done: z.boolean(), text: z.string() })) },
  ],
  'ferry.sweep/1': [
    'ferry sweep',
    {
      schedulesDeleted: z.array(z.string()),
      closed: z.array(z.string()),
      closing: z.array(z.string()),
      open: z.array(z.string()),
    },
  ],
};
