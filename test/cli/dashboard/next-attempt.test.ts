/** Tests what the dashboard offers after a rejection of the first company, with answers from the test. */
import { askNextAttempt } from '../../../cli/dashboard/next-attempt';
import type { Choice, Prompts, TextQuestion } from '../../../cli/terminal/prompts';
import type { FailureKind } from '../../../domain/companies/failures';
import { progressOf } from '../../../domain/progress/progress';
import { migrationPlan, stateAt } from '../../support/migrations/migration-states';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';

const orchestrator = useOrchestrator();
let id: string;
beforeAll(async () => {
  ({ id } = await startTestMigration(orchestrator, 'next-attempt', ['sbx-ok-1.na1', 'sbx-ok-1.na2']));
});

/** Runs the questions after a first company with this failure. Chooses another company, and names R-2. */
async function ask(failure: FailureKind | null) {
  const offered: string[] = [];
  let rejection: TextQuestion['rejection'];
  const prompts = {
    choose: async <Value>(_: string, choices: readonly Choice<Value>[]) => {
      offered.push(...choices.map(({ name }) => name));
      return 'another-company' as Value;
    },
    text: async (_: string, question?: TextQuestion) => ((rejection = question?.rejection), 'R-2'),
  } as unknown as Prompts;
  const stage = failure === null ? 'verified' : 'failed';
  const firstCompany = { row: 1, reference: 'R-1', stage, failure, evidence: [] } as const;
  const progress = progressOf(migrationPlan(), stateAt('migrate-first-company', { firstCompany }));
  const fields = await askNextAttempt(orchestrator.ferry, prompts, id, progress);
  return { offered, fields, rejection };
}

test('the same company is preselected only if another try can help, and the other conditions are said', async () => {
  const [another, abandon] = ['another company', 'abandon the migration'];
  const same = 'the same company again';
  expect((await ask(null)).offered).toEqual([same, another, abandon]);
  expect((await ask('sync-failed')).offered).toEqual([same, another, abandon]);
  expect((await ask('reauthorization-required')).offered).toEqual([
    another,
    `${same} (helps only once its end customer has reconnected)`,
    abandon,
  ]);
  expect((await ask('wrong-organization')).offered).toEqual([
    another,
    `${same} (helps only with a new credential from the client)`,
    abandon,
  ]);
});

test('without the reference of another company, the question is asked again', async () => {
  const { rejection, fields } = await ask(null);
  expect(rejection?.('')).toBe('Enter the reference of a company');
  expect(rejection?.('R-2')).toBeNull();
  expect(fields).toEqual({ next: 'another-company', company: 'R-2' });
});
