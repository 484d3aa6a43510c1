/** Tests that `ferry approve` shows a review, asks for confirmation, and approves exactly what it has shown. */
import { until } from '../../support/async';
import { useOrchestratorWithWorker } from '../../support/servers/orchestrator';
import { ferry } from '../captured-terminal';
import { runJson, MANIFEST } from '../command-line';

const orchestrator = useOrchestratorWithWorker();
const ID = 'approver.quickbooks-online';

beforeAll(async () => {
  const start = ['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'approver', '--by', 'Mia'];
  const strictRules = ['--require-digest', '--four-eyes', '--ramp', '5', '--remind-while-stale', '1h,30m,4h'];
  await ferry([...start, ...strictRules], undefined, orchestrator.env);
});

const SAM = ['--by', 'Sam'];
/** Runs a command at a terminal, and answers every question of the command with yes (true) or no (false). */
const answering = async (answer: boolean, ...args: string[]) => {
  const questions: string[] = [];
  const confirm = async (question: string) => (questions.push(question), answer);
  const ran = await ferry(args, undefined, orchestrator.env, { confirm, secret: async () => '' });
  return { ...ran, questions };
};

test('limits that are passed to start are stored', async () => {
  const limits = await orchestrator.ferry.db.selectFrom('migrations').select('limits').executeTakeFirstOrThrow();
  expect(limits.limits).toMatchObject({
    rampCompanies: 5,
    remindWhileStale: { firstAfterMs: 3_600_000, everyMs: 1_800_000, escalateAfterMs: 14_400_000 },
  });
});

test.each([
  ['--tolerated-share', '7', 'Expected a number from 0 to 1, or "any".'],
  ['--tolerated-share', '30%', 'Expected a number from 0 to 1, or "any".'],
  ['--companies-per-minute', '0', 'Expected a whole number from 1 to 1,000,000, or "any".'],
  ['--ramp', 'some', 'Expected a whole number from 0 to 100,000; 0 means no ramp.'],
])('an invalid limit is refused before anything is stored: %s %s', async (option, value, expected) => {
  const start = ['start', MANIFEST, '--platform', 'quickbooks-online', '--client', 'nobody', option, value];
  const { exitCode, err } = await ferry(start, undefined, orchestrator.env);
  expect(exitCode).toBe(2);
  expect(err).toContain(expected);
  expect((await runJson(orchestrator, 'companies', 'nobody.quickbooks-online')).exitCode).toBe(1);
});

test('approve shows a review on a terminal, and decides nothing if the answer is no', async () => {
  const { exitCode, out, err, questions } = await answering(false, 'approve', ID, ...SAM);
  expect({ exitCode, questions }).toEqual({ exitCode: 1, questions: ['Approve supply-details as support (Sam)?'] });
  expect(out).toContain('25 companies, supplied by Mia');
  expect(err).toContain('nothing was decided');
  expect((await runJson(orchestrator, 'audit', ID)).json['trail']).toEqual([]);
  expect((await ferry(['audit', ID], undefined, orchestrator.env)).out).toContain('No decisions yet.\n');
});

test('with --four-eyes, the person who supplied the details cannot approve them, and is told who can', async () => {
  const { exitCode, out, err, questions } = await answering(true, 'approve', ID, '--by', 'mia');
  expect({ exitCode, err, questions }).toEqual({ exitCode: 1, err: '', questions: [] });
  expect(out).toContain('25 companies, supplied by Mia');
  expect(out).toContain(
    `  four-eyes rule: someone other than Mia approves the step as support with: ferry approve ${ID} supply-details --by "your name"\n`,
  );
  const shown = await ferry(['show', ID], undefined, orchestrator.env);
  expect(shown.out).toContain('Four-eyes rule: someone other than Mia must approve this step as support\n');
  // The command has `--by`, because the default name could be Mia, whose approval would be refused.
  expect(shown.out).toContain(`support: ferry approve ${ID} supply-details --by "your name"\n`);
  expect(out).toContain('refused: ' + `${ID}: mia has supplied or corrected details`);
});

test('an approval with a different digest is refused as out of date', async () => {
  const { json, exitCode } = await runJson(orchestrator, 'approve', ID, 'supply-details', '--digest', 'f00', ...SAM);
  expect(exitCode).toBe(1);
  expect(json['text']).toContain('what you reviewed has changed');
});

test('a decision is refused after its --valid-until', async () => {
  const late = ['--valid-until', '2026-01-01T00:00:00Z'];
  const { json } = await runJson(orchestrator, 'approve', ID, 'supply-details', ...SAM, ...late);
  expect(json['text']).toContain('this decision expired at 2026-01-01 00:00 UTC');
});

test('an approval on a terminal contains the digest of the review that was shown', async () => {
  const { exitCode, questions } = await answering(true, 'approve', ID, 'supply-details', ...SAM);
  expect({ exitCode, questions }).toEqual({ exitCode: 0, questions: ['Approve supply-details as support (Sam)?'] });
  const withYes = await answering(true, 'approve', ID, 'update-application', '--yes', ...SAM);
  expect(withYes).toMatchObject({ exitCode: 0, questions: [] });
});

test('a person who has acted only in the other role is told so', async () => {
  const asClient = await answering(false, 'approve', ID, 'update-application', '--as', 'client', ...SAM);
  // The four-eyes rule refuses this approval, so no question is asked.
  expect(asClient.questions).toEqual([]);
  expect(asClient.err).toContain(
    'ferry: note: Sam now approves as client, but has approved or proposed only as support so far; to approve as support instead, add --as support\n',
  );
  const asSupport = await answering(false, 'approve', ID, 'update-application', ...SAM);
  expect(asSupport.err).not.toContain('approved or proposed only as');
});

test.each([
  ['schedule', 'there is no start time to approve; propose one first'],
  ['update-application', 'has already been approved by support (Sam)'],
  ['migrate-first-company', 'step 5 (migrate the first company) is not open yet'],
])('an approval of %s that the migration will refuse is refused without a question', async (step, why) => {
  const { exitCode, out, questions } = await answering(true, 'approve', ID, step, ...SAM);
  expect({ exitCode, questions }).toEqual({ exitCode: 1, questions: [] });
  expect(out).toContain(why);
});

test('the handover cannot be signed off before anything has been moved', async () => {
  const { exitCode, out } = await ferry(['sign-off', ID, '--yes', ...SAM], undefined, orchestrator.env);
  expect(exitCode).toBe(1);
  expect(out).toContain('Complete the migration');
  expect(out).toContain('refused');
  expect((await answering(true, 'sign-off', ID, ...SAM)).questions).toEqual([]);
});

test('the audit trail contains every decision in order, and can be exported', async () => {
  const { temporal } = orchestrator.ferry;
  await temporal.workflow.getHandle(ID).signal('approve', { step: 'shedule', role: 'support', by: '=cmd()' });
  const trail = async () => (await runJson(orchestrator, 'audit', ID)).json['trail'] as { applied: boolean }[];
  await until(async () => (await trail()).length === 13);
  expect((await trail()).map(({ applied }) => applied)).toEqual([
    ...[false, false, false, true, true, false, false, false, false, false, false, false, false],
  ]);

  const { out: lines } = await ferry(['audit', ID, '--format', 'jsonl'], undefined, orchestrator.env);
  const [decision, ledger] = lines
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as unknown)
    .slice(-2);
  expect(ledger).toMatchObject({ ledger: { released: 'nothing', confirmations: [] } });
  expect(decision).toMatchObject({
    applied: false,
    outcome: expect.stringContaining('step must be one of') as unknown,
    decision: { kind: 'unreadable', by: '=cmd()' },
  });

  const { out: csv } = await ferry(['audit', ID, '--format', 'csv'], undefined, orchestrator.env);
  expect(csv.split('\n')[0]).toBe('at,by,role,decision,applied,outcome,reason,digest,decisionId,content');
  // The text is escaped, because a spreadsheet would run it as a formula.
  expect(csv).toContain("'=cmd()");
  expect(csv).not.toContain(',=cmd()');

  const { out: table } = await ferry(['audit', ID], 160, orchestrator.env);
  expect(table).toContain('approve step 1 (supply details)');
  expect(table).toContain('unreadable decision: approve');
});

