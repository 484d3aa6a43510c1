/** Adds the options that say who decides and why, and sends the decisions that commands make. */
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { loadConfig } from '../../config';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/parse-decision';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { isPartial } from '../../domain/migration/partial-outcome';
import type { Role, Step } from '../../domain/migration/steps';
import { isStep, ROLES, STEPS } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import { findCompany } from '../../store';
import type { DecisionContent, DecisionResult, MigrationClient } from '../../client';
import { decide } from '../../client';
import type { CommandResult, Output } from '../terminal';
import { PRINT_NOTHING } from '../terminal';
import { parseTime } from '../terminal/times';
import { CommandFailed } from './errors';
import { choiceOption, nearest } from './options';

/** The person who acts. An option, because support can also record decisions on behalf of the client. */
export interface ActorOptions {
  readonly as: Role;
  readonly by: string;
}

export interface DecisionOptions extends ActorOptions {
  readonly reason?: string;
  readonly validUntil?: Date;
}

/**
 * Returns the fields that `--next same-company` adds to a rejection. They name the rejected company, so that no other
 * company is tried again by mistake. If `progress` is undefined, they name none, and the ledger uses its current first
 * company.
 */
export function sameCompany(progress: Progress | undefined): Readonly<Record<string, string>> {
  const reference = progress?.firstCompany?.reference;
  return { next: 'same-company', ...(reference !== undefined && { company: reference }) };
}

/** The default of `--by` as help texts describe it. {@link addDefaultBy} sets its value. */
export const DEFAULT_BY = '(default: the name in your signing key, or else your user name)';

/** Adds `--as` and `--by` to a command that supplies or decides something. */
export function addActorOptions(command: Command): Command {
  return command
    .addOption(choiceOption('--as <role>', 'role of the person who decides', ROLES).default('support'))
    .option('--by <name>', `name of the person who decides ${DEFAULT_BY}`);
}

const REASON = 'reason for the decision; the audit trail records it';

/** Adds `--as`, `--by`, `--reason` and `--valid-until` to a command that decides something. */
export function addDecisionOptions(
  command: Command,
  reason: 'reason required' | 'reason optional' = 'reason optional',
): Command {
  if (reason === 'reason required') command.requiredOption('--reason <text>', REASON);
  else command.option('--reason <text>', REASON);
  return addActorOptions(command).option(
    '--valid-until <time>',
    'refuse the decision if no worker has applied it by then, e.g. "2026-11-21 22:00" (your time zone) or ISO 8601',
    parseTime,
  );
}

/**
 * Sets the default of `--by` in every command that has this option without a default of its own: the name in the
 * signing key, or the user name if there is no key. A decision is signed only if `--by` is the name in the key.
 */
export function addDefaultBy(program: Command, env: NodeJS.ProcessEnv): void {
  program.hook('preAction', (_, command) => {
    const hasOption = command.options.some((option) => option.attributeName() === 'by');
    if (!hasOption || command.getOptionValue('by') !== undefined) return;
    const { signingKey } = loadConfig([], env, ['signingKey']);
    command.setOptionValueWithSource('by', signingKey?.by ?? userInfo().username, 'default');
  });
}

export function actorFrom({ as, by }: ActorOptions): { role: Role; by: string } {
  return { role: as, by };
}

/** Returns the fields that every decision has. */
export function contentFrom(options: DecisionOptions): DecisionContent {
  const { reason, validUntil } = options;
  return {
    ...actorFrom(options),
    ...(reason === undefined ? {} : { reason }),
    ...(validUntil === undefined ? {} : { validUntil: validUntil.toISOString() }),
  };
}

/** Sends a decision and returns its outcome as the command's result. */
export async function sendDecision(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  content: DecisionContent,
): Promise<CommandResult> {
  const result = await decide(ferry, migrationId, message, content);
  return {
    failed: result.outcome === 'refused' || isPartial(result),
    json: { schema: 'ferry.decision/1', migrationId, message, ...result },
    ...(result.outcome === 'applied' && !isPartial(result) ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      output.line(`${markOf(output, result)} ${migrationId}: ${result.text}`);
      const note = signatureNote(ferry, result, content);
      if (note !== null) output.line(`  ${note}`);
    },
  };
}

/**
 * Sends a decision on companies, in several messages if there are too many companies for one.
 *
 * @returns the result of the first refused message, or else of the last message. Failed if any of them was not applied
 * to all of its companies
 */
export async function sendCompanyDecision(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  companies: readonly string[],
  content: DecisionContent,
): Promise<CommandResult> {
  let failed = false;
  for (let from = 0; ; from += MAX_COMPANIES_PER_MESSAGE) {
    const part = companies.slice(from, from + MAX_COMPANIES_PER_MESSAGE);
    const result = await sendDecision(ferry, migrationId, message, { companies: part, ...content });
    failed ||= result.failed === true;
    const sent = from + part.length;
    if (result.json['outcome'] === 'refused' || sent >= companies.length)
      return { ...result, failed, json: { ...result.json, companies: sent } };
  }
}

/** Returns a note on whether the decision was signed; null if there is no signing key. */
function signatureNote(
  { signer }: MigrationClient,
  { signedBy }: DecisionResult,
  { by }: DecisionContent,
): string | null {
  if (signedBy !== null) return `signed with the key of ${signedBy}`;
  return signer ? `not signed: the signing key belongs to ${signer.by}, but --by is ${by}` : null;
}

function markOf(output: Output, result: DecisionResult): string {
  if (isPartial(result)) return output.styled('red', '✗');
  switch (result.outcome) {
    case 'applied':
      return output.styled('green', '✓');
    case 'refused':
      return output.styled('red', '✗ refused:');
    case 'recorded':
      return output.styled('yellow', '…');
  }
}

/** @throws CommandFailed if there is no such step */
export function parseStep(text: string): Step {
  if (isStep(text)) return text;
  const near = nearest(text, STEPS);
  throw new CommandFailed(
    `there is no step ${text}`,
    near === undefined ? `the steps are: ${STEPS.join(', ')}` : `did you mean ${near}?`,
  );
}

/**
 * Checks that the manifest has a company with this reference. Does nothing without the ledger, because the migration
 * makes the same check.
 *
 * @throws CommandFailed
 */
export async function assertCompany({ db }: MigrationClient, migrationId: string, reference: string): Promise<void> {
  if (!db || (await findCompany(db, migrationId, { reference }))) return;
  throw new CommandFailed(
    `${migrationId} has no company ${reference}`,
    `list the companies with: ferry companies ${migrationId}`,
  );
}
