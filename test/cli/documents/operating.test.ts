/** Tests docs/operating.md by running its commands in a shell, exactly as they are written. */
import { countOpen } from '../../../domain/companies/counts';
import type { Progress } from '../../../domain/progress/progress';
import { DECISION_MESSAGES, parseDecision, type DecisionMessage } from '../../../domain/migration/parse-decision';
import { STEP_RULES, STEPS, stepNumber } from '../../../domain/migration/steps';
import { progressQuery } from '../../../workflows/messages';
import { readWindowSchedule } from '../../../client';
import { windowChange, closedWindows, startTestMigration, SUPPORT } from '../../workflows/running-migration';
import { until } from '../../support/async';
import {
  openShell,
  readDocument,
  readSections,
  type CommandOutcome,
  type Section,
  type Shell,
} from '../documented-commands';
import { runJson } from '../command-line';

const SECTIONS = readSections('operating.md');
const chapter = (name: string): readonly Section[] => SECTIONS.filter((section) => section.chapter === name);
const [, START, ...SIX_STEPS] = chapter('The six steps');
const [, ...DECISIONS] = chapter('Every decision');

const linesOf = (sections: readonly Section[]): readonly string[] => sections.flatMap(({ blocks }) => blocks.flat());
const isDecision = (line: string): boolean => / (?:update execute|signal) /.test(line);

test('every step and every kind of decision is documented', () => {
  expect(START?.title).toBe('0. Start');
  expect(SIX_STEPS.map(({ title }) => title)).toEqual(
    STEPS.map((step) => `${stepNumber(step)}. ${STEP_RULES[step].title}`),
  );
  expect(DECISIONS.map(({ title }) => title).sort()).toEqual([...DECISION_MESSAGES].sort());
});

test('the parser reads every field of every documented message', () => {
  const messages = linesOf(SECTIONS).filter(isDecision);
  expect(messages.length).toBeGreaterThan(35);
  for (const line of messages) {
    const [, name = ''] = / --name (\w+) /.exec(line) ?? [];
    const [, json = ''] = / -i '(.*)'/.exec(line) ?? [];
    const typed = json.replaceAll(`'\\''`, `'`).replace(/'"\$\(date .*?\)"'/, '2026-12-07T22:00Z');
    const message = JSON.parse(typed) as Record<string, unknown>;
    const readFields = new Set<PropertyKey>();
    const observed = new Proxy(message, { get: (fields, key) => (readFields.add(key), fields[String(key)]) });
    expect({ line, read: parseDecision(name as DecisionMessage, observed, () => 'an-id') }).toMatchObject({
      read: { decision: {} },
    });
    expect({ line, unread: Object.keys(message).filter((key) => !readFields.has(key)) }).toEqual({ line, unread: [] });
  }
});

test("only the application and the credentials cannot be supplied with Temporal's tools", () => {
  const temporalBlocks = SIX_STEPS.flatMap(({ blocks: [, temporal = []] }) => temporal);
  const ferryCommands = temporalBlocks.filter((line) => line.startsWith('ferry ')).map((line) => line.split(' ')[1]);
  expect(ferryCommands).toEqual(['application', 'credentials']);
});

