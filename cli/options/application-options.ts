import { CommandFailed } from '../shared/errors';

export interface ApplicationOptions {
  readonly clientId?: string;
  readonly environment?: 'production' | 'sandbox';
  readonly secretFile?: string;
  readonly sealed?: string;
}

/**
 * Asserts that `--sealed` is not combined with the options that it replaces.
 *
 * @throws CommandFailed
 */
export function assertOnlySealed({ sealed, clientId, environment, secretFile }: ApplicationOptions): void {
  if (sealed === undefined || (clientId ?? environment ?? secretFile) === undefined) return;
  throw new CommandFailed(
    `${sealed} contains the client id, the environment and the secret`,
    'nothing was sent; leave out --client-id, --environment and --secret-file',
  );
}

/**
 * Returns the application that `--client-id` and `--environment` specify.
 *
 * @param sealedFile says which file `--sealed` takes instead
 * @throws CommandFailed if either option is missing
 */
export function applicationFrom({ clientId, environment }: ApplicationOptions, sealedFile: string) {
  if (clientId !== undefined) return { clientId, environment: environmentFrom(environment, 'sent') };
  if (environment !== undefined)
    throw new CommandFailed(
      '--environment needs --client-id',
      'nothing was sent; add --client-id with the client id of the application at the platform',
    );
  throw new CommandFailed(
    'the application is not specified',
    `add --client-id and --environment, or --sealed with ${sealedFile}`,
  );
}

/**
 * Returns the environment that `--client-id` needs.
 *
 * @param notDone says what the command has not done with the application
 * @throws CommandFailed if the option is missing
 */
export function environmentFrom(environment: ApplicationOptions['environment'], notDone: 'sent' | 'sealed') {
  if (environment !== undefined) return environment;
  throw new CommandFailed(
    '--client-id needs --environment',
    `nothing was ${notDone}; add --environment production or --environment sandbox`,
  );
}
