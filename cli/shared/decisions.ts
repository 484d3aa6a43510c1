/** Adds the options that say who decides and why, and sends the decisions that commands make. */
import { existsSync } from 'node:fs';
import { userInfo } from 'node:os';
import type { Command } from 'commander';
import { loadConfig } from '../../config';
import { MAX_COMPANIES_PER_MESSAGE } from '../../domain/migration/decision-fields';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { joinedOutcomes, laterRefusalText, type PartOutcome } from '../../domain/migration/part-outcomes';
import { isPartial } from '../../domain/migration/partial-outcome';
import { isStep, ROLES, STEPS, type Role, type Step } from '../../domain/migration/steps';
import type { Progress } from '../../domain/progress/progress';
import { findCompany, readMigration } from '../../store';
import { decide, NoSuchMigration, type DecisionContent, type DecisionResult, type MigrationClient } from '../../client';
import { PRINT_NOTHING, type CommandResult, type Output } from '../terminal/output';
import { exampleTime, inLocalTime, parseTime } from '../terminal/times';
import type { Context } from './context';
import { CommandFailed } from './errors';
import { nearest } from '../../domain/text/nearest';
import { addReasonOption, choiceOption } from '../options/options';
import { nameRejection } from '../options/person-name';
import { shellQuoted } from '../../domain/text/shell-quoted';
import { signingAdvice } from '../suggestions/signing-advice';

/**
 * The role and name of the person who acts. They are options, because support can also record decisions on behalf of
 * the client.
 */
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
 * company is tried again by mistake. If `progress` does not contain the first company, they name no company, and the
 * ledger uses its current first company.
 */
export function sameCompany(progress: Progress | undefined): Readonly<Record<string, string>> {
  const reference = progress?.firstCompany?.reference;
  return { next: 'same-company', ...(reference !== undefined && { company: reference }) };
}

/** Returns whether a rejection of the first company rejects the result of this company. */
export function isRejectedFirst(progress: Progress | undefined, reference: string): boolean {
  const first = progress?.firstCompany;
  // While the first company is being moved, and in step 6, the migration refuses the rejection.
  if (first == null || first.stage === 'importing' || progress?.step === 'complete-migration') return false;
  return first.reference === reference;
}

/** The default of `--by` as help texts describe it. {@link addDefaultBy} sets its value. */
export const DEFAULT_BY = '(default: the name in your signing key, or else your user name)';

/** Adds `--as` and `--by` to a command that supplies or decides something. */
export function addActorOptions(command: Command): Command {
  return command
    .addOption(choiceOption('--as <role>', 'role of the person who decides', ROLES).default('support'))
    .option('--by <name>', `name of the person who decides ${DEFAULT_BY}`);
}

/** Adds `--as`, `--by`, `--reason` and `--valid-until` to a command that decides something. */
export function addDecisionOptions(command: Command, now: Date, reason: 'required' | 'optional' = 'optional'): Command {
  return addActorOptions(addReasonOption(command, reason)).option(
    '--valid-until <time>',
    `refuse the decision if no worker has applied it by this time, e.g. "${exampleTime(now)}" (your time zone) or ISO 8601`,
    parseTime,
  );
}

/** Returns the user who called sudo if several people share the current user name; otherwise the current one. */
function userNameOf(user: string, { SUDO_USER: caller }: NodeJS.ProcessEnv): string {
  return isShared(user) && caller !== undefined && caller !== '' ? caller : user;
}

const isShared = (user: string): boolean => SHARED_USERS.includes(user.toLowerCase());

/** User names that say nothing about the person. */
const SHARED_USERS = ['root', 'admin', 'administrator', 'ubuntu'];

/**
 * Sets the default of `--by` in every command that has this option without a default of its own: the name in the
 * signing key, or the user name if there is no key. A decision is signed only if `--by` is the name in the key.
 *
 * Asks for the name if several people share the user name, because decisions and reports name the person.
 */
export function addDefaultBy(program: Command, { output, terminal }: Pick<Context, 'output' | 'terminal'>): void {
  const { env, prompts, userName } = terminal;
  let answer: string | undefined;
  program.hook('preAction', async (_, command) => {
    const hasOption = command.options.some((option) => option.attributeName() === 'by');
    if (!hasOption || command.getOptionValue('by') !== undefined) return;
    const setDefault = (name: string): unknown => command.setOptionValueWithSource('by', name, 'default');
    const { signingKey } = loadConfig([], env, ['signingKey']);
    const user = userNameOf(userName ?? userInfo().username, env);
    setDefault(signingKey?.by ?? user);
    // The desk asks for the name before each decision, and a dry run or a list records nothing.
    const isReading = ['dryRun', 'list'].some((option) => command.getOptionValue(option) !== undefined);
    const records = command.name() !== 'desk' && !isReading && !isIncompleteInvitation(command);
    if (signingKey || !records || !isShared(user) || namesMissingFile(command)) return;
    if (prompts && !output.json && !output.quiet && command.getOptionValue('yes') === undefined) {
      // This hook runs twice if `ferry start` asks for missing options, so the answer is kept.
      const isAsked = answer === undefined;
      answer ??= await prompts.text(`Your name? (decisions and reports show it; your user name is ${user})`, {
        rejection: (name) => nameRejection(name, '; --by "your name" avoids the question'),
      });
      setDefault(answer);
      if (isAsked && command.getOptionValue('as') !== 'client')
        output.line(
          `If only you use the user name ${user}, ferry can take your name from a signing key: ferry keys create --by ${shellQuoted(answer)}`,
        );
    } else if (!output.json && !output.quiet) {
      output.warn(`acting as ${user}; to record your name, add --by "your name"`);
    }
  });
}

