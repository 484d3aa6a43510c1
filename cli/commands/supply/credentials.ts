import type { SuppliedCredential, SupplyResult } from '../../../store';
import { readMigration, replaceCredentials, supplyCredentials } from '../../../store';
import type { LedgerClient } from '../../../client';
import { decide, NoSuchMigration } from '../../../client';
import type { Credentials } from '../../manifest';
import { readCredentials, identifyFile } from '../../manifest';
import type { CommandResult, Output, Terminal } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { parseTime } from '../../terminal/times';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import type { Disposal, ShredOption } from '../../manifest';
import { addShred, disposeOf } from '../../manifest';
import { findingsJson, printFindings, referenceList } from '../../shared/results';
import type { DecisionOptions } from '../../shared/decisions';
import {
  addDecisionOptions,
  addActorOptions,
  actorFrom,
  contentFrom,
  sendCompanyDecision,
} from '../../shared/decisions';
import { platformOf, withLedgerClient } from '../../shared/clients';

interface CredentialOptions extends DecisionOptions, ShredOption {
  readonly obtainedAt?: string;
}

const OBTAINED_AT = [
  '--obtained-at <when>',
  "time at which the client's application received the credentials, or the word now (default: the obtainedAt column, or the file's modification time)",
] as const;

/**
 * `ferry credentials`, `replace-credential`: reads credentials from a file, seals and stores them, and can then destroy
 * the file.
 */
export function addCredentials({ program, run, terminal }: Context): void {
  addShred(
    addActorOptions(
      program
        .command('credentials <migration> <file>')
        .description(
          'Encrypt and store credentials (CSV or JSON, by reference) that were obtained after syncing was disabled',
        )
        .option(...OBTAINED_AT),
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => supply(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );

  addShred(
    addDecisionOptions(
      program
        .command('replace-credential <migration> <file>')
        .description(
          'Replace the credentials of companies that were not moved or whose outcome is unknown, and move the companies with the new ones',
        )
        .option(...OBTAINED_AT),
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => replace(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );
}

interface Request {
  readonly migrationId: string;
  readonly file: string;
  readonly options: CredentialOptions;
}

async function supply(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const actor = actorFrom(options);
  const original = await identifyFile(file);
  const read = await readFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  const supplied = await supplyCredentials(ferry.db, migrationId, read.credentials, actor.by);
  if (supplied.stored.length > 0) {
    await decide(ferry, migrationId, 'credentialsSupplied', { companies: supplied.stored.length, ...actor });
  }
  const disposal = await disposeOf(original, isAllStored(supplied), options, terminal);
  return suppliedResult(migrationId, read, supplied, disposal, [
    'their companies are no longer waiting to be moved',
    `for companies that were not moved, use: ferry replace-credential ${migrationId} ${file}`,
  ]);
}

/** Stores the new credentials first. They are used only after the decision to replace the old ones has been applied. */
async function replace(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const content = contentFrom(options);
  const original = await identifyFile(file);
  const read = await readFile(ferry, migrationId, file, options);
  if (hasErrors(read)) return invalidFile(read);
  const supplied = await replaceCredentials(ferry.db, migrationId, read.credentials, content.by);
  const disposal = await disposeOf(original, isAllStored(supplied), options, terminal);
  const stored = suppliedResult(migrationId, read, supplied, disposal, [
    'a credential can be replaced only for a company that was not moved or whose outcome is unknown',
    `for companies that are waiting to be moved, use: ferry credentials ${migrationId} ${file}`,
  ]);
  if (supplied.stored.length === 0) return stored;
  const decision = await sendCompanyDecision(ferry, migrationId, 'replaceCredential', supplied.stored, content);
  return {
    failed: stored.failed === true || decision.failed === true,
    json: { ...stored.json, decision: decision.json },
    print: (output) => {
      stored.print(output);
      decision.print(output);
    },
  };
}

async function readFile(
  ferry: LedgerClient,
  migrationId: string,
  file: string,
  { obtainedAt }: CredentialOptions,
): Promise<Credentials> {
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const read = await readCredentials(file, platformOf(migration));
  if (obtainedAt === undefined) return read;
  const at = parseTime(obtainedAt).toISOString();
  return { ...read, credentials: withObtainedAt(read.credentials, at) };
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

function isAllStored({ stored, obtainedTooEarly, wrongState, unknown }: SupplyResult): boolean {
  return stored.length > 0 && obtainedTooEarly.length + wrongState.length + unknown.length === 0;
}

function suppliedResult(
  migrationId: string,
  { findings }: Credentials,
  supplied: SupplyResult,
  disposal: Disposal,
  [wrongStateReason, advice]: readonly [reason: string, advice: string],
): CommandResult {
  const { stored, obtainedTooEarly, wrongState, unknown } = supplied;
  return {
    failed: stored.length === 0 || disposal.failed,
    json: {
      schema: 'ferry.credentials/1',
      migrationId,
      ...supplied,
      shredded: disposal.shredded,
      ...findingsJson(findings),
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      printFindings(output, findings);
      const mark = stored.length === 0 ? output.styled('red', '✗') : output.styled('green', '✓');
      output.line(`${mark} ${migrationId}: ${counted(stored.length, 'credential')} sealed and stored`);
      printRefused(
        output,
        obtainedTooEarly,
        'obtained before the client confirmed that syncing was off; obtain new tokens and export them',
      );
      printRefused(output, wrongState, wrongStateReason);
      if (wrongState.length > 0) output.line(`    ${advice}`);
      printRefused(output, unknown, 'the manifest has no such company');
      disposal.print(output);
    },
  };
}

const MAX_REFERENCES = 10;

function printRefused(output: Output, references: readonly string[], why: string): void {
  if (references.length === 0) return;
  output.line(
    `  ${counted(references.length, 'credential')} refused (${referenceList(references, MAX_REFERENCES)}): ${why}`,
  );
}