describe.each([
  ['ferry', 0],
  ['temporal', 1],
] as const)('with %s', (tool, blockIndex) => {
  let shell: Shell;
  beforeAll(async () => (shell = await openShell()));
  afterAll(() => shell.close());

  const handleOf = (migrationId: string) => shell.orchestrator.ferry.temporal.workflow.getHandle(migrationId);
  const idOf = (client: string): string => `${client}.quickbooks-online`;

  /** Starts a migration as the document does, but with another short name for the client. */
  async function startDocumented(client: string): Promise<string> {
    for (const line of linesOf(START ? [START] : [])) {
      const { exitCode, out, err } = await shell.run(line.replace('--client acme', `--client ${client}`), idOf(client));
      expect({ line, exitCode, said: exitCode === 0 ? '' : out + err }).toEqual({ line, exitCode: 0, said: '' });
    }
    return idOf(client);
  }

  if (tool === 'temporal')
    test('without a codec server, the metadata cannot be read, with the message that the document quotes', async () => {
      const id = await startDocumented(`${tool}-without-codec`);
      const [, message = 'nothing'] =
        /Without a codec server, `temporal workflow metadata` fails with `(.+?)`/.exec(readDocument('operating.md')) ??
        [];
      const line = 'env -u TEMPORAL_CODEC_ENDPOINT temporal workflow metadata -w "$M"';
      const { exitCode, out, err } = await shell.run(line, id);
      expect({ failed: exitCode !== 0, said: out + err }).toEqual({
        failed: true,
        said: expect.stringContaining(message) as string,
      });
      // Ends the migration, because the other tests start migrations of the same organizations.
      await shell.run('ferry cancel "$M" --reason "not needed any more" --by Sam --yes', id);
      await until(() => isOver(id));
    });

  const isOver = async (id: string) => (await handleOf(id).describe()).status.name !== 'RUNNING';

  test('every documented decision is answered', async () => {
    const id = await startDocumented(`${tool}-asks`);
    for (const line of DECISIONS.flatMap(({ blocks: [lines = []] }) => lines)) {
      if (line.startsWith('ferry ') !== (blockIndex === 0)) continue;
      const { exitCode, out, err } = await shell.run(line, id);
      // Some decisions are refused because they come too early or too late. `ferry` refuses some of them without
      // sending them.
      const answered =
        blockIndex === 0
          ? /^(?:0 [^]*✓ |1 [^]*(?:✗ refused: | does not apply to C-|only for a company that was not moved|this is the last key of an approver|: \d+ of \d+ credentials sealed and stored|: no credential was stored))/
          : /^0 [^]*applied:(?:true|false) /;
      expect({ line, answer: `${exitCode} ${out}${err}` }).toEqual({
        line,
        answer: expect.stringMatching(answered) as string,
      });
    }
    await until(() => isOver(id));
  });

  test('the documented commands take a migration through the six steps', async () => {
    const id = await startDocumented(`${tool}-moves`);
    for (const [index, { title, blocks }] of SIX_STEPS.entries()) {
      expect({ title, blocks: blocks.length }).toEqual({ title, blocks: 2 });
      await until(() => isDecidable(id, index));
      for (const line of blocks[blockIndex] ?? []) {
        if (line.startsWith('ferry credentials')) shell.exportCredentials();
        const { exitCode, out, err } = await shell.run(line, id);
        expect({ line, exitCode, said: exitCode === 0 ? '' : out + err }).toEqual({ line, exitCode: 0, said: '' });
        if (isDecision(line))
          expect({ line, out }).toEqual({ line, out: expect.stringContaining('applied:true') as string });
        await until(() => isProcessed(id));
      }
    }
    await until(() => isOver(id));
    expect((await runJson(shell.orchestrator, 'companies', id, '--state', 'moved')).json['companies']).toHaveLength(23);
    const trail = (await runJson(shell.orchestrator, 'audit', id)).json['trail'] as readonly { applied: boolean }[];
    expect(trail).toHaveLength(14);
    expect(trail.every(({ applied }) => applied)).toBe(true);
  });

  /** Returns whether the migration is ready for the decisions of this step. */
  async function isDecidable(id: string, index: number): Promise<boolean> {
    const { step, firstCompany, counts }: Progress = await handleOf(id).query(progressQuery);
    if (step !== STEPS[index]) return false;
    if (step === 'migrate-first-company') return firstCompany?.stage === 'verified';
    return step !== 'complete-migration' || countOpen(counts) === 0;
  }

  /**
   * Returns whether the migration has processed its last decision: no activity and no workflow task is pending. The
   * test sends the next decision only then, as a person does.
   */
  async function isProcessed(id: string): Promise<boolean> {
    const { pendingActivities, pendingWorkflowTask } = (await handleOf(id).describe()).raw;
    return (pendingActivities ?? []).length === 0 && !pendingWorkflowTask;
  }
});

