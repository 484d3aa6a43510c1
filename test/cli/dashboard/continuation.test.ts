/** Tests that the estimated end and the text beside it, which says when moves continue, follow from the same counts. */
import { companyLines } from '../../../cli/dashboard/migration-lines';
import { printEnd } from '../../../cli/reporting/migration-end';
import { Output } from '../../../cli/terminal/output';
import { textOf } from '../../../cli/terminal/styled-text';
import type { WEEKDAYS } from '../../../domain/planning/windows';
import { progressOf } from '../../../domain/progress/progress';
import { counts, migrationPlan } from '../../support/migrations/migration-states';
import { capturedStream } from '../captured-terminal';
import { NOW, RUNNING, linesOf, moving, overview, stateOf } from './dashboard-states';

const days: readonly (typeof WEEKDAYS)[number][] = ['mon', 'wed'];
const windows = [{ days, from: '22:00', to: '22:10', timeZone: 'UTC' }];
/** The progress in the workflow, which last counted the companies when all that remained were moving. */
const older = progressOf(migrationPlan(), {
  ...{ ...RUNNING, limits: { ...RUNNING.limits, windows } },
  counts: counts({ total: 1203, moved: 703, syncing: 500 }),
});
const live = overview(703, 410, { waiting: 500 });
const CONTINUES = 'the window closes 22:10, and moves continue Wed 22:00';

test('the list says when moves continue by the counts of the ledger', () => {
  expect(linesOf(stateOf([{ ...moving, overview: live, progress: older }])).join(' ')).toContain(CONTINUES);
});

test('the page says when moves continue by the counts of the ledger', () => {
  const lines = companyLines({ progress: older, overview: live }, NOW).map((line) => line.map(textOf).join(''));
  expect(lines.join('\n')).toContain(CONTINUES);
});

test('show says when moves continue by the counts of the ledger', () => {
  const stdout = capturedStream(200);
  const found = { live, windowsPaused: null, isBatchRunning: false };
  printEnd(new Output({ stdout, stderr: stdout }, false), older, found, NOW);
  expect(stdout.text).toContain(CONTINUES);
});
