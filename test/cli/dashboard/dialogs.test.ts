/** Tests the dialogs of the dashboard with answers from the test, while no worker is running. */
import { decodeArrayFromPayloads } from '@temporalio/common/lib/internal-non-workflow';
import { openDialogs, type DialogContext } from '../../../cli/dashboard/dialogs';
import type { RequestedDecision } from '../../../cli/dashboard/keys';
import type { ActionResult } from '../../../cli/dashboard/state';
import type { Choice, TextQuestion } from '../../../cli/terminal/prompts';
import { NoSuchMigration, type LedgerClient } from '../../../client';
import { until } from '../../support/async';
import { updateRow } from '../../support/migrations/ledger';
import { useOrchestrator } from '../../support/servers/orchestrator';
import { startTestMigration } from '../../workflows/running-migration';
import { capturedStream } from '../captured-terminal';
import { KEY, startTerminalSession, type TerminalSession } from '../terminal/pseudo-terminal';

const orchestrator = useOrchestrator();
let session: TerminalSession | undefined;
afterEach(() => session?.close());

const yes = async () => true;
const no = async () => false as boolean;

/**
 * Runs a dialog. Takes each suggested choice (for the companies, the choice at the index `choice`), types "Sam" for
 * each text, and answers the last question with `confirm`.
 */
async function runDialog(
  request: RequestedDecision,
  { ferry = orchestrator.ferry, confirm = no, choice = 0, listedStep = 'supply-details' } = {},
): Promise<{ readonly result: ActionResult; readonly questions: readonly string[]; readonly printed: string }> {
  const questions: string[] = [];
  const prompts = {
    choose: async <Value>(question: string, choices: readonly Choice<Value>[], defaultValue?: Value) => {
      const chosen =
        question === 'Which companies?' ? choices[choice] : choices.find(({ value }) => value === defaultValue);
      return (chosen ?? choices[0])?.value as Value;
    },
    text: async () => 'Sam',
    confirm: async (question: string) => {
      questions.push(question);
      return confirm();
    },
  };
  const terminal = { stdout: capturedStream(), stderr: capturedStream(), env: {} };
  const context = { ferry, terminal, prompts, role: 'support', by: 'Sam' };
  const result = await openDialogs(context as unknown as DialogContext)(request, listedStep);
  return { result, questions, printed: terminal.stdout.text };
}

/** Returns the companies of the latest decision that Temporal keeps until a worker is running. */
async function sentCompanies(id: string): Promise<unknown> {
  const { workflow, options } = orchestrator.ferry.temporal;
  const { events } = await workflow.getHandle(id).fetchHistory();
  const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) => signal ?? []);
  const [sent] = await decodeArrayFromPayloads(options.loadedDataConverter, signals.at(-1)?.input?.payloads);
  return (sent as { readonly companies?: unknown }).companies;
}

test('a company whose reference is "all" is retried by itself, and the question tells it from all companies', async () => {
  const { id } = await startTestMigration(orchestrator, 'reference-all', ['sbx-ok-1.ra1', 'sbx-ok-1.ra2']);
  await updateRow(orchestrator.ferry.db, id, 1, { reference: 'all', state: 'failed', failure: 'refused' });
  await updateRow(orchestrator.ferry.db, id, 2, { state: 'failed', failure: 'refused' });
  const request = { kind: 'retry', migrationId: id, reference: 'all' } as const;
  const one = await runDialog(request, { confirm: yes });
  expect(one.questions).toEqual([`In ${id}, retry company all?`]);
  expect(await sentCompanies(id)).toEqual(['all']);
  const every = await runDialog(request, { confirm: yes, choice: 1 });
  expect(every.questions).toEqual([`In ${id}, retry all companies that a retry can help?`]);
  expect(await sentCompanies(id)).toBe('all');
});

test('an approval or rejection without a review says why there is none', async () => {
  const { id } = await startTestMigration(orchestrator, 'no-review', ['sbx-ok-1.nr1']);
  const approval = await runDialog({ kind: 'approve', migrationId: id }, { listedStep: 'schedule' });
  expect(approval.questions).toEqual([`${id}: approve schedule without a review?`]);
  expect(approval.printed).toMatch(
    /^No worker is answering, so you cannot review what you approve\.\nOnce steps 2 to 4 have ended, /,
  );
  const rejection = await runDialog({ kind: 'reject', migrationId: id });
  expect(rejection.printed).toBe('No worker is answering, so you cannot review what you reject.\n');
  expect(rejection.result).toEqual({ outcome: 'nothing', text: 'Nothing was decided.' });
});

