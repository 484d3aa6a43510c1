/** Tests the dialogs of the dashboard with answers from the test, while no worker is running. */
import type { DialogContext } from '../../../cli/dashboard/dialogs';
import { openDialogs } from '../../../cli/dashboard/dialogs';
import type { Choice } from '../../../cli/terminal/prompts';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { capturedStream } from '../captured-terminal';

const orchestrator = useOrchestrator();

test('a company whose reference is "all" is retried by itself', async () => {
  const { id } = await startTestMigration(orchestrator, 'reference-all', ['sbx-ok-1.ra1', 'sbx-ok-1.ra2']);
  await updateRow(orchestrator.ferry.db, id, 1, { reference: 'all', state: 'failed', failure: 'refused' });
  await updateRow(orchestrator.ferry.db, id, 2, { state: 'failed', failure: 'refused' });
  const questions: string[] = [];
  const prompts = {
    choose: async <Value>(_: string, choices: readonly Choice<Value>[], defaultValue?: Value): Promise<Value> =>
      (choices.find(({ value }) => value === defaultValue) ?? choices[0])?.value as Value,
    text: async () => 'Sam',
    confirm: async (question: string) => questions.push(question) < 0,
  };
  const terminal = { stdout: capturedStream(), stderr: capturedStream(), env: {} };
  const context = { ferry: orchestrator.ferry, terminal, prompts, role: 'support', by: 'Sam' };
  const openDialog = openDialogs(context as unknown as DialogContext);
  const result = await openDialog({ kind: 'retry', migrationId: id, reference: 'all' }, 'supply-details');
  expect(result).toEqual({ outcome: 'nothing', text: 'Nothing was decided.' });
  expect(questions).toEqual([`In ${id}, retry all?`]);
});
