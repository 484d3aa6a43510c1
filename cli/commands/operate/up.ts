import { loadConfig } from '../../../config';
import { databaseOf, grantPortalRole, openDatabase, PortalRoleRefused } from '../../../store';
import { StackAlreadyRunning } from '../../../stack/already-running';
import { startStack, type Stack } from '../../../stack/stack';
import { defaultWorkers } from '../../../stack/workers';
import { CommandFailed } from '../../shared/errors';
import { integerOption } from '../../options/options';
import { waitForAbort } from '../../connections/waiting';
import { PRINT_NOTHING, type CommandResult, type Output } from '../../terminal/output';
import type { Context } from '../../shared/context';

interface UpOptions {
  readonly workers?: number;
  readonly faults?: boolean;
}

/** `ferry up`: runs the embedded stack in the foreground until Ctrl-C, or until a part can no longer be restarted. */
export function addUp(context: Context): void {
  const { program, run, output, terminal } = context;
  program
    .command('up')
    .description(
      'Run everything on this machine until Ctrl-C: Temporal, Postgres, the service, the workers and the portal',
    )
    .addOption(
      integerOption(
        '--workers <number>',
        'number of worker processes (default: the number of cores minus 2, but at least 1 and at most 4)',
        1,
      ),
    )
    .option('--faults', 'let an administrator make the service fail, to rehearse an outage (see docs/one-machine.md)')
    .action(async ({ workers = defaultWorkers(), faults = false }: UpOptions) => {
      const interrupted = terminal.interruption();
      await run(async () => {
        const stack = await start(context, { workers, faults }, interrupted);
        output.show(upResult(stack, workers));
        const failure = await Promise.race([waitForAbort(interrupted), stack.failed]);
        if (failure !== undefined) output.warn(failure);
        output.note('Stopping...');
        await stack.stop();
        output.note('Stopped.');
        return { written: true, failed: failure !== undefined };
      });
    });
}

async function start(
  { output, terminal: { env } }: Context,
  { workers, faults }: Required<UpOptions>,
  interrupted: AbortSignal,
): Promise<Stack> {
  // Checks variables that the stack reads while it starts. If `startStack` fails, the advice is to see the logs, which
  // would say nothing about an invalid variable.
  const { home, logLevel } = loadConfig(['webhook'], env, ['serviceKeys', 'tracing']);
  try {
    return await startStack({
      dataFolder: home,
      ephemeral: false,
      env,
      databaseUrl: env['DATABASE_URL'] || undefined,
      logLevel,
      workers,
      faults,
      allowPortal: (databases) => allowPortal(databases, output),
      signal: interrupted,
      log: (line) => output.note(line),
      warn: (text) => output.warn(text),
    });
  } catch (error) {
    if (interrupted.aborted) throw new CommandFailed('interrupted', 'nothing was left running', { cause: error });
    const message = error instanceof Error ? error.message : 'the stack did not start';
    if (error instanceof StackAlreadyRunning)
      throw new CommandFailed(message, 'use that stack, or press Ctrl-C in its terminal and run ferry up again', {
        cause: error,
      });
    throw new CommandFailed(message, `see the logs (*.log) in ${home} and in its subfolders`, { cause: error });
  }
}

/**
 * Creates the ledger if the database contains none, and the portal's database role. Returns false if the role is
 * refused, for example because an external Postgres does not let the stack create roles.
 */
async function allowPortal(
  { databaseUrl, portalDatabaseUrl }: Pick<Stack['config'], 'databaseUrl' | 'portalDatabaseUrl'>,
  output: Output,
): Promise<boolean> {
  const url = databaseUrl.reveal();
  const onLedgerCreated = (): void => output.note(`Created the ledger in the database at ${databaseOf(url)}.`);
  const db = await openDatabase({ url, connections: 1, createLedger: true, onLedgerCreated });
  try {
    await grantPortalRole(db, portalDatabaseUrl);
    return true;
  } catch (error) {
    if (!(error instanceof PortalRoleRefused)) throw error;
    // Omits the error's advice: it is about PORTAL_DATABASE_URL, but the stack chooses role and password itself.
    const remedy = error.remedy === null ? '' : ` In Postgres, ${error.remedy}.`;
    output.warn(
      `The portal is not running: ${error.message}.${remedy} Then stop ferry up with Ctrl-C and start it again.`,
    );
    return false;
  } finally {
    await db.destroy();
  }
}

function upResult(
  { config, temporalUiUrl, codecUrl, serviceDocsUrl, portalUrl }: Stack,
  workers: number,
): CommandResult {
  return {
    json: {
      schema: 'ferry.up/1',
      home: config.home,
      temporalUiUrl,
      clientUiUrl: config.clientUi.url,
      portalUrl: portalUrl ?? null,
      temporalAddress: config.temporal.address,
      codecUrl,
      serviceUrl: config.service.url,
      serviceDocsUrl,
      workers,
    },
    printQuietly: PRINT_NOTHING,
    print: (output) => {
      output.line(`${output.styled('green', '✓')} Tokenferry is running. Data: ${config.home}`);
      output.table(
        ['Part', 'Address'],
        [
          ['Portal for clients', portalUrl ?? 'not running'],
          ['Temporal UI', temporalUiUrl],
          ['Temporal UI for clients', `${config.clientUi.url} (read-only)`],
          ['Temporal', config.temporal.address],
          ['Codec server', codecUrl],
          ['Company Data Service', config.service.url],
          ['API documentation', serviceDocsUrl],
        ],
      );
      output.line('Stop everything with Ctrl-C. In another terminal, start a migration with: ferry start');
    },
  };
}
