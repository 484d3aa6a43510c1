/** Tests what the dashboard shows while the ledger is out of date or does not answer. */
import { companyLines, statusLines } from '../../../cli/dashboard/migration-lines';
import type { DashboardRow } from '../../../cli/dashboard/state';
import { textOf } from '../../../cli/terminal/styled-text';
import { progressOf } from '../../../domain/progress/progress';
import { counts, migrationPlan } from '../../support/migrations/migration-states';
import { ESTIMATE, linesOf, moving, NOW, overview, row, RUNNING, stateOf } from './dashboard-states';

test('while the ledger is out of date, the list and the page ask support to reconcile it, and show no end', () => {
  const current = progressOf(migrationPlan(), { ...RUNNING, estimate: ESTIMATE });
  const behind = { ...moving, ledgerBehind: true, progress: current };
  const list = linesOf(stateOf([behind])).join('\n');
  expect(list).toContain('1 open: support 1, running 0, client 0');
  expect(list).toMatch(/moving\.wave .* old ledger .*703\/1203 +12$/m);
  const task = (id: string) =>
    `support: the ledger is out of date, so no company can move; to repair it, run: ferry reconcile ${id}`;
  expect(list.replaceAll('\n', ' ')).toContain(`moving.wave: ${task('moving.wave')}`);
  const snapshot = { progress: current, overview: overview(703, 410), ledgerBehind: true };
  const page = [...statusLines(snapshot, 80, NOW), ...companyLines(snapshot, NOW)]
    .map((line) => line.map(textOf).join(''))
    .join('\n');
  expect(page.replaceAll('\n', ' ')).toContain(`Waiting for ${task(current.migrationId)}`);
  expect(page).not.toMatch(/ends|more by|No action needed|a minute/);
});

test('while the ledger does not answer, left-out companies do not count as moved in the list', () => {
  const some = counts({ total: 40, moved: 39, excluded: 1 });
  const finished = progressOf(migrationPlan(), { ...RUNNING, counts: some });
  const { state, step } = finished;
  const withoutLedger = row('acme.xero', { state, step, total: 40, done: 40 });
  const shown = (changes: Partial<DashboardRow>) =>
    linesOf(stateOf([{ ...withoutLedger, ...changes }])).find((line) => line.includes('acme.xero'));
  expect(shown({ progress: finished })).toMatch(/█░* +39\/40$/);
  // The workflow has not answered, or its answer is from an earlier state than the row.
  expect(shown({})).toMatch(/^[^█░]* \?\/40$/);
  expect(shown({ state: 'paused', progress: finished })).toMatch(/^[^█░]* \?\/40$/);
  expect(shown({ done: 0 })).toMatch(/░ +0\/40$/);
});
