import type { Step } from '../../domain/steps';
import { isStep, STEPS } from '../../domain/steps';
import type { DecisionMessage } from '../../domain/read-decision';
import type { Window } from '../../domain/windows';
import { CommandFailed } from '../command-failed';
import type { Answer, Ferry, Sent } from '../ferry';
import { decide, readProgress } from '../ferry';
import { findCompany } from '../../store';
import type { CommandResult, Screen } from '../screen';
import { nearest } from '../spelling';
import { readTime } from '../screen/times';
import { readWindow } from '../window-text';
import type { Context } from './context';
import type { SenderOptions } from './sender';
import { addSender, senderOf } from './sender';
import { withFerry } from './with-ferry';

/** `ferry approve`, `reject`, `propose-time`, `pause`, `resume`: decisions in one line each. */
export function addDecisions({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('approve <migration> [step]')
      .description('Approve a step; without one, the step that is open')
      .option('--reason <text>', 'why'),
  ).action((migration: string, step: string | undefined, options: SenderOptions & Reason) =>
    run(() =>
      withFerry(terminal.env, async (ferry) =>
        send(ferry, migration, 'approve', { step: await stepOf(ferry, migration, step), ...sentBy(options) }),
      ),
    ),
  );

  addSender(
    program
      .command('reject <migration> [step]')
      .description('Reject a step: it opens again; the first company: say what is tried next')
      .requiredOption('--reason <text>', 'why')
      .option('--next <what>', 'after the first company: same-company, another-company or abandon')
      .option('--company <reference>', 'with --next another-company: which'),
  ).action((migration: string, step: string | undefined, options: SenderOptions & Reason & Next) =>
    run(() =>
      withFerry(terminal.env, async (ferry) =>
        send(ferry, migration, 'reject', {
          step: await stepOf(ferry, migration, step),
          ...sentBy(options),
          ...(await nextOf(ferry, migration, options)),
        }),
      ),
    ),
  );

  addSender(
    program
      .command('propose-time <migration> <when>')
      .description('Propose when the first company is moved: "2026-11-21 22:00" in your time zone, ISO 8601, or now')
      .option(
        '--window <hours>',
        'start companies in these hours alone, as "mon-fri 22:00-05:00 Europe/London"; may be repeated',
        (text: string, windows: readonly Window[] = []) => [...windows, readWindow(text)],
      )
      .option('--no-window', 'start companies at any hour'),
  ).action((migration: string, when: string, options: SenderOptions & { window?: readonly Window[] | boolean }) =>
    run(() =>
      withFerry(terminal.env, (ferry) =>
        send(ferry, migration, 'proposeTime', {
          startAt: readTime(when).toISOString(),
          ...windowsOf(options.window),
          ...senderOf(options),
        }),
      ),
    ),
  );

  addSender(
    program
      .command('cancel <migration>')
      .description('End a migration; what has been moved stays moved')
      .requiredOption('--reason <text>', 'why'),
  ).action((migration: string, options: SenderOptions & Reason) =>
    run(() =>
      withFerry(terminal.env, async (ferry) => {
        const answer = await send(ferry, migration, 'cancel', sentBy(options));
        return answer.failed ? answer : { ...answer, print: (screen) => printCancelled(screen, answer, migration) };
      }),
    ),
  );

  for (const message of ['pause', 'resume'] as const) {
    addSender(
      program
        .command(`${message} <migration>`)
        .description(message === 'pause' ? 'Start no further company' : 'Go on after a pause')
        .option('--reason <text>', 'why'),
    ).action((migration: string, options: SenderOptions & Reason) =>
      run(() => withFerry(terminal.env, (ferry) => send(ferry, migration, message, sentBy(options)))),
    );
  }
}

/** Commander says true where neither option was used. */
function windowsOf(window: readonly Window[] | boolean | undefined): { windows?: readonly Window[] } {
  if (typeof window === 'object') return { windows: window };
  return window === false ? { windows: [] } : {};
}

interface Reason {
  readonly reason?: string;
}

interface Next {
  readonly next?: string;
  readonly company?: string;
}

function sentBy(options: SenderOptions & Reason): Sent {
  return { ...senderOf(options), ...(options.reason === undefined ? {} : { reason: options.reason }) };
}

function printCancelled(screen: Screen, { print }: CommandResult, migrationId: string): void {
  print(screen);
  screen.line(
    '  Companies that are on their way are finished first. Which have been handed over, which have not, and what',
  );
  screen.line(`  the client may switch on again: ferry report ${migrationId}`);
}

/** Sends a decision and says what became of it. */
export async function send(
  ferry: Ferry,
  migrationId: string,
  message: DecisionMessage,
  sent: Sent,
): Promise<CommandResult> {
  const answer = await decide(ferry, migrationId, message, sent);
  return {
    failed: answer.became === 'refused',
    json: { schema: 'ferry.decision/1', migrationId, message, ...answer },
    print: (screen) => screen.line(`${markOf(screen, answer)} ${migrationId}: ${answer.text}`),
  };
}

function markOf(screen: Screen, { became }: Answer): string {
  switch (became) {
    case 'applied':
      return screen.styled('green', '✓');
    case 'refused':
      return screen.styled('red', '✗ refused:');
    case 'recorded':
      return screen.styled('yellow', '…');
  }
}

async function stepOf(ferry: Ferry, migrationId: string, step: string | undefined): Promise<Step> {
  if (step === undefined) return (await readProgress(ferry, migrationId)).step;
  if (isStep(step)) return step;
  const near = nearest(step, STEPS);
  throw new CommandFailed(
    `there is no step ${step}`,
    near === undefined ? `the steps are: ${STEPS.join(', ')}` : `did you mean ${near}?`,
  );
}

async function nextOf(ferry: Ferry, migrationId: string, { next, company }: Next): Promise<Record<string, unknown>> {
  if (company === undefined) return next === undefined ? {} : { next };
  await assertCompany(ferry, migrationId, company);
  return { next: next ?? 'another-company', company };
}

/** @throws CommandFailed when the manifest has no company of this reference */
export async function assertCompany({ db }: Ferry, migrationId: string, reference: string): Promise<void> {
  if (await findCompany(db, migrationId, { reference })) return;
  throw new CommandFailed(`${migrationId} has no company ${reference}`, `see: ferry companies ${migrationId}`);
}
