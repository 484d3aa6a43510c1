import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, type Command } from 'commander';
import { MAX_COMPANIES_PER_MESSAGE } from '../../../domain/migration/parse-decision';
import { inChunks } from '../../../domain/text/streams';
import type { SuppliedCredential, SupplyResult } from '../../../store';
import { addSupplyResult, emptySupplyResult, readMigration, stageCredentials } from '../../../store';
import type { DecisionResult, LedgerClient } from '../../../client';
import { decide, NoSuchMigration } from '../../../client';
import type { Credentials } from '../../manifest';
import { identifyFile, obtainedAtProblem, readCredentials } from '../../manifest';
import type { CommandResult, Output, Terminal } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { parseTime } from '../../terminal/times';
import { counted, outOf } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import type { Disposal, ShredOption } from '../../manifest';
import { addEncoding, addShred, disposeOf, type EncodingOption } from '../../manifest';
import type { RefusedGroup } from '../../shared/refused-credentials';
import { printRefused, readRefused } from '../../shared/refused-credentials';
import { findingsJson, printFindings } from '../../shared/results';
import type { DecisionOptions } from '../../shared/decisions';
import { addDecisionOptions, addActorOptions, actorFrom, contentFrom, sendDecision } from '../../shared/decisions';
import { platformOf, withLedgerClient } from '../../shared/clients';

interface CredentialOptions extends DecisionOptions, ShredOption, EncodingOption {
  readonly obtainedAt?: Date;
}

const OBTAINED_AT = [
  '--obtained-at <when>',
  "time at which the client's application received the credentials, or the word now (default: the obtainedAt column, or the file's modification time)",
  parseObtainedAt,
] as const;

/**
 * `ferry credentials`, `replace-credential`: reads credentials from a file, seals and stores them, and can then destroy
 * the file.
 */
