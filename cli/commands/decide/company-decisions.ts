import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { DecisionMessage } from '../../../domain/migration/parse-decision';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/parse-decision';
import type { Remedy } from '../../../domain/companies/remedies';
import { remediesFor } from '../../../domain/companies/remedies';
import type { Database } from '../../../store';
import { findUnknown, readCompanies } from '../../../store';
import { CommandFailed } from '../../shared/command-failed';
import type { MigrationClient, Sent } from '../../../client';
import { progressIfAnswered } from '../../../client';
import type { CommandResult } from '../../terminal';
import type { Context } from '../../shared/context';
import { countOption } from '../../shared/options';
import { send } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, sentBy } from '../../shared/sender';
import { assertLedger, withMigrationClient } from '../../shared/with-ferry';

interface CompanyOptions extends SenderOptions {
  readonly all?: true;
  readonly file?: string;
  readonly wave?: number;
}

/** A decision about companies, and how it is given. */
interface AboutCompanies {
  readonly name: string;
  readonly message: DecisionMessage;
  readonly description: string;
  /** Whether they can be named by their wave. */
  readonly byWave?: true;
  /** What `--all` means; absent: they are named one by one. */
  readonly all?: string;
  readonly needsReason?: true;
}

const COMMANDS: readonly AboutCompanies[] = [
  {
    name: 'confirm-sync-disabled',
    message: 'confirmSyncDisabled',
    description: "Confirm that the client's own application no longer uses the tokens of these companies",
    all: 'of all companies of the manifest',
    byWave: true,
  },
  {
    name: 'exclude',
    message: 'exclude',
    description: 'Leave companies out that have not been moved yet',
    needsReason: true,
  },
  {
    name: 'retry',
    message: 'retry',
    description: 'Try companies again that were not moved',
    all: 'every company that was not moved',
  },
  {
    name: 'relink',
    message: 'relink',
    description: 'Look out for companies whose end customer connects again with the link, and check them then',
    all: 'every company that must reconnect',
  },
  {
    name: 'skip',
    message: 'skip',
    description: 'Give up companies that were not moved',
    needsReason: true,
  },
];

/** `ferry confirm-sync-disabled`, `exclude`, `retry`, `relink`, `skip`: decisions about companies, by reference. */
export function addAboutCompanies(context: Context): void {
  for (const about of COMMANDS) addOne(context, about);
}

function addOne({ program, run, terminal }: Context, about: AboutCompanies): void {
  const command: Command = program
    .command(`${about.name} <migration> [references...]`)
    .description(about.description)
    .option('--file <path>', 'a file with one reference in each line');
  if (about.all !== undefined) command.option('--all', about.all);
  if (about.byWave) command.addOption(countOption('--wave <number>', 'of all companies of this wave'));
  addDecider(command, about.needsReason ? 'reason needed' : 'reason possible').action(
    (migration: string, named: string[], options: CompanyOptions) =>
      run(() =>
        withMigrationClient(terminal.env, async (ferry) =>
          decideAbout(
            ferry,
            migration,
            about,
            await companiesOf(ferry, migration, named, options, about),
            sentBy(options),
          ),
        ),
      ),
  );
}

async function companiesOf(
  ferry: MigrationClient,
  migrationId: string,
  named: readonly string[],
  { all, file, wave }: CompanyOptions,
  { all: mayBeAll }: AboutCompanies,
): Promise<'all' | readonly string[]> {
  if (all) return 'all';
  if (wave !== undefined) return companiesOfWave(assertLedger(ferry).db, migrationId, wave);
  const references = [...new Set([...named, ...(file === undefined ? [] : linesOf(file))])];
  if (references.length > 0) return references;
  throw new CommandFailed(
    'no company was named',
    mayBeAll === undefined ? 'name their references' : 'name their references, or say --all',
  );
}

async function companiesOfWave(db: Database, migrationId: string, wave: number): Promise<readonly string[]> {
  const references: string[] = [];
  for await (const { reference } of readCompanies(db, migrationId, { wave, states: ['waiting'] })) {
    references.push(reference);
  }
  if (references.length > 0) return references;
  throw new CommandFailed(`${migrationId} has no company of wave ${wave} that waits`, 'see: ferry companies');
}

function linesOf(file: string): readonly string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '');
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read`, 'name a file with one reference in each line', { cause: error });
  }
}

async function decideAbout(
  ferry: MigrationClient,
  migrationId: string,
  { name, message }: AboutCompanies,
  companies: 'all' | readonly string[],
  sent: Sent,
): Promise<CommandResult> {
  if (companies === 'all') {
    // Of all companies of the manifest as it is now: one that was added since has not been disabled by anybody.
    const digest = message === 'confirmSyncDisabled' ? await manifestSeen(ferry, migrationId) : {};
    return send(ferry, migrationId, message, { companies, ...sent, ...digest });
  }
  if (ferry.db) await assertFit(ferry.db, migrationId, name, companies);
  return sendAbout(ferry, migrationId, message, companies, sent);
}

/**
 * Nothing is decided about any of them, if it cannot be about one. Without the ledger the answer says of how many it was
 * done.
 *
 * @throws CommandFailed
 */
async function assertFit(
  db: Database,
  migrationId: string,
  name: AboutCompanies['name'],
  companies: readonly string[],
): Promise<void> {
  const unknown = await findUnknown(db, migrationId, companies);
  if (unknown.length > 0) {
    throw new CommandFailed(
      `${migrationId} has no company ${someOf(unknown)}`,
      `nothing was decided; see: ferry companies ${migrationId}`,
    );
  }
  const remedy = REMEDIES.find((each) => each === name);
  if (remedy) await assertRemedy(db, migrationId, remedy, companies);
}

async function manifestSeen(ferry: MigrationClient, migrationId: string): Promise<{ readonly digest?: string }> {
  const seen = await progressIfAnswered(ferry, migrationId);
  return seen ? { digest: seen.digests['disable-syncing'] } : {};
}

const REMEDIES = ['exclude', 'retry', 'relink', 'skip'] as const satisfies readonly Remedy[];

/** @throws CommandFailed when there is a company among them with which this cannot be done */
async function assertRemedy(
  db: Database,
  migrationId: string,
  remedy: Remedy,
  references: readonly string[],
): Promise<void> {
  const unfit: string[] = [];
  for await (const company of readCompanies(db, migrationId, { references })) {
    if (!remediesFor(company).includes(remedy)) unfit.push(`${company.reference} (${company.state})`);
  }
  if (unfit.length === 0) return;
  throw new CommandFailed(
    `${remedy} is not for ${someOf(unfit)}`,
    `nothing was decided; see what can be done with: ferry exceptions ${migrationId}`,
  );
}

function someOf(names: readonly string[]): string {
  return `${names.slice(0, 5).join(', ')}${names.length > 5 ? ` and ${names.length - 5} more` : ''}`;
}

/** Sends a decision about these companies, in as many messages as it takes. */
export async function sendAbout(
  ferry: MigrationClient,
  migrationId: string,
  message: DecisionMessage,
  companies: readonly string[],
  sent: Sent,
): Promise<CommandResult> {
  for (let from = 0; ; from += MAX_COMPANIES_PER_MESSAGE) {
    const some = companies.slice(from, from + MAX_COMPANIES_PER_MESSAGE);
    const answer = await send(ferry, migrationId, message, { companies: some, ...sent });
    const decided = from + some.length;
    // The answer to the last one is the answer, or the first refusal.
    if (answer.failed || decided >= companies.length)
      return { ...answer, json: { ...answer.json, companies: decided } };
  }
}
