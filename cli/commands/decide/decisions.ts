import type { Step } from '../../../domain/migration/steps';
import type { MigrationClient } from '../../../client';
import { readProgress } from '../../../client';
import { readTime } from '../../terminal/times';
import type { Context } from '../../shared/context';
import type { LimitOptions } from '../../shared/limit-options';
import { addWindowOptions, windowsFrom } from '../../shared/limit-options';
import { assertCompany, sendDecision, parseStep, addDecisionOptions, contentFrom } from '../../shared/decisions';
import type { DecisionOptions } from '../../shared/decisions';
import { withMigrationClient } from '../../shared/clients';

/** `ferry reject`, `propose-time`, `pause`, `resume`: decisions in one line each. */
export function addDecisions({ program, run, terminal }: Context): void {
  addDecisionOptions(
    program
      .command('reject <migration> [step]')
      .description('Reject a step: it opens again; the first company: say what is tried next')
      .option('--next <what>', 'after the first company: same-company, another-company or abandon')
      .option('--company <reference>', 'with --next another-company: which'),
    'reason required',
  ).action((migration: string, step: string | undefined, options: DecisionOptions & Next) =>
    run(() =>
      withMigrationClient(terminal.env, async (ferry) =>
        sendDecision(ferry, migration, 'reject', {
          step: await stepOf(ferry, migration, step),
          ...contentFrom(options),
          ...(await nextOf(ferry, migration, options)),
        }),
      ),
    ),
  );

  addDecisionOptions(
    addWindowOptions(
      program
        .command('propose-time <migration> <when>')
        .description('Propose when the first company is moved: "2026-11-21 22:00" in your time zone, ISO 8601, or now'),
    ),
  ).action((migration: string, when: string, options: DecisionOptions & Pick<LimitOptions, 'window'>) =>
    run(() =>
      withMigrationClient(terminal.env, (ferry) =>
        sendDecision(ferry, migration, 'proposeTime', {
          startAt: readTime(when).toISOString(),
          ...windowsFrom(options),
          ...contentFrom(options),
        }),
      ),
    ),
  );

  for (const message of ['pause', 'resume'] as const) {
    addDecisionOptions(
      program
        .command(`${message} <migration>`)
        .description(message === 'pause' ? 'Start no further company' : 'Go on after a pause'),
    ).action((migration: string, options: DecisionOptions) =>
      run(() =>
        withMigrationClient(terminal.env, (ferry) => sendDecision(ferry, migration, message, contentFrom(options))),
      ),
    );
  }
}

interface Next {
  readonly next?: string;
  readonly company?: string;
}

async function stepOf(ferry: MigrationClient, migrationId: string, step: string | undefined): Promise<Step> {
  return step === undefined ? (await readProgress(ferry, migrationId)).step : parseStep(step);
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
