/** The commands that decide on companies, and the companies that a person selects for them. */
import type { Command } from 'commander';
import type { DecisionMessage } from '../../domain/migration/parse-decision';
import { eitherOf } from '../../domain/text/sentences';
import { addYesOption } from '../shared/context';
import { CommandFailed } from '../shared/errors';
import { readTextFile } from '../shared/unreadable-file';
import { integerOption } from './options';

export interface SelectionOptions {
  readonly all?: true;
  readonly file?: string;
  readonly wave?: number;
}

/** A command that sends a decision on companies. */
export interface CompanyCommand {
  readonly name: string;
  readonly message: DecisionMessage;
  readonly description: string;
  /** Adds `--wave`. */
  readonly byWave?: true;
  /** Adds `--all` with this description. */
  readonly all?: string;
  readonly needsReason?: true;
  /** Set if the decision cannot be undone. The command then asks for confirmation. */
  readonly final?: FinalDecision;
}

interface FinalDecision {
  /** The beginning of the question, before the number of companies. */
  readonly question: string;
  /** The consequence for the companies, printed after their number: "will not be ...". */
  readonly fate: string;
}

export const COMPANY_COMMANDS: readonly CompanyCommand[] = [
  {
    name: 'confirm-sync-disabled',
    message: 'confirmSyncDisabled',
    description: "Confirm that the client's own application no longer uses the tokens of these companies",
    all: 'all companies of the manifest',
    byWave: true,
  },
  {
    name: 'exclude',
    message: 'exclude',
    description: 'Leave out companies that are waiting to be moved; this cannot be undone',
    needsReason: true,
    final: { question: 'Leave out', fate: 'will not be moved and cannot be added to this migration again' },
  },
  {
    name: 'retry',
    message: 'retry',
    description:
      'Retry companies that must reconnect, were not moved, were deferred, or have an unknown outcome. In self-service, until the check of the details finds no errors, --all only repeats this check',
    all: 'all companies that were not moved, were deferred, or have an unknown outcome; also companies that must reconnect, if a retry can help them',
  },
  {
    name: 'relink',
    message: 'relink',
    description:
      'Have the migration check companies as soon as their end customers have reconnected with their links; the command does not wait for this',
    all: 'all companies for which the list of exceptions suggests relink',
  },
  {
    name: 'skip',
    message: 'skip',
    description:
      'Give up on companies that must reconnect, were not moved, wait for another try, or have an unknown outcome; this cannot be undone',
    needsReason: true,
    final: { question: 'Give up on', fate: 'will not be tried again, not even if an end customer reconnects' },
  },
];

/** Adds a command with its arguments and the options that select companies. */
export function addCompanyCommand(program: Command, definition: CompanyCommand): Command {
  const command = program
    .command(`${definition.name} <migration> [references...]`)
    .description(definition.description)
    .option('--file <path>', 'a file with one reference per line');
  if (definition.all !== undefined) command.option('--all', definition.all);
  if (definition.byWave)
    command.addOption(integerOption('--wave <number>', 'all companies of this wave that are waiting to be moved'));
  if (definition.message !== 'confirmSyncDisabled') addYesOption(command);
  return command;
}

/**
 * Returns the selected companies.
 *
 * @param readWave returns the references of a wave
 * @throws CommandFailed if no company is selected, or the file cannot be read
 */
export async function readSelection(
  given: readonly string[],
  { all, file, wave }: SelectionOptions,
  { all: allDescription, byWave }: CompanyCommand,
  readWave: (wave: number) => Promise<readonly string[]>,
): Promise<'all' | readonly string[]> {
  if (all) return 'all';
  if (wave !== undefined) return readWave(wave);
  const references = [...new Set([...given, ...(file === undefined ? [] : readLines(file))])];
  if (references.length > 0) return references;
  if (file !== undefined)
    throw new CommandFailed(`${file} contains no reference`, 'specify a file with one reference per line');
  const options = ['--file', ...(byWave ? ['--wave'] : []), ...(allDescription === undefined ? [] : ['--all'])];
  throw new CommandFailed('no company was specified', `specify references, or use ${eitherOf(options)}`);
}

function readLines(file: string): readonly string[] {
  return readTextFile(file, 'specify a file with one reference per line')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
