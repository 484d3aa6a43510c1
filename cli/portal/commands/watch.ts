import { isOver } from '../../../domain/migration/terminated';
import { MigrationAnswerSchema } from '../../../portal/contract/migration-view';
import { SessionSchema } from '../../../portal/contract/session';
import { ApiError, type MigrationAnswer } from '../../../portal/client/api';
import { CONFIRM_KEY, headlineFor, VIEWER_NOTICE } from '../../../portal/client/personal-texts';
import { createInterruptibleSleep } from '../../connections/waiting';
import type { CommandResult, Output } from '../../terminal/output';
import { openLiveBlock } from '../../terminal/live-block';
import type { Terminal } from '../../terminal/terminal';
import { clockTime } from '../../terminal/times';
import { validated, type Connection } from '../connection';
import type { PortalContext } from '../context';
import { withPortalToRead } from '../reading';
import { countsText, inReadersZone, mustConfirmKey, oldText, taskLabel } from '../summary';

const POLL_EVERY_MS = 2_000;

/** `ferry --portal <link> watch` */
export function addWatch(context: PortalContext): void {
  const { program, run } = context;
  program
    .command('watch <migration>')
    .description('Watch the migration until it ends. The exit code is 1 if it ends without being completed')
    .option('--until-decision', 'also stop when you must act')
    .action((migrationId: string, options: { readonly untilDecision?: true }) =>
      run(() => withPortalToRead(context, migrationId, (portal) => watch(context, portal, options))),
    );
}

async function watch(
  context: PortalContext,
  { api, session, readMigration }: Connection,
  { untilDecision }: { readonly untilDecision?: true },
): Promise<CommandResult> {
  const { terminal, output } = context;
  let person = session;
  let answer = await readMigration();
  const interrupted = terminal.interruption();
  const { sleep, wake } = createInterruptibleSleep();
  interrupted.addEventListener('abort', wake, { once: true });
  const screen = output.json || output.quiet ? null : openScreen(context, session.role === 'viewer');
  let trouble: string | null = null;
  try {
    for (;;) {
      screen?.show(answer, trouble, mustConfirmKey(person, answer.view));
      const { state, actions } = answer.view;
      const hasEnded = isOver(state);
      const mustAct = untilDecision && actions.some(({ isExpected }) => isExpected);
      if (hasEnded || mustAct || interrupted.aborted)
        return result(answer, {
          hasEnded,
          isViewer: session.role === 'viewer',
          mustConfirm: mustConfirmKey(person, answer.view),
        });
      await sleep(POLL_EVERY_MS);
      try {
        answer = validated(MigrationAnswerSchema, await api.readMigration());
        // Support can confirm the key in the meantime.
        if (mustConfirmKey(person, answer.view)) person = validated(SessionSchema, await api.readSession());
        trouble = null;
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isTemporary) throw error;
        trouble = error.message;
      }
    }
  } finally {
    screen?.close();
  }
}

function result(
  { view }: MigrationAnswer,
  { hasEnded, isViewer, mustConfirm }: { readonly [Fact in 'hasEnded' | 'isViewer' | 'mustConfirm']: boolean },
): CommandResult {
  const { migrationId, state, headline, task, counts } = view;
  return {
    failed: hasEnded && state !== 'completed',
    json: { schema: 'ferry.portal-watch/1', ...{ migrationId, state, headline, task, counts } },
    print: (output) => {
      output.line(`${migrationId}: ${inReadersZone(headlineFor(headline, mustConfirm))}`);
      if (hasEnded || task === null) return;
      output.line(`${taskLabel(isViewer)} ${inReadersZone(task.what)}`);
      for (const problem of task.problems ?? [])
        output.line(`  ${output.styled('red', '✗')} ${inReadersZone(problem)}`);
    },
  };
}

interface Screen {
  /**
   * @param trouble why the answer is out of date; null if it is current
   * @param mustConfirm true if support has to confirm the person's key
   */
  readonly show: (answer: MigrationAnswer, trouble: string | null, mustConfirm: boolean) => void;
  readonly close: () => void;
}

/** Redraws a block on a terminal; elsewhere prints a line when something has changed. */
export function openScreen(
  { output, terminal: { stdout } }: { readonly output: Output; readonly terminal: Pick<Terminal, 'stdout'> },
  isViewer: boolean,
): Screen {
  if (!stdout.isTTY) {
    let last = '';
    return {
      show: (answer, trouble, mustConfirm) => {
        const { view } = answer;
        const old = oldText(answer);
        const age = old === null ? '' : `. ${old}`;
        const line =
          trouble ?? `${inReadersZone(headlineFor(view.headline, mustConfirm))} Companies: ${countsText(view)}${age}`;
        if (last === '' && isViewer && !isOver(view.state)) output.line(VIEWER_NOTICE);
        if (line !== last) output.line(`${clockTime(new Date())} ${line}`);
        last = line;
      },
      close: () => undefined,
    };
  }
  const block = openLiveBlock(stdout);
  return {
    show: (answer, trouble, mustConfirm) => block.draw(liveLines(answer, trouble, { isViewer, mustConfirm })),
    close: () => block.close(),
  };
}

/** Returns the lines of the block that is redrawn on a terminal. */
export function liveLines(
  answer: MigrationAnswer,
  trouble: string | null,
  { isViewer, mustConfirm }: { readonly isViewer: boolean; readonly mustConfirm: boolean },
) {
  const { view, writtenAt } = answer;
  const old = oldText(answer);
  const { migrationId, state, headline, task, notices, steps } = view;
  const what = task?.what ?? (mustConfirm ? CONFIRM_KEY : null);
  const mark = isOver(state) ? 'ended here' : 'now';
  return [
    [{ text: migrationId, style: 'bold' as const }, `  ${clockTime(new Date())}`],
    [inReadersZone(headlineFor(headline, mustConfirm))],
    ...(isViewer && !isOver(state) ? sentences(VIEWER_NOTICE).map((text) => [text]) : []),
    ...notices.map((notice) => [{ text: inReadersZone(notice), style: 'yellow' as const }]),
    ...(what === null ? [] : [[`${taskLabel(isViewer)} ${inReadersZone(what)}`]]),
    ...(task?.problems ?? []).map((problem) => [{ text: '  ✗', style: 'red' as const }, ` ${inReadersZone(problem)}`]),
    [],
    ...steps.map(({ number, title, state }) => [
      `${state === 'done' ? '✓' : String(number)} ${title}${state === 'open' ? `  (${mark})` : ''}`,
    ]),
    [],
    [`Companies: ${countsText(view)}`],
    ...(trouble === null ? sentences(old ?? '') : [`Last update at ${clockTime(new Date(writtenAt))}.`, trouble]).map(
      (text) => [{ text, style: 'yellow' as const }],
    ),
  ];
}

/** Splits a text into its sentences, because the block cuts lines that are longer than the terminal is wide. */
const sentences = (text: string): readonly string[] => text.split(/(?<=\.) /).filter((sentence) => sentence !== '');