describe('documented answers', () => {
  let shell: Shell;
  const ID = 'asker.quickbooks-online';
  beforeAll(async () => {
    shell = await openShell();
    await shell.run('ferry start manifest.csv --platform quickbooks-online --client asker', ID);
  });
  afterAll(() => shell.close());

  const update = async (message: string, json: string): Promise<CommandOutcome> =>
    shell.run(`temporal workflow update execute -w "$M" --name ${message} -i '${json}'`, ID);
  const text = readDocument('operating.md');
  const undocumented = (answer: string): readonly string[] => (text.includes(answer) ? [] : [answer]);

  test.each([
    ['an unknown role', 'approve', '{"step": "schedule", "role": "suport", "by": "Sam"}'],
    ['an unknown message', 'aprove', '{"step": "schedule", "role": "support", "by": "Sam"}'],
    ['invalid JSON', 'approve', '{"step": "sche'],
  ])('%s is rejected with exit code 1 and the documented message, and is not recorded', async (_, message, json) => {
    const { exitCode, err } = await update(message, json);
    expect(exitCode).toBe(1);
    expect(undocumented(`level=ERROR ${/msg=.*/.exec(err)?.[0]}`)).toEqual([]);
    expect((await runJson(shell.orchestrator, 'audit', ID)).json['trail']).toEqual([]);
  });

  test('a signal is not answered, but a query returns its outcome, or the documented text if there is none', async () => {
    const [signal = '', question = ''] = linesOf(chapter('Signal or update'));
    const before = await shell.run(question, ID);
    expect(before.out).toContain('QueryResult');
    expect(undocumented(before.out.replace(/^[^]*QueryResult\s+/, '').trim())).toEqual([]);
    const { out } = await shell.run(signal, ID);
    expect(out).toBe('Signal workflow succeeded\n');
    await until(async () => (await shell.run(question, ID)).out.includes('"text":"paused"'));
  });

  test('the command for a refused update exits with 0 and prints the documented answer', async () => {
    const { exitCode, out } = await update('resume', '{"role": "client", "by": "Cleo"}');
    expect(exitCode).toBe(0);
    expect(out).toContain('applied:true');
    const again = await update('resume', '{"role": "support", "by": "Sam"}');
    expect(again.exitCode).toBe(0);
    expect(undocumented(/Result +map\[applied:false/.exec(again.out)?.[0] ?? again.out)).toEqual([]);
  });

  test('every documented query is answered', async () => {
    const questions = linesOf(chapter('Answers and queries'));
    expect(questions).toHaveLength(5);
    for (const line of questions) {
      const { exitCode, err } = await shell.run(line, ID);
      expect({ line, exitCode, err }).toEqual({ line, exitCode: 0, err: '' });
    }
  });

  test('the documented commands of both tools show, pause, trigger and resume windows', async () => {
    const migration = await startTestMigration(shell.orchestrator, 'windowed', [
      'sbx-ok-1.windowed-1',
      'sbx-ok-1.windowed-2',
    ]);
    await migration.firstCompanyMoved();
    await migration.send('adjust', windowChange(closedWindows()));
    await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    const state = async () => (await readWindowSchedule(shell.orchestrator.ferry, migration.id)).state;
    await until(async () => (await state()) === 'running');
    const lines = linesOf(chapter('Windows'));
    expect(lines).toHaveLength(9);
    for (const line of lines) {
      const { exitCode, out, err } = await shell.run(line, migration.id);
      // Outside the windows, `ferry schedule trigger` exits with 1.
      const answer = line.startsWith('ferry schedule trigger') ? 'no move begins outside the windows' : '';
      expect({ line, exitCode, err }).toEqual({ line, exitCode: answer ? 1 : 0, err: '' });
      expect(out).toContain(answer);
      if (/ pause | --pause /.test(line)) await until(async () => (await state()) === 'paused');
      if (/ resume | --unpause /.test(line)) await until(async () => (await state()) === 'running');
    }
  });

  test('the documented sweep commands run, trigger, pause and resume sweeps', async () => {
    const lines = linesOf(chapter('Terminated migrations'));
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const { exitCode, err } = await shell.run(line, ID);
      expect({ line, exitCode, err }).toEqual({ line, exitCode: 0, err: '' });
    }
  });
});
