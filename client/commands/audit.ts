import { InvalidArgumentError } from 'commander';
import { stringify } from 'csv-stringify/sync';
import { whatWasDecided } from '../../domain/decision-in-words';
import type { Recorded } from '../../domain/migration-state';
import { readMigration, readTrail } from '../../store';
import type { Ferry } from '../ferry';
import { NoSuchMigration } from '../ferry';
import type { CommandResult, Screen, Terminal } from '../screen';
import { localTime } from '../screen/times';
import type { Context } from './context';
import { withFerry } from './with-ferry';

const FORMATS = ['table', 'csv', 'jsonl'] as const;
type Format = (typeof FORMATS)[number];

/** `ferry audit`: every message that was to decide something, by whom, and what became of it. */
export function addAudit({ program, run, terminal }: Context): void {
  program
    .command('audit <migration>')
    .description('Export the audit trail: every decision, by whom, when, and what became of it')
    .option('--format <format>', `one of ${FORMATS.join(', ')}`, formatOf, 'table')
    .action((migration: string, { format }: { format: Format }) => run(() => audit(terminal, migration, format)));
}

function formatOf(text: string): Format {
  const format = FORMATS.find((each) => each === text);
  if (format === undefined) throw new InvalidArgumentError(`Formats are: ${FORMATS.join(', ')}.`);
  return format;
}

async function audit(terminal: Terminal, migrationId: string, format: Format): Promise<CommandResult> {
  const trail = await withFerry(terminal.env, (ferry) => readWhole(ferry, migrationId));
  return {
    json: { schema: 'ferry.audit/1', migrationId, trail: trail.map(entryOf) },
    print: (screen) => PRINTERS[format](screen, trail),
  };
}

async function readWhole({ db }: Ferry, migrationId: string): Promise<readonly Recorded[]> {
  if (!(await readMigration(db, migrationId))) throw new NoSuchMigration(migrationId);
  const trail: Recorded[] = [];
  for await (const recorded of readTrail(db, migrationId)) trail.push(recorded);
  return trail;
}

const PRINTERS: Readonly<Record<Format, (screen: Screen, trail: readonly Recorded[]) => void>> = {
  table: (screen, trail) =>
    screen.table(
      [{ title: 'When', whole: true }, { title: 'Who' }, { title: 'What' }, { title: 'Became' }],
      trail.map(({ decision, outcome }) => [
        localTime(outcome.at),
        `${decision.by ?? 'unknown'}${decision.role ? ` (${decision.role})` : ''}`,
        whatOf({ decision, outcome }),
        outcome.applied ? { text: outcome.text, style: 'green' } : { text: `refused: ${outcome.text}`, style: 'red' },
      ]),
    ),
  jsonl: (screen, trail) => {
    for (const recorded of trail) screen.line(JSON.stringify(entryOf(recorded)));
  },
  csv: (screen, trail) =>
    screen.line(
      stringify(
        trail.map(({ decision, outcome }) => ({
          at: outcome.at,
          by: decision.by ?? '',
          role: decision.role ?? '',
          decision: whatOf({ decision, outcome }),
          applied: outcome.applied,
          became: outcome.text,
          reason: 'reason' in decision ? (decision.reason ?? '') : '',
          digest: 'digest' in decision ? (decision.digest ?? '') : '',
          decisionId: decision.decisionId,
          content: JSON.stringify(decision),
        })),
        // A name that begins like a formula is none.
        { header: true, escape_formulas: true, cast: { boolean: String } },
      ).trimEnd(),
    ),
};

function entryOf({ decision, outcome }: Recorded) {
  return { at: outcome.at, applied: outcome.applied, became: outcome.text, decision };
}

function whatOf({ decision }: Recorded): string {
  return decision.kind === 'unreadable' ? `unreadable ${decision.message}` : whatWasDecided(decision);
}
