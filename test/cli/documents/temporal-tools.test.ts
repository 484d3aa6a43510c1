/** What docs/operating.md says is true: its commands are run, through a shell, as they stand there. */
import { openCompanies } from '../../../domain/companies/company-state';
import type { Progress } from '../../../domain/progress/progress';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { DECISION_MESSAGES, parseDecision } from '../../../domain/migration/parse-decision';
import { STEP_RULES, STEPS, stepNumber } from '../../../domain/migration/steps';
import { progressQuery } from '../../../workflows/messages';
import { readWindowSchedule } from '../../../client';
import { adjusted, closedNow, started, SUPPORT } from '../../workflows/running-migration';
import { until } from '../../support/conditions';
import type { CommandOutcome, Section, Shell } from '../documented-commands';
import { openShell, readDocument, readSections } from '../documented-commands';
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

test('every field of every message that is documented is one that is read', () => {
  const messages = linesOf(SECTIONS).filter(isDecision);
  expect(messages.length).toBeGreaterThan(35);
  for (const line of messages) {
    const [, name = ''] = / --name (\w+) /.exec(line) ?? [];
    const [, json = ''] = / -i '(.*)'/.exec(line) ?? [];
    const typed = json.replaceAll(`'\\''`, `'`).replace(/'"\$\(date .*?\)"'/, '2026-12-05T22:00Z');
    const message = JSON.parse(typed) as Record<string, unknown>;
    const asked = new Set<PropertyKey>();
    const watched = new Proxy(message, { get: (fields, key) => (asked.add(key), fields[String(key)]) });
    expect({ line, read: parseDecision(name as DecisionMessage, watched, () => 'an-id') }).toMatchObject({
      read: { decision: {} },
    });
    expect({ line, unread: Object.keys(message).filter((key) => !asked.has(key)) }).toEqual({ line, unread: [] });
  }
});

test('with Temporal’s tools nothing needs ferry but what goes to the service, the ledger or the vault', () => {
  const typed = SIX_STEPS.flatMap(({ blocks: [, temporal = []] }) => temporal);
  const ferrys = typed.filter((line) => line.startsWith('ferry ')).map((line) => line.split(' ')[1]);
  expect(ferrys).toEqual(['application', 'credentials']);
});

describe.each([
  ['ferry', 0],
  ['temporal', 1],
] as const)('with %s', (tool, way) => {
  let shell: Shell;
  beforeAll(async () => (shell = await openShell()));
  afterAll(() => shell.close());

  const handleOf = (migrationId: string) => shell.orchestrator.ferry.temporal.workflow.getHandle(migrationId);
  const idOf = (client: string): string => `${client}.quickbooks-online`;

  /** Starts a migration as the document does, for a client of our own. */
  async function startedByHand(client: string): Promise<string> {
    for (const line of linesOf(START ? [START] : [])) {
      const { exitCode, out, err } = await shell.run(line.replace('--client acme', `--client ${client}`), idOf(client));
      expect({ line, exitCode, said: exitCode === 0 ? '' : out + err }).toEqual({ line, exitCode: 0, said: '' });
    }
    return idOf(client);
  }

  const isOver = async (id: string) => (await handleOf(id).describe()).status.name !== 'RUNNING';

  test('every decision is understood, and answered', async () => {
    const id = await startedByHand(`${tool}-asks`);
    for (const line of DECISIONS.flatMap(({ blocks: [lines = []] }) => lines)) {
      if (line.startsWith('ferry ') !== (way === 0)) continue;
      const { exitCode, out, err } = await shell.run(line, id);
      // Some are refused, as they come at the wrong time; ferry says so beforehand of companies that have not failed.
      const answered =
        way === 0
          ? /^(?:0 [^]*✓ |1 [^]*(?:✗ refused: | is not for C-|nothing to replace))/
          : /^0 [^]*applied:(?:true|false) /;
      expect({ line, answer: `${exitCode} ${out}${err}` }).toEqual({
        line,
        answer: expect.stringMatching(answered) as string,
      });
    }
    await until(() => isOver(id));
  });

  test('a whole migration goes through the six steps', async () => {
    const id = await startedByHand(`${tool}-moves`);
    for (const [index, { title, blocks }] of SIX_STEPS.entries()) {
      expect({ title, blocks: blocks.length }).toEqual({ title, blocks: 2 });
      await until(() => isDecidable(id, index), 30_000);
      for (const line of blocks[way] ?? []) {
        if (line.startsWith('ferry credentials')) shell.exportCredentials();
        const { exitCode, out, err } = await shell.run(line, id);
        expect({ line, exitCode, said: exitCode === 0 ? '' : out + err }).toEqual({ line, exitCode: 0, said: '' });
        if (isDecision(line))
          expect({ line, out }).toEqual({ line, out: expect.stringContaining('applied:true') as string });
        await until(() => isAtRest(id));
      }
    }
    await until(() => isOver(id));
    expect((await runJson(shell.orchestrator, 'companies', id, '--state', 'migrated')).json['companies']).toHaveLength(
      23,
    );
    const trail = (await runJson(shell.orchestrator, 'audit', id)).json['trail'] as readonly { applied: boolean }[];
    expect(trail).toHaveLength(14);
    expect(trail.every(({ applied }) => applied)).toBe(true);
  });

  /** What somebody would wait for before going on with this step. */
  async function isDecidable(id: string, index: number): Promise<boolean> {
    const { step, firstCompany, counts }: Progress = await handleOf(id).query(progressQuery);
    if (step !== STEPS[index]) return false;
    if (step === 'migrate-first-company') return firstCompany?.stage === 'proven';
    return step !== 'complete-migration' || openCompanies(counts) === 0;
  }

  /** Whether what was decided has reached the ledger, and was counted: whoever types takes longer than that. */
  async function isAtRest(id: string): Promise<boolean> {
    const { pendingActivities, pendingWorkflowTask } = (await handleOf(id).describe()).raw;
    return (pendingActivities ?? []).length === 0 && !pendingWorkflowTask;
  }
});

