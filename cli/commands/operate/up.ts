import path from 'node:path';
import { loadConfig } from '../../../config';
import { startStackWithWorker, workerLog, type Stack } from '../../../stack/stack';
import { CommandFailed } from '../../shared/errors';
import { waitForAbort } from '../../shared/waiting';
import type { CommandResult, Output, Terminal } from '../../terminal';
import { PRINT_NOTHING } from '../../terminal';
import type { Context } from '../../shared/context';

/** `ferry up`: runs the embedded stack in the foreground until Ctrl-C. */
export function addUp({ program, run, output, terminal }: Context): void {
  program
    .command('up')
    .description('Run everything on this machine until Ctrl-C: Temporal, Postgres, the service and a worker')
    .action(async () => {
      const interrupted = terminal.interruption();
      let stack: Stack | undefined;
      await run(async () => {
        stack = await start(output, terminal, interrupted);
        return upResult(stack);
      });
      await waitForAbort(interrupted);
      output.note('Stopping...');
      await stack?.stop();
      output.note('Stopped.');
    });
}

async function start(output: Output, { env }: Terminal, interrupted: AbortSignal): Promise<Stack> {
  const { home, logLevel } = loadConfig([], env);
  try {
    return await startStackWithWorker({
      dataFolder: home,
      ephemeral: false,
      env,
      databaseUrl: env['DATABASE_URL'] || undefined,
      logLevel,
      signal: interrupted,
      log: (line) => output.note(line),
    });
  } catch (error) {
    if (interrupted.aborted) throw new CommandFailed('interrupted', 'nothing was left running', { cause: error });
    const message = error instanceof Error ? error.message : 'the stack did not start';
    throw new CommandFailed(message, `see the logs in ${path.dirname(workerLog(home))}`, { cause: error });
  }
}

function upResult({ config, temporalUiUrl, codecUrl, serviceDocsUrl }: Stack): CommandResult {
  return {
    json: {
      schema: 'ferry.up/1',
      home: config.home,
      temporalUiUrl: temporalUiUrl ?? null,
      temporalAddress: config.temporal.address,
      codecUrl: codecUrl ?? null,
      serviceUrl: config.service.url,
      serviceDocsUrl,
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      output.line(`${output.styled('green', '✓')} Everything is running. Data: ${config.home}`);
      output.table(
        [{ title: 'Part' }, { title: 'Address' }],
        [
          ['Temporal UI', temporalUiUrl ?? 'not started here; see your configuration'],
          ['Temporal', config.temporal.address],
          ['Codec server', codecUrl ?? 'not started here; see your configuration'],
          ['Company Data Service', config.service.url],
          ['API documentation', serviceDocsUrl],
        ],
      );
      output.line(
        'Stop everything with Ctrl-C. In another terminal, start a migration with: ferry start MANIFEST --platform NAME --client SHORT-NAME',
      );
    },
  };
}
