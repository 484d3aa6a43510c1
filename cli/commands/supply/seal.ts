import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Command } from 'commander';
import { NoSuchMigration } from '../../../client';
import { loadConfig } from '../../../config';
import { counted } from '../../../domain/text/sentences';
import { findPlatform } from '../../../platforms/platforms';
import {
  assertSignedBy,
  fingerprintOf,
  formatMigrationKey,
  isMigrationKey,
  parseMigrationKey,
  providerFingerprint,
  type MigrationKey,
} from '../../../security';
import { readMigration, readMigrationKey } from '../../../store';
import {
  addFileOptions,
  disposeOf,
  FindingList,
  identifyFile,
  readCredentials,
  writeSealedApplication,
  writeSealedCredentials,
  type EncodingOption,
  type ShredOption,
} from '../../manifest';
import { environmentFrom } from '../../options/application-options';
import { withLedgerClient } from '../../connections/clients';
import type { Context } from '../../shared/context';
import { CommandFailed } from '../../shared/errors';
import { readTextFile } from '../../shared/unreadable-file';
import { environmentOption } from '../../options/options';
import { shellQuoted } from '../../../domain/text/shell-quoted';
import { findingsJson, printFindings, invalidFileResult } from '../../shared/results';
import { readSecretFile } from '../../options/secret-file';
import { obtainedAtOption, timesFrom } from '../../credentials/obtained-at';
import type { Terminal } from '../../terminal/terminal';
import type { CommandResult } from '../../terminal/output';

export interface SealFileOptions extends ShredOption, EncodingOption {
  readonly output?: string;
  readonly obtainedAt?: Date;
  readonly clientId?: string;
  readonly environment?: 'production' | 'sandbox';
}

/** Says how a sealed file reaches the migration. `file` is the path of the sealed file. */
export type HowToSupply = (content: 'credentials' | 'application', file: string) => string;

interface SealOptions extends SealFileOptions, ProviderOption {
  readonly for: string;
}

export interface ProviderOption {
  /** The fingerprint that the provider publishes. */
  readonly provider?: string;
}

/**
 * `ferry seal`, `ferry migration-key`: a client seals its credentials, or the client secret of its application, on its
 * own machine, so that only a worker can open them.
 */
export function addSeal({ program, run, terminal }: Context): void {
  const command = program
    .command('seal <file>')
    .description(
      "Encrypt a credential file, or a file with an application's client secret, so that only the provider's workers can open it; works offline",
    )
    .requiredOption('--for <key>', 'the migration key that support sent, or a file that contains it');
  addSealOptions(addProviderOption(command)).action((file: string, options: SealOptions) =>
    run(() => seal(terminal, file, options)),
  );

  program
    .command('migration-key <migration>')
    .description('Print the key with which the client seals its credentials')
    .action((migration: string) =>
      run(() =>
        withLedgerClient(terminal.env, async ({ db, providerFingerprint }) => {
          if (!(await readMigration(db, migration))) throw new NoSuchMigration(migration);
          return migrationKeyResult(await readMigrationKey(db, migration, providerFingerprint));
        }),
      ),
    );
}

/** @param source where the fingerprint comes from without the option */
export function addProviderOption(command: Command, source = 'TOKENFERRY_PROVIDER_FINGERPRINT'): Command {
  return command.option(
    '--provider <fingerprint>',
    `the fingerprint that the provider publishes (default: ${source}). Without a fingerprint, the command shows you one to compare`,
  );
}

export function addSealOptions(command: Command): Command {
  return addFileOptions(
    command
      .option('--output <file>', 'path of the sealed file (default: the name of <file> with .sealed added)')
      .addOption(obtainedAtOption())
      .option('--client-id <id>', 'the file contains only the client secret of the application with this client id')
      .addOption(environmentOption('with --client-id: platform environment of the application')),
    'overwrite and remove <file> once its content has been sealed',
  );
}

