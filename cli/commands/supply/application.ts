import { readFileSync } from 'node:fs';
import type { CompanyDataClient } from '../../../company-data-client';
import { Secret } from '../../../security';
import { applicationName, findOtherApplication } from '../../../domain/preflight/applications';
import type { ApplicationFacts } from '../../../domain/preflight/applications';
import type { StoredMigration } from '../../../store';
import { readApplications } from '../../../store';
import { CommandFailed } from '../../shared/errors';
import type { LedgerClient } from '../../../client';
import { waitForPreflight } from '../../../client';
import type { CommandResult, Terminal } from '../../terminal';
import type { Context } from '../../shared/context';
import { choiceOption } from '../../shared/options';
import { printPreflight } from '../../shared/results';
import { readOpenMigration, withLedgerClient, withService } from '../../shared/clients';
import { sendDecision, addActorOptions, actorFrom } from '../../shared/decisions';
import type { ActorOptions } from '../../shared/decisions';

interface ApplicationOptions extends ActorOptions {
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
  readonly secretFile?: string;
}

/**
 * `ferry application`: registers the client's own application with the service, once the migration has accepted the
 * decision. The secret is sent only to the service; the migration receives the client id and the environment.
 */
export function addApplication({ program, run, terminal }: Context): void {
  addActorOptions(
    program
      .command('application <migration>')
      .description("Register the client's own application: tokens work only with the application that obtained them")
      .requiredOption('--client-id <id>', 'client id of the application at the platform')
      .addOption(
        choiceOption('--environment <name>', 'platform environment that the application is registered in', [
          'production',
          'sandbox',
        ]).makeOptionMandatory(),
      )
      .option('--secret-file <path>', 'a file that contains only the client secret (default: ask for it)'),
  ).action((migration: string, options: ApplicationOptions) =>
    run(() => withLedgerClient(terminal.env, (ferry) => supply(terminal, ferry, migration, options))),
  );
}

async function supply(
  terminal: Terminal,
  ferry: LedgerClient,
  migrationId: string,
  options: ApplicationOptions,
): Promise<CommandResult> {
  const { clientId, environment } = options;
  const actor = actorFrom(options);
  const { migration, platform } = await readOpenMigration(
    ferry,
    migrationId,
    () => 'supply the application to a new migration',
  );
  if (platform.environment !== undefined && platform.environment !== environment) {
    throw new CommandFailed(
      `${platform.name} uses the ${platform.environment} environment, not ${environment}`,
      'nothing was sent; specify the application that obtained the tokens',
    );
  }
  await assertNotReplacing({ clientId, environment }, ferry, migration, platform.name);
  const clientSecret = await readSecret(terminal, options);
  const result = await withService(terminal.env, async (service: CompanyDataClient) => {
    // A wrong API key or URL fails here, before a decision is sent.
    await service.integration(platform.key);
    const decision = await sendDecision(ferry, migrationId, 'applicationSupplied', { clientId, environment, ...actor });
    // The service gets the application only once the decision has been accepted.
    if (decision.json['outcome'] === 'applied')
      await service.putApplicationCredentials(platform.key, { clientId, clientSecret, environment });
    return decision;
  });
  const isRegistered = result.json['outcome'] === 'applied';
  const preflight = isRegistered ? await waitForPreflight(ferry, migrationId) : null;
  const { secretFile } = options;
  return {
    ...result,
    failed: !isRegistered,
    json: { ...result.json, preflight },
    print: (output) => {
      result.print(output);
      if (!isRegistered)
        output.line(
          `  Nothing was registered with the service${result.failed ? '' : '; start a worker and run the command again'}`,
        );
      if (preflight) printPreflight(output, preflight);
      if (secretFile !== undefined)
        output.line(`  ${secretFile} still contains the secret in plain text. Delete it and all copies.`);
    },
  };
}

/**
 * Refuses an application that would replace the one that another open migration uses, because the tokens of that
 * migration work only with its own application.
 */
async function assertNotReplacing(
  application: ApplicationFacts,
  { db }: LedgerClient,
  migration: StoredMigration,
  platformName: string,
): Promise<void> {
  const other = findOtherApplication(application, (await readApplications(db, migration)).others);
  if (!other) return;
  throw new CommandFailed(
    `${other.migrationId} uses the application ${applicationName(other.application)}, and an account has only one ` +
      `${platformName} application, so ${applicationName(application)} for ${migration.id} would replace it`,
    `nothing was sent; wait until ${other.migrationId} has ended, or give each client its own account (docs/deploying.md)`,
  );
}

/**
 * Reads the secret from a file or a prompt. It is never an argument, because arguments are visible in the process list
 * and kept in the shell's history.
 */
async function readSecret({ prompts }: Terminal, { secretFile }: ApplicationOptions): Promise<Secret> {
  if (secretFile === undefined && !prompts) {
    throw new CommandFailed(
      'cannot ask for the secret, because this is not a terminal',
      'put it in a file and pass --secret-file',
    );
  }
  const text = secretFile === undefined ? await prompts?.secret('Client secret') : readSecretFile(secretFile);
  const secret = text?.trim() ?? '';
  if (secret === '')
    throw new CommandFailed('the secret is empty', 'nothing was sent; run the command again with the secret');
  return new Secret(secret);
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read`, 'specify a file that contains only the secret', {
      cause: error,
    });
  }
}
