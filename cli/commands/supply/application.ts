import { readFileSync } from 'node:fs';
import { Option } from 'commander';
import type { CompanyDataClient } from '../../../company-data-client';
import { Secret } from '../../../security';
import { CommandFailed } from '../../shared/command-failed';
import type { LedgerClient } from '../../../client';
import { detailsChecked } from '../../../client';
import type { CommandResult, Terminal } from '../../terminal';
import type { Context } from '../../shared/context';
import { printPreflight } from '../../shared/finding-list';
import { openMigrationOf } from '../../shared/open-migration';
import { send } from '../../shared/send';
import type { SenderOptions } from '../../shared/sender';
import { addSender, senderOf } from '../../shared/sender';
import { withLedgerClient } from '../../shared/with-ferry';
import { withService } from '../../shared/with-service';

interface ApplicationOptions extends SenderOptions {
  readonly clientId: string;
  readonly environment: 'production' | 'sandbox';
  readonly secretFile?: string;
}

/**
 * `ferry application`: gives the client's own application to the service. Its secret goes there directly, and nowhere
 * else: the migration learns which application it is.
 */
export function addApplication({ program, run, terminal }: Context): void {
  addSender(
    program
      .command('application <migration>')
      .description("Supply the client's application at the platform: its tokens are good for that one alone")
      .requiredOption('--client-id <id>', "the application's id at the platform")
      .addOption(
        new Option('--environment <name>', 'which of the platform’s environments it is registered in')
          .choices(['production', 'sandbox'])
          .makeOptionMandatory(),
      )
      .option('--secret-file <path>', 'a file that holds its secret and nothing else (default: it is asked for)'),
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
  const sender = senderOf(options);
  const { platform } = await openMigrationOf(ferry, migrationId, () => 'a new migration takes it again');
  if (platform.environment !== undefined && platform.environment !== environment) {
    throw new CommandFailed(
      `${platform.name} is of the ${platform.environment} environment, not of ${environment}`,
      'nothing was sent; name the application that the tokens were issued to',
    );
  }
  const clientSecret = await readSecret(terminal, options);
  await withService(terminal.env, (service: CompanyDataClient) =>
    service.putApplicationCredentials(platform.key, { clientId, clientSecret, environment }),
  );
  const answer = await send(ferry, migrationId, 'applicationSupplied', { clientId, environment, ...sender });
  const preflight = answer.failed ? null : await detailsChecked(ferry, migrationId);
  const { secretFile } = options;
  return {
    ...answer,
    json: { ...answer.json, preflight },
    print: (output) => {
      answer.print(output);
      if (preflight) printPreflight(output, preflight);
      if (secretFile !== undefined) output.line(`  ${secretFile} still holds the secret readable: destroy it`);
    },
  };
}

/** Never from the command line itself: it would be seen in the list of processes and kept in the shell's history. */
async function readSecret({ prompts }: Terminal, { secretFile }: ApplicationOptions): Promise<Secret> {
  if (secretFile === undefined && !prompts) {
    throw new CommandFailed('nobody is there to ask for the secret', 'put it into a file and name it by --secret-file');
  }
  const text = secretFile === undefined ? await prompts?.secret('Client secret') : readSecretFile(secretFile);
  const secret = text?.trim() ?? '';
  if (secret === '') throw new CommandFailed('there is no secret', 'nothing was sent');
  return new Secret(secret);
}

function readSecretFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new CommandFailed(`${file} cannot be read`, 'name a file that holds the secret and nothing else', {
      cause: error,
    });
  }
}
