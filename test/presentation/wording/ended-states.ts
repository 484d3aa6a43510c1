/** Managed migrations that have ended, and the first line of the client's page in each of them. */
import { counts, stateAt } from '../../support/migrations/migration-states';
import { step6, type Row } from './managed-states';

export const ENDED: readonly Row[] = [
  [
    'completed',
    step6({ total: 60, moved: 60 }, { closed: 'completed' }),
    'Completed: all 60 companies have moved. Please do what the handover report asks of you.',
  ],
  [
    'completed, without the companies that were given up on',
    step6({ total: 60, moved: 50, failed: 3, skipped: 7 }, { closed: 'completed' }),
    'Completed: 50 of 60 companies have moved. Please do what the handover report asks of you.',
  ],
  [
    'completed, with companies that must reconnect',
    step6({ total: 60, moved: 50, failed: 10, mustReconnect: 7 }, { closed: 'completed' }),
    'Completed: 50 of 60 companies have moved. 7 companies must reconnect: please send each end customer the link.',
  ],
  [
    'abandoned',
    stateAt('migrate-first-company', { closed: 'abandoned', counts: counts({ total: 1, moved: 1 }) }),
    'Ended after the first company: the company has moved.',
  ],
  [
    'cancelled',
    step6({ total: 60, moved: 4, waiting: 56 }, { closed: 'cancelled' }),
    'Cancelled: 4 of 60 companies have moved.',
  ],
];
