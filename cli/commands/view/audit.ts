import { createHash } from 'node:crypto';
import { InvalidArgumentError } from 'commander';
import { inSupportWords } from '../../../domain/companies/call-words';
import { stopCauseText } from '../../../domain/companies/failures';
import { decisionText } from '../../../presentation/wording/decisions';
import type { DecisionRecord } from '../../../domain/migration/migration-state';
import { endBytesToSign, type TrailEnd } from '../../../domain/decisions/audit-trail';
import { withEndInTemporal, type RecordedStoppage } from '../../../domain/migration/stoppage';
import { duration, roughDuration } from '../../../domain/text/sentences';
import type { LedgerSummary } from '../../../domain/decisions/ledger-proof';
import type { SigningKey } from '../../../security';
import { readLedgerSummary, readMigration, readStoppages, readTrail, type StoredMigration } from '../../../store';
import { NoSuchMigration, readEndBeforeClosing, type LedgerClient } from '../../../client';
import type { Output, AlreadyWritten } from '../../terminal/output';
import { localTime } from '../../terminal/times';
import { verifyTrail } from '../../reporting/audit-verification';
import type { NamedApprover } from '../../reporting/trail-approvers';
import type { Context } from '../../shared/context';
import { namedApproverOption } from '../../options/options';
import { writeCsv } from '../../shared/results';
import { withLedgerClient } from '../../connections/clients';
import { mapped } from '../../../domain/text/streams';

const FORMATS = ['table', 'csv', 'jsonl'] as const;
type Format = (typeof FORMATS)[number];

interface AuditOptions {
  readonly format: Format;
  readonly verify?: string;
  readonly approver?: readonly NamedApprover[];
}

/** `ferry audit`: exports all applied and refused decisions, or verifies an export. */
export function addAudit({ program, run, output, terminal }: Context): void {
  program
    .command('audit <migration>')
    .description(
      'Export the audit trail: every decision, who made it, when, and its outcome; and when the migration paused itself or waited out an outage',
    )
    .option(
      '--format <format>',
      `one of ${FORMATS.join(', ')}. Only jsonl can be verified; it leaves out automatic pauses and outages`,
      formatOf,
      'table',
    )
    .option('--verify <file>', 'verify the signatures of a jsonl export offline, instead of exporting')
    .addOption(namedApproverOption('with --verify, an approver whose signatures are accepted'))
    .action((migration: string, { format, verify, approver = [] }: AuditOptions) =>
      run(() =>
        verify === undefined
          ? withLedgerClient(terminal.env, (ferry) => audit(output, ferry, migration, format))
          : verifyTrail(verify, migration, approver),
      ),
    );
}

function formatOf(text: string): Format {
  const format = FORMATS.find((each) => each === text);
  if (format === undefined) throw new InvalidArgumentError(`Choose one of: ${FORMATS.join(', ')}.`);
  return format;
}