const missing = async () => {
  throw new NoSuchMigration('gone.xero');
};
const PAUSE = { kind: 'pause', migrationId: 'gone.xero' } as const;
const UNREADABLE = /^Temporal has no migration gone\.xero, and the ledger cannot be read; check the database; /;

/** Returns a ledger that calls `failure` on every use. */
const brokenLedger = (failure: () => unknown) => new Proxy({}, { get: failure }) as LedgerClient['db'];

test.each([
  'Connection terminated unexpectedly',
  'connect ECONNREFUSED 127.0.0.1:5432',
  'getaddrinfo ENOTFOUND ledger',
  'connect ETIMEDOUT 10.0.0.1:5432',
])('if Temporal has no migration, and the ledger cannot be read, the dialog says both: %s', async (message) => {
  const [, code] = /([A-Z]{5,})/.exec(message) ?? [];
  const db = brokenLedger(() => {
    throw Object.assign(new Error(message), code === undefined ? {} : { code, syscall: message.split(' ')[0] });
  });
  const { result } = await runDialog(PAUSE, { ferry: { ...orchestrator.ferry, db }, confirm: missing });
  expect(result).toEqual({ outcome: 'failed', text: expect.stringMatching(UNREADABLE) as string });
});

test('while the ledger cannot be read, similar ids come from Temporal', async () => {
  const { id } = await startTestMigration(orchestrator, 'similar-id', ['sbx-ok-1.si1']);
  const wrong = id.replace('similar', 'simlar');
  const db = brokenLedger(() => {
    throw new Error('Connection terminated unexpectedly');
  });
  const confirm = async () => {
    throw new NoSuchMigration(wrong);
  };
  await until(async () => {
    const { result } = await runDialog(PAUSE, { ferry: { ...orchestrator.ferry, db }, confirm });
    expect(result).toMatchObject({ outcome: 'failed' });
    return (
      'text' in result &&
      result.text.startsWith(
        `Temporal has no migration ${wrong}, and the ledger cannot be read; did you mean ${id}? If not, check the database; `,
      )
    );
  });
});

test('a dialog waits only some seconds for a ledger that does not answer', async () => {
  const silent: unknown = new Proxy(() => silent, {
    get: (_, name) => (name === 'executeTakeFirst' ? () => new Promise(() => undefined) : silent),
  });
  const db = silent as LedgerClient['db'];
  const { result } = await runDialog(PAUSE, { ferry: { ...orchestrator.ferry, db }, confirm: missing });
  expect(result).toEqual({ outcome: 'failed', text: expect.stringMatching(UNREADABLE) as string });
});

test('a bug is not mistaken for a ledger that cannot be read', async () => {
  const db = brokenLedger(() => {
    throw new TypeError('no such method');
  });
  const dialog = runDialog(PAUSE, { ferry: { ...orchestrator.ferry, db }, confirm: missing });
  await expect(dialog).rejects.toThrow('no such method');
});

test('the name of the person who decides follows the rules for names', async () => {
  let rejection: TextQuestion['rejection'];
  const prompts = {
    choose: async () => 'support',
    text: async (_: string, question?: TextQuestion) => ((rejection ??= question?.rejection), 'Sam'),
    confirm: no,
  };
  const terminal = { stdout: capturedStream(), stderr: capturedStream(), env: {} };
  const context = { ferry: orchestrator.ferry, terminal, prompts, role: 'support', by: 'Sam' };
  await openDialogs(context as unknown as DialogContext)({ kind: 'pause', migrationId: 'kite.xero' }, '');
  expect(rejection?.('ferry up; ls')).toBe('This looks like a command. Type the name of a person.');
  for (const name of ['Sam', 'CORP\\sam', 'Sam <sam@acme.com>', 'Sam | Acme', 'Sam -Acme'])
    expect([name, rejection?.(name)]).toEqual([name, null]);
});

test('a dialog accepts the suggested name unchanged, because --by has accepted it', async () => {
  await startTestMigration(orchestrator, 'suggested-name', ['sbx-ok-1.sn1']);
  const screen = (session = startTerminalSession(['desk', '--by', 'Sam {Acme}'], orchestrator.env));
  await screen.waitFor(/▸ \S/);
  screen.type('p');
  await screen.waitFor('whose decision is it?');
  screen.type(KEY.enter);
  await screen.waitFor('What is the name of the person who decides? (Sam {Acme})');
  screen.type(`Sam {Lark}${KEY.enter}`);
  await screen.waitFor('This looks like a command.');
  screen.type(`\x15${KEY.enter}`); // Ctrl-U deletes the text.
  await screen.waitFor('Why?');
});
