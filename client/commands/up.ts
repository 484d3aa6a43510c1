import path from 'node:path';
import { pino } from 'pino';
import { loadConfig } from '../../config';
import type { Stack } from '../../dev/stack';
import { startStack } from '../../dev/stack';
import { startWorker } from '../../worker';
import { CommandFailed } from '../command-failed';
import type { Screen, Terminal } from '../screen';
import type { Context } from './context';

/** `ferry up`: the embedded stack, in the foreground until Ctrl-C. */
export function addUp({ program, run, screen, terminal }: Context): void {
  program
    .command('up')
    .description('Start everything on this machine (Temporal, Postgres, the service, a worker) and stay')
    .action(() =>
      run(async () => {
        await up(screen, terminal);
        return { json: { schema: 'ferry.up/1', stopped: true }, print: (shown) => shown.line('Stopped.') };
      }),
    );
}

async function up(screen: Screen, terminal: Terminal): Promise<void> {
  const interrupted = terminal.interruption();
  const { home, logLevel } = loadConfig([], terminal.env);
  const logFile = path.join(home, 'logs', 'worker.log');
  const stack = await startStack({
    dataFolder: home,
    ephemeral: false,
    env: terminal.env,
    logLevel,
    databaseUrl: terminal.env['DATABASE_URL'],
    signal: interrupted,
    log: (line) => screen.json || screen.line(line),
    startWorker: (config) =>
      startWorker(config, pino({ level: logLevel }, pino.destination({ dest: logFile, mkdir: true }))),
  }).catch((error: unknown) => {
    const message = error instanceof Error ? error.message : 'the stack did not start';
    throw new CommandFailed(message, `see the logs in ${path.dirname(logFile)}`, { cause: error });
  });
  announce(screen, stack, home);
  await new Promise<void>((resolve) => {
    if (interrupted.aborted) resolve();
    else interrupted.addEventListener('abort', () => resolve(), { once: true });
  });
  if (!screen.json) screen.line('Stopping...');
  await stack.stop();
}

function announce(screen: Screen, stack: Stack, home: string): void {
  const { temporalUiUrl, serviceDocsUrl, config } = stack;
  if (screen.json) return;
  screen.line(`${screen.styled('green', '✓')} Everything runs. Data: ${home}`);
  screen.table(
    [{ title: 'What' }, { title: 'Where' }],
    [
      ['Temporal UI', temporalUiUrl ?? 'as configured'],
      ['Temporal', config.temporal.address],
      ['Company Data Service', config.service.url],
      ['its documentation', serviceDocsUrl],
    ],
  );
  screen.line('In another terminal: ferry start MANIFEST --platform NAME --client KEY. Stop with Ctrl-C.');
}
