import { InvalidArgumentError } from 'commander';
import { loadConfig } from '../../../config';
import { errorCode } from '../../../stack/ports';
import { NewerSchema } from '../../../stack/service/keys';
import { startStandaloneService, type StandaloneService } from '../../../stack/service/standalone';
import { CommandFailed } from '../../shared/errors';
import { waitForAbort } from '../../connections/waiting';
import { portOption } from '../../options/options';
import { USE_VERSION_OF_SCHEMA } from '../../suggestions/stack-advice';
import type { Terminal } from '../../terminal/terminal';
import type { Output } from '../../terminal/output';
import type { Context } from '../../shared/context';
import { addServiceKeys } from './service-keys';

interface StartOptions {
  readonly port?: number;
  readonly temporary?: true;
  readonly faults?: true;
  readonly requestsPerMinute?: number;
}

export function addService(context: Context): void {
  const service = context.program
    .command('service')
    .description('Run the Company Data Service on its own, and manage its API keys');
  service
    .command('start')
    .description('Run the service until Ctrl-C, with an embedded Postgres unless DATABASE_URL is set')
    .addOption(portOption('--port <number>', 'port to listen on (default: 8700, or the next free port)'))
    .option(
      '--temporary',
      'use an empty embedded database, and remove it when the service stops; if DATABASE_URL is set, the service uses that database instead, and keeps its data',
    )
    .option(
      '--faults',
      'let an administrator inject faults, to test programs that call the service (see docs/sandbox.md)',
    )
    .option(
      '--requests-per-minute <number>',
      'maximum number of requests per minute with each API key (default: 1000)',
      requestsPerMinute,
    )
    .action((options: StartOptions) => start(context, options));
  addServiceKeys(context, service);
}

async function start({ output, terminal }: Context, options: StartOptions): Promise<void> {
  const interrupted = terminal.interruption();
  const service = await startService(output, terminal, options);
  try {
    if (output.json)
      terminal.stdout.write(`${JSON.stringify({ schema: 'ferry.service/1', url: service.url, ...service.keys })}\n`);
    else printStarted(output, service, !options.temporary || Boolean(terminal.env['DATABASE_URL']));
    await waitForAbort(interrupted);
  } finally {
    await service.stop();
  }
}

async function startService(output: Output, { env }: Terminal, options: StartOptions): Promise<StandaloneService> {
  const { home, logLevel, serviceKeys } = loadConfig([], env, ['serviceKeys']);
  try {
    return await startStandaloneService({
      home,
      temporary: options.temporary ?? false,
      faults: options.faults ?? false,
      databaseUrl: env['DATABASE_URL'] || undefined,
      port: options.port,
      requestsPerMinute: options.requestsPerMinute,
      keys: serviceKeys,
      logLevel,
      log: (line) => output.note(line),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the service did not start';
    throw new CommandFailed(message, adviceFor(error), { cause: error });
  }
}

function adviceFor(error: unknown): string {
  if (error instanceof NewerSchema) return USE_VERSION_OF_SCHEMA;
  return errorCode(error) === 'EADDRINUSE'
    ? 'another program uses this port; choose another --port'
    : 'check --port, the database, and the service key (TOKENFERRY_SERVICE_KEY or TOKENFERRY_SERVICE_KEY_FILE)';
}

/** @param hasPermanentDatabase false if `ferry service keys` cannot find the database */
function printStarted(output: Output, { url, keys }: StandaloneService, hasPermanentDatabase: boolean): void {
  output.note(
    `${output.styled('green', '✓')} The Company Data Service is listening at ${url}. API documentation: ${url}/docs`,
  );
  if (keys) {
    output.table(
      ['Role', 'API key (shown only once)'],
      [
        ['administrator', keys.administratorKey],
        ['client', keys.clientKey],
      ],
    );
  }
  output.note('Stop the service with Ctrl-C.');
  if (hasPermanentDatabase)
    output.note(
      'To create an API key, for example for an account named Acme, run: ferry service keys create --account Acme --role administrator',
    );
}

function requestsPerMinute(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1) throw new InvalidArgumentError('Expected a whole number of at least 1.');
  return number;
}
