/** The container engine of this machine: Docker with its Compose plugin, or Podman with podman-compose. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const MAX_OUTPUT_BYTES = 2 ** 26;
const LINES_SHOWN = 15;
const ENGINES = [
  { name: 'docker', compose: ['docker', 'compose'], installed: [['info'], ['compose', 'version']] },
  { name: 'podman', compose: ['podman-compose'], installed: [['info']] },
] as const;

export interface Engine {
  readonly name: 'docker' | 'podman';
  /**
   * Runs the engine's command.
   *
   * @returns its output, without the last line break
   * @throws {@link CommandFailed}
   */
  run(args: readonly string[], options?: RunOptions): Promise<string>;
  /**
   * Runs `docker compose` or `podman-compose`.
   *
   * @throws {@link CommandFailed}
   */
  compose(args: readonly string[], options?: RunOptions): Promise<string>;
}

interface RunOptions {
  /** Environment variables of the command, in addition to those of this process. Undefined removes a variable. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Thrown when a command fails; the message has the command and the end of its output. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** Thrown when this machine has no container engine that works. */
export class NoContainerEngine extends Error {
  override readonly name = 'NoContainerEngine';
}

/**
 * Returns the first engine that works.
 *
 * @param wanted the name of the only engine to try; undefined to try both
 * @throws {@link NoContainerEngine}
 */
export async function findEngine(wanted?: string): Promise<Engine> {
  const reasons: string[] = [];
  for (const { name, compose, installed } of ENGINES) {
    if (wanted !== undefined && wanted !== name) continue;
    try {
      for (const args of installed) await runCommand([name, ...args]);
      await runCommand([...compose, 'version']);
      return {
        name,
        run: (args, options) => runCommand([name, ...args], options),
        compose: (args, options) => runCommand([...compose, ...args], options),
      };
    } catch (error) {
      reasons.push(`  ${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new NoContainerEngine(
    ['Docker with Compose, or Podman with podman-compose, is required, but neither works:', ...reasons].join('\n'),
  );
}

/**
 * Runs a command and returns its standard output, without white space at its end.
 *
 * @throws {@link CommandFailed}
 */
export async function runCommand(
  [command = '', ...args]: readonly string[],
  { env = {}, cwd }: RunOptions = {},
): Promise<string> {
  const settings = { env: { ...process.env, ...env }, cwd, maxBuffer: MAX_OUTPUT_BYTES };
  try {
    return (await promisify(execFile)(command, args, settings)).stdout.trimEnd();
  } catch (error) {
    const { stderr = '', stdout = '', message } = error as Error & { stderr?: string; stdout?: string };
    const output = `${stdout}\n${stderr}`.trim().split('\n').slice(-LINES_SHOWN).join('\n');
    throw new CommandFailed(`${[command, ...args].join(' ')}: ${output || message}`, { cause: error });
  }
}