export function addCredentials({ program, run, terminal, now }: Context): void {
  addFileOptions(
    addActorOptions(
      program
        .command('credentials <migration> <file>')
        .description(
          'Encrypt and store credentials that were obtained after syncing was disabled, from a file (CSV or JSON) with one row per company',
        )
        .option(...OBTAINED_AT),
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => supply(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );

  addFileOptions(
    addDecisionOptions(
      program
        .command('replace-credential <migration> <file>')
        .description(
          'Replace the credentials of companies that were not moved or whose outcome is unknown, and move the companies with the new ones',
        )
        .option(...OBTAINED_AT),
      now,
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => replace(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );
}

const addFileOptions = (command: Command): Command => addShred(addEncoding(command));

interface Request {
  readonly migrationId: string;
  readonly file: string;
  readonly options: CredentialOptions;
}

/**
 * Stages the credentials first, and then sends the decision. The ledger uses them only once it has accepted the
 * decision. The ledger deletes them if it refuses the decision.
 */
async function supply(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const actor = actorFrom(options);
  const original = await identifyFile(file);
  const read = await readCredentialFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  const decisionId = randomUUID();
  const staged = await stageCredentials(ferry.db, migrationId, read.credentials, actor.by, {
    decisionId,
    replaces: false,
  });
  const decision =
    staged.stored.length === 0
      ? null
      : await decide(ferry, migrationId, 'credentialsSupplied', {
          decisionId,
          companies: staged.stored.length,
          ...actor,
        });
  const supplied = decision?.outcome === 'refused' ? { ...staged, stored: [] } : staged;
  const isInUse = isEverythingStored(supplied) && decision?.outcome === 'applied';
  const disposal = await disposeOf(original, isInUse, options, terminal);
  const refused = await readRefused(ferry.db, request, supplied, 'credentials');
  return suppliedResult(migrationId, read, { ...supplied, decision }, disposal, refused);
}

/** Sends a decision for every {@link MAX_COMPANIES_PER_MESSAGE} companies, because a decision cannot name more. */
async function replace(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const content = contentFrom(options);
  const original = await identifyFile(file);
  const read = await readCredentialFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  const supplied = emptySupplyResult();
  let decision: CommandResult | null = null;
  for await (const part of inChunks(read.credentials, MAX_COMPANIES_PER_MESSAGE)) {
    const decisionId = randomUUID();
    const staged = await stageCredentials(ferry.db, migrationId, part, content.by, { decisionId, replaces: true });
    addSupplyResult(supplied, { ...staged, stored: [] });
    if (staged.stored.length === 0) continue;
    const sent = { decisionId, companies: staged.stored, ...content };
    decision = await sendDecision(ferry, migrationId, 'replaceCredential', sent);
    if (decision.json['outcome'] === 'refused') break;
    supplied.stored.push(...staged.stored);
  }
  const isInUse = isEverythingStored(supplied) && decision?.json['outcome'] === 'applied';
  const disposal = await disposeOf(original, isInUse, options, terminal);
  const refused = await readRefused(ferry.db, request, supplied, 'replace-credential');
  const stored = suppliedResult(migrationId, read, { ...supplied, decision: null }, disposal, refused);
  if (!decision) return stored;
  const { failed, json, print } = decision;
  return {
    failed: stored.failed === true || failed === true,
    json: { ...stored.json, decision: { ...json, companies: supplied.stored.length } },
    print: (output) => {
      // A refusal alone says everything if nothing was stored before it.
      if (json['outcome'] !== 'refused' || supplied.stored.length > 0) stored.print(output);
      print(output);
      if (json['outcome'] === 'refused' && supplied.stored.length === 0) {
        output.line('  no credential was stored');
        disposal.print(output);
      }
    },
  };
}

/** @throws InvalidArgumentError, to which commander adds the name of the option */
function parseObtainedAt(text: string): Date {
  const at = parseTime(text);
  const problem = obtainedAtProblem(at, new Date());
  if (problem !== null) throw new InvalidArgumentError(`It is ${problem}.`);
  return at;
}

async function readCredentialFile(
  ferry: LedgerClient,
  migrationId: string,
  file: string,
  { obtainedAt, encoding }: CredentialOptions,
): Promise<Credentials> {
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const read = await readCredentials(file, platformOf(migration), new Date(), encoding);
  if (obtainedAt === undefined) return read;
  return { ...read, credentials: withObtainedAt(read.credentials, obtainedAt.toISOString()) };
}

async function* withObtainedAt(
  credentials: Credentials['credentials'],
  obtainedAt: string,
): AsyncGenerator<SuppliedCredential> {
  for await (const credential of credentials) yield { ...credential, obtainedAt };
}

function hasErrors({ findings }: Credentials): boolean {
  return findings.errors > 0;
}

function invalidFile({ findings }: Credentials): CommandResult {
  return {
    failed: true,
    json: { schema: 'ferry.credentials/1', stored: [], ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings);
      output.line(`${output.styled('red', '✗')} nothing was stored`);
    },
  };
}

function isEverythingStored({ stored, obtainedTooEarly, wrongState, unknown }: SupplyResult): boolean {
  return stored.length > 0 && obtainedTooEarly.length + wrongState.length + unknown.length === 0;
}

/**
 * The references, grouped by what happened to them. `decision` is null if no decision was sent, or if it is reported
 * separately.
 */
type Supplied = SupplyResult & { readonly decision: DecisionResult | null };

function suppliedResult(
  migrationId: string,
  { findings }: Credentials,
  { decision, ...supplied }: Supplied,
  disposal: Disposal,
  refused: readonly RefusedGroup[],
): CommandResult {
  const isComplete = isEverythingStored(supplied);
  return {
    failed: !isComplete || disposal.failed,
    json: {
      schema: 'ferry.credentials/1',
      migrationId,
      ...supplied,
      obtainedTooEarly: supplied.obtainedTooEarly.map(({ reference }) => reference),
      tooEarly: supplied.obtainedTooEarly,
      shredded: disposal.shredded,
      ...(decision === null
        ? {}
        : { decision: { schema: 'ferry.decision/1', migrationId, message: 'credentialsSupplied', ...decision } }),
      ...findingsJson(findings),
    },
    ...(isComplete && decision?.outcome !== 'recorded' ? { printQuietly: PRINT_NOTHING } : {}),
    print: (output) => {
      printFindings(output, findings);
      output.line(`${storedText(output, migrationId, { ...supplied, decision })}`);
      printRefused(output, refused);
      disposal.print(output);
    },
  };
}

function storedText(output: Output, migrationId: string, { decision, ...supplied }: Supplied): string {
  const { stored } = supplied;
  if (decision?.outcome === 'refused')
    return `${output.styled('red', '✗ refused:')} ${migrationId}: ${decision.text}; no credential was stored`;
  if (!isEverythingStored(supplied)) {
    const { obtainedTooEarly, wrongState, unknown } = supplied;
    const total = stored.length + obtainedTooEarly.length + wrongState.length + unknown.length;
    const part = `${outOf(stored.length, total, 'credential')} sealed and stored`;
    return `${output.styled('red', '✗')} ${migrationId}: ${stored.length === 0 ? 'no credential was stored' : part}:`;
  }
  const text = `${migrationId}: ${counted(stored.length, 'credential')} sealed and stored`;
  if (decision?.outcome !== 'recorded') return `${output.styled('green', '✓')} ${text}`;
  return `${output.styled('yellow', '…')} ${text}, but not in use yet: ${decision.text}`;
}
