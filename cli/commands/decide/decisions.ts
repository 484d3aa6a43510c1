import type { Step } from '../../../domain/migration/steps';
import type { MigrationClient } from '../../../client';
import { readProgress } from '../../../client';
import { parseTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import type { LimitOptions } from '../../shared/limit-options';
import { addWindow, windowsOf } from '../../shared/limit-options';
import { assertCompany, send, stepNamed } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import { withMigrationClient } from '../../shared/with-ferry';

/** `ferry reject`, `propose-time`, `pause`, `resume`: decisions in one line each. */
export function addDecisions({ program, run, terminal }: Context): void {
  addDecider(
    program
      .command('reject <migration> [step]')
      .description('Reject a step: it opens again; the first company: say what is tried next')
      .option('--next <what>', 'after the first company: same-company, another-company or abandon')
      .option('--company <reference>', 'with --next another-company: which'),
    'reason needed',
  ).action((migration: string, step: string | undefined, options: SenderOptions & Next) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) =>
        send(ferry, migration, 'reject', {
          step: await stepOf(ferry, migration, step),
          ...sentBy(options),
          ...(await nextOf(ferry, migration, options)),
        }),
      ),
    ),
  );

  addDecider(
    addWindow(
      program
        .command('propose-time <migration> <when>')
        .description('Propose when the first company is moved: "2026-11-21 22:00" in your time zone, ISO 8601, or now'),
    ),
  ).action((migration: string, when: string, options: SenderOptions & Pick<LimitOptions, 'window'>) =>
    run(() =>
      withMigrationClient(terminal.env, (ferry) =>
        send(ferry, migration, 'proposeTime', {
          startAt: parseTime(when).toISOString(),
          ...windowsOf(options),
          ...sentBy(options),
        }),
      ),
    ),
  );

  for (const message of ['pause', 'resume'] as const) {
    addDecider(
      program
        .command(`${message} <migration>`)
        .description(message === 'pause' ? 'Start no further company' : 'Go on after a pause'),
    ).action((migration: string, options: SenderOptions) =>
      run(() => withMigrationClient(terminal.env, (ferry) => send(ferry, migration, message, sentBy(options)))),
    );
  }
}

interface Next {
  readonly next?: string;
  readonly company?: string;
}

async function stepOf(ferry: MigrationClient, migrationId: string, step: string | undefined): Promise<Step> {
  return step === undefined ? (await readProgress(ferry, migrationId)).step : stepNamed(step);
}

async function nextOf(
  ferry: MigrationClient,
  migrationId: string,
  { next, company }: Next,
): Promise<Record<string, unknown>> {
  if (company === undefined) return next === undefined ? {} : { next };
  await assertCompany(ferry, migrationId, company);
  return { next: next ?? 'another-company', company };
}