describe('what is documented to come back', () => {
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
  const undocumented = (said: string): readonly string[] => (text.includes(said) ? [] : [said]);

  test.each([
    ['a role that there is not', 'approve', '{"step": "schedule", "role": "suport", "by": "Sam"}'],
    ['a message that there is not', 'aprove', '{"step": "schedule", "role": "support", "by": "Sam"}'],
    ['no JSON', 'approve', '{"step": "sche'],
  ])(
    '%s is rejected with exit code 1, in the words of the document, and recorded nowhere',
    async (_, message, json) => {
      const { exitCode, err } = await update(message, json);
      expect(exitCode).toBe(1);
      expect(undocumented(`level=ERROR ${/msg=.*/.exec(err)?.[0]}`)).toEqual([]);
      expect((await runJson(shell.orchestrator, 'audit', ID)).json['trail']).toEqual([]);
    },
  );

  test('a signal is taken without an answer, which can be asked for; one that is not there is told as the document says', async () => {
    const [signal = '', question = ''] = linesOf(chapter('Signal or update'));
    const before = await shell.run(question, ID);
    expect(before.out).toContain('QueryResult');
    expect(undocumented(before.out.replace(/^[^]*QueryResult\s+/, '').trim())).toEqual([]);
    const { out } = await shell.run(signal, ID);
    expect(out).toBe('Signal workflow succeeded\n');
    await until(async () => (await shell.run(question, ID)).out.includes('"text":"paused"'));
  });

  test('a refusal is an answer', async () => {
    const { exitCode, out } = await update('resume', '{"role": "client", "by": "Cleo"}');
    expect(exitCode).toBe(0);
    expect(out).toContain('applied:true');
    const again = await update('resume', '{"role": "support", "by": "Sam"}');
    expect(again.exitCode).toBe(0);
    expect(undocumented(/Result +map\[applied:false/.exec(again.out)?.[0] ?? again.out)).toEqual([]);
  });

  test('every question of the document is answered', async () => {
    const questions = linesOf(chapter('What comes back'));
    expect(questions).toHaveLength(5);
    for (const line of questions) {
      const { exitCode, err } = await shell.run(line, ID);
      expect({ line, exitCode, err }).toEqual({ line, exitCode: 0, err: '' });
    }
  });

  test('the windows are seen, paused, triggered and resumed with either tool', async () => {
    const migration = await started(shell.orchestrator, 'windowed', ['sbx-ok-1.windowed-1', 'sbx-ok-1.windowed-2']);
    await migration.readyToMove();
    await migration.until(({ firstCompany }) => firstCompany?.stage === 'proven');
    await migration.send('adjust', adjusted(closedNow()));
    await migration.send('approve', { step: 'migrate-first-company', ...SUPPORT });
    const state = async () => (await readWindowSchedule(shell.orchestrator.ferry, migration.id)).state;
    await until(async () => (await state()) === 'running', 20_000);
    const lines = linesOf(chapter('Windows'));
    expect(lines).toHaveLength(9);
    for (const line of lines) {
      const { exitCode, out, err } = await shell.run(line, migration.id);
      // Outside of the windows a trigger is answered with a no.
      const answer = line.startsWith('ferry schedule trigger') ? 'no company is started outside the windows' : '';
      expect({ line, exitCode, err }).toEqual({ line, exitCode: answer ? 1 : 0, err: '' });
      expect(out).toContain(answer);
      if (/ pause | --pause /.test(line)) await until(async () => (await state()) === 'paused');
      if (/ resume | --unpause /.test(line)) await until(async () => (await state()) === 'running');
    }
  });

  test('sweeps are made, triggered, paused and resumed', async () => {
    const lines = linesOf(chapter('Terminated migrations'));
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const { exitCode, err } = await shell.run(line, ID);
      expect({ line, exitCode, err }).toEqual({ line, exitCode: 0, err: '' });
    }
  });
});