/** The options that name a file that a command reads. */
const FILE_OPTIONS = ['credentials', 'secretFile', 'sealed'];

/** Returns whether the command will only report that a file does not exist. */
function namesMissingFile(command: Command): boolean {
  const files = command.registeredArguments
    .map((argument, index) => (['file', 'manifest'].includes(argument.name()) ? command.args[index] : undefined))
    .concat(FILE_OPTIONS.map((option) => command.getOptionValue(option) as string | undefined));
  return files.some((file) => file !== undefined && !existsSync(file));
}

/** Returns whether `ferry invite` will only say which arguments are missing. */
function isIncompleteInvitation(command: Command): boolean {
  if (command.name() !== 'invite' || command.getOptionValue('revoke') !== undefined) return false;
  return command.getOptionValue('name') === undefined || command.args.length === 0;
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
  const advice = await signingAdvice(ferry, migrationId, content, result, message);
  return decisionResult(ferry, { migrationId, message, content, result, advice });
}

interface Decided {
  readonly migrationId: string;
  readonly message: DecisionMessage;
  readonly content: DecisionContent;
  readonly result: DecisionResult;
  /** The advice about a refusal; null if there is none. */
  readonly advice: string | null;
}

/** Returns the outcome of a decision as the command's result. */
export function decisionResult(
  ferry: MigrationClient,
  { migrationId, message, content, result, advice }: Decided,
): CommandResult {
  return {
    failed: result.outcome === 'refused' || isPartial(result),
    json: { schema: 'ferry.decision/1', migrationId, message, ...result },
    ...(result.outcome === 'applied' && !isPartial(result) ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      output.line(`${markOf(output, result)} ${migrationId}: ${inLocalTime(result.text)}`);
      const note = signatureNote(ferry, result, content);
      if (note !== null) output.line(`  ${note}`);
      if (advice !== null) output.line(`  ${advice}`);
    },
  };
}

/**
 * Sends a decision on companies, in several messages if there are too many companies for one. Stops at the first
 * refused message.
 *
 * @returns the joined results of the messages
 */
export async function sendCompanyDecision(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  companies: readonly string[],
  content: DecisionContent,
): Promise<CommandResult> {
  const answers: PartOutcome[] = [];
  for (let from = 0; ; from += MAX_COMPANIES_PER_MESSAGE) {
    const part = companies.slice(from, from + MAX_COMPANIES_PER_MESSAGE);
    const last = await decide(ferry, migrationId, message, { companies: part, ...content });
    const sent = from + part.length;
    const isRefused = last.outcome === 'refused';
    if (!isRefused) answers.push(partOutcome(last, part.length));
    if (!isRefused && sent < companies.length) continue;
    const advice = await signingAdvice(ferry, migrationId, { companies: part, ...content }, last, message);
    const result =
      isRefused && answers.length > 0
        ? { ...last, text: laterRefusalText(last.text, { answers, part: part.length, all: companies.length }) }
        : isRefused
          ? last
          : joinedResult(last, answers);
    const decided = decisionResult(ferry, { migrationId, message, content, result, advice });
    return { ...decided, json: { ...decided.json, companies: sent } };
  }
}

export const partOutcome = ({ outcome, text }: DecisionResult, companies: number): PartOutcome => ({
  ...{ text, companies, isUnknown: outcome === 'recorded' },
});

/** Returns the last result with the text of all parts, of which none was refused. */
export function joinedResult(last: DecisionResult, answers: readonly PartOutcome[]): DecisionResult {
  const outcome = answers.some(({ isUnknown }) => isUnknown) ? 'recorded' : last.outcome;
  return { ...last, outcome, text: joinedOutcomes(answers) };
}

function signatureNote(
  { signer }: MigrationClient,
  { signedBy }: DecisionResult,
  { by }: DecisionContent,
): string | null {
  if (signedBy !== null) return `signed with the key of ${signedBy}`;
  return signer ? `not signed: the signing key belongs to ${signer.by}, but --by is ${by}` : null;
}

/** Returns the mark before the text of an outcome. */
export function markOf(output: Output, result: DecisionResult): string {
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
 * @throws NoSuchMigration
 */
export async function assertCompany({ db }: MigrationClient, migrationId: string, reference: string): Promise<void> {
  if (!db || (await findCompany(db, migrationId, { reference }))) return;
  if ((await readMigration(db, migrationId)) === undefined) throw new NoSuchMigration(migrationId);
  throw new CommandFailed(
    `${migrationId} has no company ${reference}`,
    `list the companies with: ferry companies ${migrationId}`,
  );
}
