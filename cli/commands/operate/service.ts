import { InvalidArgumentError, Option } from 'commander';
import { loadConfig } from '../../../config';
import { startStandaloneService, type StandaloneService } from '../../../stack/service/standalone';
import { CommandFailed } from '../../shared/command-failed';
import { untilAborted } from '../../shared/pause';
import type { Output, Terminal } from '../../terminal';
import type { Context } from '../../shared/context';
import { addServiceKeys } from './service-keys';

interface StartOptions {
  readonly port?: number;
  readonly temporary?: true;
  readonly faults?: true;
}

/** `ferry service`: the Company Data Service alone, and its keys. */
export function addService(context: Context): void {
  const service = context.program
    .command('service')
    .description('Run the Company Data Service alone, and manage its keys');
  service
    .command('start')
    .description('Start the service and stay; Postgres is embedded unless DATABASE_URL is set')
    .addOption(
      new Option('--port <number>', 'where to listen (default: 8700, or the next that is free)').argParser(port),
    )
    .option('--temporary', 'begin with an empty embedded database, and remove it at the end')
    .option('--faults', 'for tests of clients: an administrator can order faults of the service, see docs/sandbox.md')
    .action((options: StartOptions) => start(context, options));
  addServiceKeys(context, service);
}

async function start({ output, terminal }: Context, options: StartOptions): Promise<void> {
  const interrupted = terminal.interruption();
  const service = await started(output, terminal, options);
  try {
    if (output.json)
      terminal.stdout.write(`${JSON.stringify({ schema: 'ferry.service/1', url: service.url, ...service.keys })}\n`);
    else printStarted(output, service);
    await untilAborted(interrupted);
  } finally {
    await service.stop();
  }
}

async function started(output: Output, { env }: Terminal, options: StartOptions): Promise<StandaloneService> {
  const { home, logLevel } = loadConfig([], env);
  try {
    return await startStandaloneService({
      home,
      temporary: options.temporary ?? false,
      faults: options.faults ?? false,
      databaseUrl: env['DATABASE_URL'] || undefined,
      port: options.port,
      logLevel,
      log: (line) => output.note(line),
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : 'the service did not start';
    throw new CommandFailed(message, 'choose another --port, or look at the database', { cause: error });
  }
}

function printStarted(output: Output, { url, keys }: StandaloneService): void {
  output.note(
    `${output.styled('green', '✓')} The Company Data Service listens at ${url}; its documentation: ${url}/docs`,
  );
  if (keys) {
    output.table(
      [{ title: 'Key of' }, { title: 'Shown this once' }],
      [
        ['an administrator', keys.administratorKey],
        ['a client', keys.clientKey],
      ],
    );
  }
  output.note('More keys: ferry service keys create. Stop with Ctrl-C.');
}

function port(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number > 65_535) throw new InvalidArgumentError('A port is a number up to 65535.');
  return number;
}
