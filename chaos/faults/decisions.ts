/** Faults that people cause: many decisions at once, which are repeated, late or invalid, and a changed window. */
import { randomUUID } from 'node:crypto';
import { CLIENT, SUPPORT, type ChaosMigration } from '../driver/migration';
import type { FaultKind } from './fault';

/** The number of invalid or late decisions in a storm, in addition to the pause, which is sent three times. */
const STORM = 20;

const NONSENSE: readonly unknown[] = [
  null,
  17,
  'pause',
  [],
  {},
  { role: 'director', by: 'Eve' },
  { role: 'support', by: '\u0000' },
  { role: 'client', by: 'x'.repeat(5_000) },
  { decisionId: 'terminated-in-temporal', role: 'client', by: 'Eve' },
];

/**
 * Sends one pause three times, among decisions that must be refused or ignored. `repair` resumes the migration.
 */
export const decisionStorm: FaultKind = ({ migrations }, random) => {
  const migration = random.pick(migrations);
  const senders = Array.from({ length: STORM }, () => random.pick(INVALID_DECISIONS)(migration));
  return {
    name: `storm of ${STORM} invalid decisions to ${migration.id}`,
    lastsMs: 0,
    begin: async () => {
      const decisionId = randomUUID();
      const pause = { decisionId, ...SUPPORT, reason: 'a storm' };
      await Promise.all([
        migration.decide('pause', pause),
        // The same decision again, and by a signal.
        migration.decide('pause', pause),
        migration.signal('pause', pause),
        ...senders.map((send) => send()),
      ]);
    },
    repair: async () => {
      await migration.decide('resume', { ...SUPPORT, reason: 'the storm is over' });
    },
  };
};

const INVALID_DECISIONS: readonly ((migration: ChaosMigration) => () => Promise<unknown>)[] = [
  ...NONSENSE.map((content) => (migration: ChaosMigration) => () => migration.signal('approve', content)),
  ...NONSENSE.map((content) => (migration: ChaosMigration) => () => migration.signal('cancel', content)),
  // Too late: the steps of these two decisions have ended.
  (migration) => () => migration.decide('approve', { step: 'supply-details', ...SUPPORT }),
  (migration) => () => migration.decide('proposeTime', { startAt: '2020-01-01T00:00:00Z', ...SUPPORT }),
  // The wrong role.
  (migration) => () => migration.decide('adjust', { limits: { slicesAtOnce: 64 }, ...CLIENT }),
  // Too early: companies are still open.
  (migration) => () => migration.decide('approve', { step: 'complete-migration', ...SUPPORT }),
];

const MINUTE_MS = 60_000;
const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Closes the window for a minute that begins in 5 to 65 s. Afterwards the window is open until an hour from now. */
export const windowEdge: FaultKind = ({ migrations }, random) => {
  const migration = random.pick(migrations);
  const closesAtMs = Math.ceil((Date.now() + 5_000) / MINUTE_MS) * MINUTE_MS;
  return {
    name: `window of ${migration.id} closes for a minute`,
    lastsMs: 0,
    begin: async () => {
      const now = Date.now();
      const windows = [
        window(now - MINUTE_MS, Math.max(closesAtMs, now)),
        window(Math.max(closesAtMs, now) + MINUTE_MS, now + 60 * MINUTE_MS),
      ];
      await migration.decide('adjust', { limits: { windows }, ...SUPPORT });
    },
    repair: () => Promise.resolve(),
  };
};

const window = (fromMs: number, toMs: number) => ({
  days: DAYS,
  from: clock(fromMs),
  to: clock(toMs),
  timeZone: 'UTC',
});

const clock = (ms: number): string => new Date(ms).toISOString().slice(11, 16);