/** Streams the trail, because it can have any length. */
async function audit(
  output: Output,
  { db, signer, temporalWithoutCodec }: LedgerClient,
  migrationId: string,
  format: Format,
): Promise<AlreadyWritten> {
  const migration = await readMigration(db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const trail = readTrail(db, migrationId);
  const endedInTemporal = await readEndBeforeClosing({ temporalWithoutCodec }, migration);
  const stoppages = withEndInTemporal(await readStoppages(db, migrationId), endedInTemporal);
  if (output.json)
    await output.streamJson({ schema: 'ferry.audit/1', migrationId, stoppages }, 'trail', mapped(trail, entryOf));
  else {
    if (format === 'table' && migration.route === 'self-service') printStart(output, migration);
    const ledger = await readLedgerSummary(db, migrationId);
    await PRINTERS[format](output, trail, { migrationId, signer, ledger, stoppages });
  }
  return { written: true };
}

/**
 * Prints the start of a self-service migration, because the start confirms that syncing is off. It precedes every
 * decision.
 */
function printStart(output: Output, { suppliedBy, suppliedAt }: StoredMigration): void {
  output.line(
    `${localTime(suppliedAt)}: ${suppliedBy} (client) started the migration, and confirmed for every company that nothing else uses its token.`,
  );
}

/** A line of the table and of the CSV. */
type Item = DecisionRecord | RecordedStoppage;

async function* withStoppages(
  trail: AsyncIterable<DecisionRecord>,
  stoppages: readonly RecordedStoppage[],
): AsyncGenerator<Item> {
  const rest = [...stoppages];
  for await (const recorded of trail) {
    while (rest[0] !== undefined && rest[0].beganAt < recorded.outcome.at) yield* rest.splice(0, 1);
    yield recorded;
  }
  yield* rest;
}

const isStoppage = (item: Item): item is RecordedStoppage => 'beganAt' in item;

/** The name that the table and the CSV show for a stoppage, which no person has decided. */
const ITSELF = 'Tokenferry';

/** Returns the cause of a stoppage. Leaves out the advice that was stored with a pause, because it can be outdated. */
const causeOf = ({ stop, why }: RecordedStoppage): string => (stop === null ? why : stopCauseText(stop, why));

function stoppageText(stoppage: RecordedStoppage): string {
  const cause = inSupportWords(causeOf(stoppage));
  return stoppage.kind === 'pause'
    ? `pause automatically (${cause})`
    : `wait, because no call got through to the ${stoppage.source ?? 'service'} (${cause})`;
}

function stoppageOutcome({ kind, beganAt, endedAt }: RecordedStoppage): string {
  const isPause = kind === 'pause';
  if (endedAt === null) return isPause ? 'still paused' : 'still waiting';
  const ms = Date.parse(endedAt) - Date.parse(beganAt);
  // Rounds the duration of an outage, because its recorded beginning can be some seconds too early or too late.
  const howLong = isPause ? duration(ms) : roughDuration(ms);
  return `${isPause ? 'paused' : 'waited'} until ${localTime(endedAt)}, ${howLong} in all`;
}

interface ExportOptions {
  readonly migrationId: string;
  readonly signer: SigningKey | undefined;
  /** Exported with the decisions, so that a verification can compare the ledger with the decisions. */
  readonly ledger: LedgerSummary | null;
  /** Not exported in the format jsonl, which contains only what signatures can prove. */
  readonly stoppages: readonly RecordedStoppage[];
}

type Printer = (output: Output, trail: AsyncIterable<DecisionRecord>, options: ExportOptions) => Promise<void>;

const PRINTERS: Readonly<Record<Format, Printer>> = {
  table: async (output, trail, { stoppages }) => {
    let entries = 0;
    await output.streamTable(
      [{ title: 'When', unbroken: true }, 'Who', 'What', 'Outcome'],
      mapped(withStoppages(trail, stoppages), (item) => {
        entries += 1;
        if (isStoppage(item)) return [localTime(item.beganAt), ITSELF, stoppageText(item), stoppageOutcome(item)];
        const { decision, outcome } = item;
        return [
          localTime(outcome.at),
          `${decision.by ?? 'unknown'}${decision.role ? ` (${decision.role})` : ''}`,
          whatOf(decision),
          outcome.applied ? { text: outcome.text, style: 'green' } : { text: `refused: ${outcome.text}`, style: 'red' },
        ];
      }),
    );
    if (entries === 0) output.line('No decisions yet.');
  },
  jsonl: async (output, trail, options) => {
    const digest = createHash('sha256');
    let entries = 0;
    for await (const recorded of trail) {
      const line = JSON.stringify(entryOf(recorded));
      digest.update(`${line}\n`);
      entries += 1;
      await output.stream(line);
    }
    const { ledger } = options;
    if (ledger) {
      const line = JSON.stringify({ ledger });
      digest.update(`${line}\n`);
      await output.stream(line);
    }
    const end = endOf({ ...options, entries, sha256: digest.digest('hex') });
    if (end) await output.stream(JSON.stringify(end));
  },
  csv: (output, trail, { stoppages }) =>
    writeCsv(
      output,
      mapped(withStoppages(trail, stoppages), (item) =>
        isStoppage(item) ? stoppageRecord(item) : decisionRecord(item),
      ),
    ),
};

function decisionRecord({ decision, outcome }: DecisionRecord) {
  return {
    at: outcome.at,
    by: decision.by ?? '',
    role: decision.role ?? '',
    decision: whatOf(decision),
    applied: outcome.applied,
    outcome: outcome.text,
    reason: 'reason' in decision ? (decision.reason ?? '') : '',
    digest: 'digest' in decision ? (decision.digest ?? '') : '',
    decisionId: decision.decisionId,
    content: JSON.stringify(decision),
  };
}

function stoppageRecord(stoppage: RecordedStoppage): ReturnType<typeof decisionRecord> {
  return {
    ...{ at: stoppage.beganAt, by: ITSELF, role: '', decision: stoppageText(stoppage), applied: true },
    ...{ outcome: stoppageOutcome(stoppage), reason: causeOf(stoppage), digest: '', decisionId: '' },
    content: JSON.stringify(stoppage),
  };
}

/** Returns the signed last line, which proves that the export is complete; null if there is no signing key. */
function endOf({ signer, migrationId, entries, sha256 }: ExportOptions & Pick<TrailEnd, 'entries' | 'sha256'>) {
  if (!signer) return null;
  const end: TrailEnd = { migrationId, entries, sha256, exportedBy: signer.by, exportedAt: new Date().toISOString() };
  return { end, signature: { publicKey: signer.publicKey, value: signer.sign(endBytesToSign(end)) } };
}

function entryOf({ decision, outcome, signed }: DecisionRecord) {
  return { at: outcome.at, applied: outcome.applied, outcome: outcome.text, decision, ...(signed ? { signed } : {}) };
}

function whatOf(decision: DecisionRecord['decision']): string {
  return decision.kind === 'unreadable' ? `unreadable decision: ${decision.message}` : decisionText(decision);
}
