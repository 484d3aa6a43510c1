/** Containers of a run: their state, their health, and killing their main process. */
import { setTimeout as delay } from 'node:timers/promises';
import { TAG } from './build';
import type { Engine } from './engine';

const POLL_MS = 1_000;
const HEALTHY_WITHIN_MS = 180_000;

interface State {
  readonly Status: string;
  readonly ExitCode: number;
  /** The id of the main process in the engine's process namespace; 0 if the process is not running. */
  readonly Pid: number;
  readonly Health?: { readonly Status: string };
}

interface Inspection {
  readonly State: State;
  readonly HostConfig: { readonly ReadonlyRootfs: boolean; readonly Memory: number };
}

export class Container {
  /** @param name for people, such as `worker 1` */
  constructor(
    private readonly engine: Engine,
    private readonly id: string,
    readonly name: string,
    private readonly hasHealthCheck: boolean,
  ) {}

  private killedPid: number | null = null;

  async inspect(): Promise<Inspection> {
    const [inspection] = JSON.parse(await this.engine.run(['container', 'inspect', this.id])) as Inspection[];
    if (!inspection) throw new Error(`${this.name} does not exist`);
    return inspection;
  }

  /** Runs a command in the container and returns its output. */
  exec(...command: readonly string[]): Promise<string> {
    return this.engine.run(['exec', this.id, ...command]);
  }

  /**
   * Kills the main process from outside, because the restart policy ignores a container that `docker kill` has ended.
   */
  async kill(): Promise<void> {
    const { Pid: pid } = (await this.inspect()).State;
    if (pid === 0) throw new Error(`${this.name} is not running`);
    const rights = ['--pid', 'host', '--user', '0:0', '--cap-drop', 'ALL', '--cap-add', 'KILL', '--network', 'none'];
    const program = ['--entrypoint', 'node', `tokenferry-cli:${TAG}`, '-e', `process.kill(${pid}, 'SIGKILL')`];
    await this.engine.run(['run', '--rm', ...rights, ...program]);
    this.killedPid = pid;
  }

  /**
   * Waits until the container is healthy. If it was killed, the restart policy must first have started it again.
   *
   * @throws if that takes more than three minutes
   */
  async start(): Promise<void> {
    await this.until('restarted and healthy', async () => {
      const { State: state } = await this.inspect();
      return state.Pid !== this.killedPid && (await this.isHealthy(state));
    });
  }

  /** @throws if the container ends with an error, or runs for more than three minutes */
  async awaitSuccess(): Promise<void> {
    await this.until('finished', async () => {
      const { Status: status, ExitCode: exitCode } = (await this.inspect()).State;
      if (status !== 'exited') return false;
      if (exitCode === 0) return true;
      throw new Error(`${this.name} ended with exit code ${exitCode}. Its log ends with:\n${await this.logTail()}`);
    });
  }

  private async until(state: string, isReached: () => Promise<boolean>): Promise<void> {
    for (const deadline = Date.now() + HEALTHY_WITHIN_MS; Date.now() < deadline; await delay(POLL_MS)) {
      if (await isReached()) return;
    }
    const reason = `${this.name} is not ${state} after ${HEALTHY_WITHIN_MS / 1_000} s`;
    throw new Error(`${reason}. Its log ends with:\n${await this.logTail()}`);
  }

  private async isHealthy({ Status: status, Health: health }: State): Promise<boolean> {
    if (status !== 'running') return false;
    if (!this.hasHealthCheck) return true;
    if (this.engine.name === 'docker') return health?.Status === 'healthy';
    // Podman itself runs health checks only on machines with systemd.
    return this.engine.run(['healthcheck', 'run', this.id]).then(
      () => true,
      () => false,
    );
  }

  private async logTail(): Promise<string> {
    const log = await this.engine.run(['logs', '--tail', '10', this.id]).catch((error: unknown) => String(error));
    return log.replace(/^(.{300}).*$/gm, '$1...');
  }
}