function migrationKeyResult(key: MigrationKey): CommandResult {
  const text = formatMigrationKey(key);
  const fingerprint = fingerprintOf(key.publicKey);
  const signedBy = providerFingerprint(key.signedBy);
  return {
    json: { schema: 'ferry.migration-key/1', migrationId: key.migrationId, key: text, fingerprint, signedBy },
    printQuietly: (output) => output.verbatim(text),
    print: (output) => {
      output.line(`The migration key of ${key.migrationId} (fingerprint ${fingerprint}):`);
      output.line();
      output.verbatim(text);
      output.line();
      output.line('The key is not secret. Send it to the client, who saves it in the file migration.key and runs:');
      output.line('  ferry seal credentials.csv --for migration.key');
      output.line('Without --provider, the command asks the client whether you publish this fingerprint:');
      output.line(`  ${signedBy}`);
      output.line('Publish it, for example on your website. Do not send it together with the migration key.');
    },
  };
}

async function seal(terminal: Terminal, file: string, options: SealOptions): Promise<CommandResult> {
  assertSealOptions(options);
  const key = readKey(options.for);
  await assertTrusted(key, terminal, options);
  return sealFile(terminal, key, file, options);
}

/**
 * Asserts that `--client-id` and `--environment` are specified together. Commands call this first, because nobody
 * should compare a fingerprint for a command that is then refused.
 *
 * @throws CommandFailed
 */
export function assertSealOptions({ clientId, environment }: SealFileOptions): void {
  if (clientId !== undefined) environmentFrom(environment, 'sealed');
  else if (environment !== undefined)
    throw new CommandFailed(
      '--environment needs --client-id',
      'nothing was sealed; if the file contains a client secret, add --client-id with the client id of its application; if it contains credentials, leave out --environment',
    );
}

/** Seals a credential file, or a file with a client secret. The options must have been checked. */
export async function sealFile(
  terminal: Terminal,
  key: MigrationKey,
  file: string,
  options: SealFileOptions,
  howToSupply: HowToSupply = throughSupport(key),
): Promise<CommandResult> {
  const output = options.output ?? `${file}.sealed`;
  if (existsSync(output)) throw new CommandFailed(`${output} already exists`, 'choose another file with --output');
  const files = { file, output, howToSupply };
  return options.clientId === undefined
    ? sealCredentials(terminal, key, files, options)
    : sealSecret(terminal, key, files, { ...options, clientId: options.clientId });
}

/** Names the command that support runs. It contains no folder, because support receives the file in another folder. */
function throughSupport({ migrationId }: MigrationKey): HowToSupply {
  return (content, file) => {
    const name = shellQuoted(path.basename(file));
    return content === 'credentials'
      ? `Send this file to support, who stores it with: ferry credentials ${migrationId} ${name}`
      : `Send this file to support, who supplies it with: ferry application ${migrationId} --sealed ${name}`;
  };
}

interface Files {
  readonly file: string;
  readonly output: string;
  readonly howToSupply: HowToSupply;
}

function readKey(keyOrFile: string): MigrationKey {
  if (isMigrationKey(keyOrFile)) return parseMigrationKey(keyOrFile);
  const text = readTextFile(keyOrFile, 'specify the migration key, or a file that contains it');
  // Without --quiet, `ferry migration-key` prints the key between explanations.
  const found = isMigrationKey(text) ? text : text.split(/\n\s*\n/).find(isMigrationKey);
  if (found !== undefined) return parseMigrationKey(found);
  throw new CommandFailed(
    `${keyOrFile}, which was specified with --for, does not contain a migration key`,
    'specify the migration key that support sent, or a file that contains it',
  );
}

/**
 * Asserts that the client's provider has signed the key. If no fingerprint is configured, asks whether the signer's
 * fingerprint is the provider's.
 */
