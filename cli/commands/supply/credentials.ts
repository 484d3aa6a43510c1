import { findPlatform } from '../../../platforms/platforms';
import type { SuppliedCredential, SupplyResult } from '../../../store';
import { readMigration, replaceCredentials, supplyCredentials } from '../../../store';
import { CommandFailed } from '../../shared/command-failed';
import type { LedgerClient } from '../../../client';
import { decide, NoSuchMigration } from '../../../client';
import type { Credentials, Disposal, ShredOption } from '../../manifest';
import { addShred, disposeOf, identifyFile, readCredentials } from '../../manifest';
import type { CommandResult, Output, Terminal } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import { parseTime } from '../../terminal/times';
import { counted } from '../../../domain/text/sentences';
import type { Context } from '../../shared/context';
import { sendAbout } from '../decide/company-decisions';
import { findingsJson, printFindings } from '../../shared/finding-list';
import type { SenderOptions } from '../../shared/sender';
import { addDecider, addSender, senderOf, sentBy } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';

interface CredentialOptions extends SenderOptions, ShredOption {
  readonly obtainedAt?: string;
}

const OBTAINED_AT = [
  '--obtained-at <when>',
  "when the client's application received them, or now (default: column obtainedAt, then the time of the file)",
] as const;

/** `ferry credentials`, `replace-credential`: seals the credentials of a file and stores them; destroys the file, if whose it is says so. */
export function addCredentials({ program, run, terminal }: Context): void {
  addShred(
    addSender(
      program
        .command('credentials <migration> <file>')
        .description('Seal and store credentials (CSV or JSON, by reference), obtained after syncing was disabled')
        .option(...OBTAINED_AT),
    ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() =>
      withLedgerClient(terminal.env, (ferry) => supply(ferry, terminal, { migrationId: migration, file, options })),
    ),
  );

  addShred(
    addDecider(
      program
        .command('replace-credential <migration> <file>')
        .description('Replace the credentials of companies that were not moved, and move them with the new ones')
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
  const sender = senderOf(options);
  const seen = await identifyFile(file);
  const read = await readFile(ferry, migrationId, file, options);
  if (isFaulty(read)) return refusedFile(read);
  const supplied = await supplyCredentials(ferry.db, migrationId, read.credentials, sender.by);
  if (supplied.stored.length > 0) {
    await decide(ferry, migrationId, 'credentialsSupplied', { companies: supplied.stored.length, ...sender });
  }
  const disposal = await disposeOf(seen, isAllStored(supplied), options, terminal);
  return whatBecame(migrationId, read, supplied, disposal, [
    'their companies are being moved, or were: not replaced',
    `if they were not moved: ferry replace-credential ${migrationId} ${file}`,
  ]);
}

/** The new credentials are stored first, and used only once the decision that they are has been applied. */
async function replace(ferry: LedgerClient, terminal: Terminal, request: Request): Promise<CommandResult> {
  const { migrationId, file, options } = request;
  const sent = sentBy(options);
  const seen = await identifyFile(file);
  const read = await readFile(ferry, migrationId, file, options);
  if (isFaulty(read)) return refusedFile(read);
  const supplied = await replaceCredentials(ferry.db, migrationId, read.credentials, sent.by);
  const disposal = await disposeOf(seen, isAllStored(supplied), options, terminal);
  const stored = whatBecame(migrationId, read, supplied, disposal, [
    'their companies have not failed: nothing to replace',
    `while they wait: ferry credentials ${migrationId} ${file}`,
  ]);
  if (supplied.stored.length === 0) return stored;
  const answer = await sendAbout(ferry, migrationId, 'replaceCredential', supplied.stored, sent);
  return {
    failed: stored.failed === true || answer.failed === true,
    json: { ...stored.json, decision: answer.json },
    print: (output) => {
      stored.print(output);
      answer.print(output);
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
  const platform = findPlatform(migration.platformKey);
  if (!platform) throw new CommandFailed(`platform ${migration.platformKey} is unknown`, 'use a newer ferry');
  const read = await readCredentials(file, platform);
  if (obtainedAt === undefined) return read;
  const at = parseTime(obtainedAt).toISOString();
  return { ...read, credentials: obtained(read.credentials, at) };
}

async function* obtained(
  credentials: Credentials['credentials'],
  obtainedAt: string,
): AsyncGenerator<SuppliedCredential> {
  for await (const credential of credentials) yield { ...credential, obtainedAt };
}

function isFaulty({ findings }: Credentials): boolean {
  return findings.errors > 0;
}

function refusedFile({ findings }: Credentials): CommandResult {
  return {
    failed: true,
    json: { schema: 'ferry.credentials/1', stored: [], ...findingsJson(findings) },
    print: (output) => {
      printFindings(output, findings);
      output.line(`${output.styled('red', '✗')} nothing was stored`);
    },
  };
}

function isAllStored({ stored, tooEarly, elsewhere, unknown }: SupplyResult): boolean {
  return stored.length > 0 && tooEarly.length + elsewhere.length + unknown.length === 0;
}

function whatBecame(
  migrationId: string,
  { findings }: Credentials,
  supplied: SupplyResult,
  disposal: Disposal,
  [why, advice]: readonly [string, string],
): CommandResult {
  const { stored, tooEarly, elsewhere, unknown } = supplied;
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
      refusedFor(output, tooEarly, 'obtained before syncing was disabled: may be dead, export it again');
      refusedFor(output, elsewhere, why);
      if (elsewhere.length > 0) output.line(`    ${advice}`);
      refusedFor(output, unknown, 'the manifest has no such company');
      disposal.print(output);
    },
  };
}

const NAMED_AT_MOST = 10;

function refusedFor(output: Output, references: readonly string[], why: string): void {
  if (references.length === 0) return;
  const more = references.length > NAMED_AT_MOST ? ` and ${references.length - NAMED_AT_MOST} more` : '';
  output.line(
    `  ${counted(references.length, 'credential')} refused, ${why}: ${references.slice(0, NAMED_AT_MOST).join(', ')}${more}`,
  );
}
