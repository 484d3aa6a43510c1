import { findPlatform } from '../../domain/platforms';
import type { Supplied } from '../../store';
import { readMigration, supplyCredentials } from '../../store';
import { CommandFailed } from '../command-failed';
import type { Ferry } from '../ferry';
import { decide, NoSuchMigration } from '../ferry';
import type { Credentials } from '../manifest';
import { readCredentials } from '../manifest';
import type { CommandResult, Screen } from '../screen';
import { readTime } from '../screen/times';
import { counted } from '../words';
import type { Context } from './context';
import { printFindings } from './finding-list';
import type { SenderOptions } from './sender';
import { addSender, senderOf } from './sender';
import { withFerry } from './with-ferry';

interface CredentialOptions extends SenderOptions {
  readonly obtainedAt?: string;
}

/** `ferry credentials`: seals the credentials of a file and stores them; the file is the client's to destroy. */
export function addCredentials({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('credentials <migration> <file>')
      .description('Seal and store credentials (CSV or JSON, by reference), obtained after syncing was disabled')
      .option(
        '--obtained-at <when>',
        "when the client's application received them, or now (default: column obtainedAt, then the time of the file)",
      ),
  ).action((migration: string, file: string, options: CredentialOptions) =>
    run(() => withFerry(terminal.env, (ferry) => supply(ferry, migration, file, options))),
  );
}

async function supply(
  ferry: Ferry,
  migrationId: string,
  file: string,
  options: CredentialOptions,
): Promise<CommandResult> {
  const sender = senderOf(options);
  const migration = await readMigration(ferry.db, migrationId);
  if (!migration) throw new NoSuchMigration(migrationId);
  const platform = findPlatform(migration.platformKey);
  if (!platform) throw new CommandFailed(`platform ${migration.platformKey} is unknown`, 'use a newer ferry');
  const read = await readCredentials(file, platform);
  if (read.findings.some(({ severity }) => severity === 'error')) return refusedFile(read);
  const obtainedAt = options.obtainedAt === undefined ? undefined : readTime(options.obtainedAt).toISOString();
  const credentials = read.credentials.map((credential) => (obtainedAt ? { ...credential, obtainedAt } : credential));
  const supplied = await supplyCredentials(ferry.db, migrationId, credentials, sender.by);
  if (supplied.stored > 0) {
    await decide(ferry, migrationId, 'credentialsSupplied', { companies: supplied.stored, ...sender });
  }
  return whatBecame(migrationId, file, read, supplied);
}

function refusedFile({ findings }: Credentials): CommandResult {
  return {
    failed: true,
    json: { schema: 'ferry.credentials/1', stored: 0, findings },
    print: (screen) => {
      printFindings(screen, findings);
      screen.line(`${screen.styled('red', '✗')} nothing was stored`);
    },
  };
}

function whatBecame(migrationId: string, file: string, { findings }: Credentials, supplied: Supplied): CommandResult {
  return {
    failed: supplied.stored === 0,
    json: { schema: 'ferry.credentials/1', migrationId, ...supplied, findings },
    print: (screen) => {
      printFindings(screen, findings);
      const mark = supplied.stored === 0 ? screen.styled('red', '✗') : screen.styled('green', '✓');
      screen.line(`${mark} ${migrationId}: ${counted(supplied.stored, 'credential')} sealed and stored`);
      refusedFor(screen, supplied.tooEarly, 'obtained before syncing was disabled: may be dead, export it again');
      refusedFor(screen, supplied.crossed, 'in use or used already: not replaced');
      refusedFor(screen, supplied.unknown, 'the manifest has no such company');
      screen.line(`  ${file} still holds them readable: destroy it when the migration is done`);
    },
  };
}

const NAMED_AT_MOST = 10;

function refusedFor(screen: Screen, references: readonly string[], why: string): void {
  if (references.length === 0) return;
  const more = references.length > NAMED_AT_MOST ? ` and ${references.length - NAMED_AT_MOST} more` : '';
  screen.line(
    `  ${counted(references.length, 'credential')} refused, ${why}: ${references.slice(0, NAMED_AT_MOST).join(', ')}${more}`,
  );
}