export async function assertTrusted(
  key: MigrationKey,
  { prompts, env }: Pick<Terminal, 'prompts' | 'env'>,
  options: ProviderOption,
): Promise<void> {
  const expected = options.provider ?? providerOf(env);
  if (expected !== undefined) return assertSignedBy(key, expected);
  const signer = providerFingerprint(key.signedBy);
  assertSignedBy(key, signer);
  if (!prompts)
    throw new CommandFailed(
      'ferry cannot check that the migration key comes from your provider',
      'add --provider with the fingerprint that your provider publishes',
    );
  const question = `The migration key was signed by ${signer}. Is this the fingerprint that your provider publishes?`;
  if (!(await prompts.confirm(question)))
    throw new CommandFailed(
      'nothing was sealed',
      'ask your provider for its fingerprint, by phone for example; if the fingerprints differ, do not use this migration key',
    );
}

/**
 * Returns the fingerprint in the environment variable. Ignores a running stack, because a stack that the client runs to
 * try the product has a different provider key.
 */
export function providerOf(env: NodeJS.ProcessEnv): string | undefined {
  const fingerprint = env['TOKENFERRY_PROVIDER_FINGERPRINT'];
  if (!fingerprint) return undefined;
  return loadConfig([], { TOKENFERRY_PROVIDER_FINGERPRINT: fingerprint }, ['providerFingerprint']).providerFingerprint;
}

async function sealCredentials(
  terminal: Terminal,
  key: MigrationKey,
  { file, output, howToSupply }: Files,
  options: SealFileOptions,
): Promise<CommandResult> {
  const platform = findPlatform(key.platformKey);
  if (!platform)
    throw new CommandFailed(
      `the migration key is for the platform ${key.platformKey}, which this version of ferry does not support`,
      'update ferry',
    );
  const original = await identifyFile(file);
  const {
    findings,
    count: companies,
    credentials,
  } = await readCredentials(file, platform, timesFrom(options), options.encoding);
  const schema = { schema: 'ferry.seal/1' as const, migrationId: key.migrationId, ...findingsJson(findings) };
  if (findings.errors > 0)
    return invalidFileResult({ ...schema, file: null, companies: 0 }, findings, 'add --json', 'nothing was sealed');
  await writeSealedCredentials(output, key, companies, credentials);
  const disposal = await disposeOf(original, true, options, terminal, 'sealed');
  return {
    json: { ...schema, file: output, companies, shredded: disposal.shredded },
    failed: disposal.failed,
    printQuietly: (out) => out.line(output),
    print: (out) => {
      printFindings(out, findings, null);
      out.line(`${out.styled('green', '✓')} ${counted(companies, 'credential')} sealed in ${output}`);
      out.line(`  Fingerprint of the migration key: ${fingerprintOf(key.publicKey)}`);
      out.line(`  ${howToSupply('credentials', output)}`);
      disposal.print(out);
    },
  };
}

async function sealSecret(
  terminal: Terminal,
  key: MigrationKey,
  { file, output, howToSupply }: Files,
  options: SealFileOptions & { readonly clientId: string },
): Promise<CommandResult> {
  const { clientId } = options;
  const environment = environmentFrom(options.environment, 'sealed');
  const original = await identifyFile(file);
  await writeSealedApplication(output, key, { clientId, environment, clientSecret: readSecretFile(file) });
  const disposal = await disposeOf(original, true, options, terminal, 'sealed', 'the client secret');
  return {
    json: {
      ...{ schema: 'ferry.seal/1', migrationId: key.migrationId, file: output, shredded: disposal.shredded },
      ...findingsJson(new FindingList()),
    },
    failed: disposal.failed,
    printQuietly: (out) => out.line(output),
    print: (out) => {
      out.line(`${out.styled('green', '✓')} Client secret of ${clientId} sealed in ${output}`);
      out.line(`  ${howToSupply('application', output)}`);
      disposal.print(out);
    },
  };
}
