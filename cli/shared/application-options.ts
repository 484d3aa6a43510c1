import { CommandFailed } from './errors';

export interface ApplicationOptions {
  readonly clientId?: string;
  readonly environment?: 'production' | 'sandbox';
  readonly secretFile?: string;
  readonly sealed?: string;
}

/**
 * Returns the application that `--client-id` and `--environment` specify.
 *
 * @param sealedFile says which file `--sealed` takes instead
 * @throws CommandFailed if either option is missing
 */
export function applicationFrom({ clientId, environment }: ApplicationOptions, sealedFile: string) {
  if (clientId !== undefined && environment !== undefined) return { clientId, environment };
  if (clientId !== undefined)
    throw new CommandFailed(
      '--client-id needs --environment',
      'nothing was sent; add --environment production or --environment sandbox',
    );
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