test('audit fails for an unknown migration', async () => {
  const { exitCode, err } = await ferry(['audit', 'nobody.xero'], undefined, orchestrator.env);
  expect({ exitCode, err }).toEqual({
    exitCode: 1,
    err: 'ferry: there is no migration nobody.xero; list all migrations with: ferry list\n',
  });
});

test('a refused approval of a step that has ended suggests no other approval of this step', async () => {
  const again = ['approve', ID, 'supply-details', '--as', 'client', '--by', 'Cleo'];
  const { out } = await ferry(again, undefined, orchestrator.env);
  expect(out).toContain(`to see what the migration is waiting for, run: ferry show ${ID}\n`);
});

test.each([
  {
    before: ['propose-time', ID, 'now', '--as', 'client', '--by', 'Cleo'],
    args: ['approve', ID, 'schedule'],
    lost: /once steps 2 to 4 have ended, the first company will be moved\. This approval can be withdrawn until that move/,
  },
  {
    args: ['cancel', ID, '--reason', 'a script said so'],
    lost: /no company has moved, none will be moved, and all supplied credentials will be destroyed/,
  },
  {
    args: ['reject', ID, 'migrate-first-company', '--next', 'abandon', '--reason', 'a script said so'],
    lost: /no company has moved, none will be moved, and all supplied credentials will be destroyed/,
  },
  {
    args: ['exclude', ID, 'C-1002', 'C-1001', '--reason', 'a script said so'],
    lost: /2 companies will not be moved and cannot be added to this migration again: C-1002 \(.+, not moved yet\), C-1001 \(/,
  },
])(
  'ferry $args decides nothing without --yes or a terminal, and names the consequences',
  async ({ before: first, args, lost }) => {
    if (first) await ferry(first, undefined, orchestrator.env);
    const recorded = async () => (await runJson(orchestrator, 'audit', ID)).json['trail'];
    const before = await recorded();
    for (const more of [[], ['--json'], ['--quiet']]) {
      const { exitCode, out, err } = await ferry([...args, ...SAM, ...more], undefined, orchestrator.env);
      expect(exitCode).toBe(1);
      expect(out + err).toMatch(lost);
      expect(out + err).toContain('cannot be undone');
      expect(out + err).toContain('run the command again with --yes');
    }
    expect(await recorded()).toEqual(before);
  },
);

test('the client is not asked whether to end the migration, because it cannot reject the first company', async () => {
  const abandon = ['reject', ID, 'migrate-first-company', '--next', 'abandon', '--reason', 'too slow'];
  const { exitCode, out, questions } = await answering(true, ...abandon, '--as', 'client', '--by', 'Cleo');
  expect({ exitCode, questions }).toEqual({ exitCode: 1, questions: [] });
  expect(out).toContain('cannot reject step 5');
});

test('cancel shows the consequences and asks for confirmation', async () => {
  const cancel = ['cancel', ID, '--reason', 'they stay where they are', ...SAM];
  const declined = await answering(false, ...cancel);
  expect(declined).toMatchObject({ exitCode: 1, questions: [`Cancel ${ID} for good?`] });
  expect(declined.out).toContain('This cannot be undone: no company has moved, none will be moved, ');
  expect(declined.err).toContain(`nothing was cancelled; to stop moves for a while, run: ferry pause ${ID}`);
  expect(await answering(true, ...cancel)).toMatchObject({ exitCode: 0, questions: [`Cancel ${ID} for good?`] });
  expect((await runJson(orchestrator, 'show', ID)).json['state']).toBe('cancelled');
});

test('cancel --yes says nothing about moves if no company is being moved', async () => {
  const start = ['start', '--manifest-later', '--platform', 'quickbooks-online', '--client', 'approver'];
  expect(await ferry([...start, '--label', 'empty', ...SAM], undefined, orchestrator.env)).toMatchObject({ err: '' });
  const cancel = ['cancel', `${ID}.empty`, '--reason', 'not wanted', '--yes', ...SAM];
  const { exitCode, out } = await ferry(cancel, undefined, orchestrator.env);
  expect(exitCode).toBe(0);
  expect(out).not.toContain('handed over');
});

test.each([
  [['sign-off', ID]],
  [['cancel', ID, '--reason', 'once more']],
  [['exclude', ID, 'C-1001', '--reason', 'too late']],
  [['reject', ID, 'migrate-first-company', '--next', 'abandon', '--reason', 'too late']],
])('a decision that can only be refused needs no confirmation: %j', async (args) => {
  const { exitCode, out, err, questions } = await answering(true, ...args, ...SAM);
  expect({ exitCode, questions }).toEqual({ exitCode: 1, questions: [] });
  // The output depends on whether the workflow of the cancelled migration has already ended.
  expect(out + err).toMatch(/✗ refused:|accepts no more decisions/);
});
