/** Tests that show and the desk print times in the time zone of the machine. */
import { progressOf } from '../../../domain/progress/progress';
import { statusLines } from '../../../cli/dashboard/migration-lines';
import { AT, counts, LATER, migrationPlan, preflight, stateAt } from '../../support/migrations/migration-states';
import { inTimeZone } from '../time-zone';
import { shownMigration } from './shown-migration';

const plan = migrationPlan({ migrationId: 'acme.quickbooks-online' });
const some = counts({ total: 60, moved: 43, importing: 3, waiting: 4, failed: 10, mustReconnect: 3 });
const LOCAL_AT = 'Mon 2 Mar 2026, 04:00 UTC-05:00';
const endedBy = { by: 'Sam', role: 'support', reason: null, at: AT } as const;

test.each([
  [`Paused by Sam since ${LOCAL_AT}: tea`, { pause: { reason: 'tea', by: 'Sam', stopReason: null, at: AT } }],
  [
    `Handover rejected by Cleo (client) at ${LOCAL_AT}: one is missing`,
    { reopened: { step: 'complete-migration', by: 'Cleo', role: 'client', reason: 'one is missing', at: AT } },
  ],
  [
    `the account expires at ${LOCAL_AT}`,
    { step: 'supply-details', preflight: preflight({ warnings: ['the account expires at 2026-03-02 09:00 UTC'] }) },
  ],
  [`Cancelled by Sam (support) at ${LOCAL_AT}`, { closed: 'cancelled', endedBy }],
] as const)('in another time zone, show and the desk print the time there: %s', (text, changes) =>
  inTimeZone('America/New_York', () => {
    const progress = progressOf(plan, { ...stateAt('complete-migration', { counts: some }), ...changes });
    expect(shownMigration(progress)).toContain(text);
    if (!('pause' in changes || 'reopened' in changes)) return;
    expect(statusLines({ progress }, Infinity, new Date(LATER))).toContainEqual([text]);
  }),
);
