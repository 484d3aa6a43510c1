import { writeFileSync } from 'node:fs';
import { copyFile, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { runFerry } from '../cli/program';
import type { TerminalStream } from '../cli/terminal/terminal';

/** Runs the commands of the demo and prints each with the role that types it. Throws if a command fails. */
export class DemoTerminal {
  private readonly env: NodeJS.ProcessEnv;

  constructor(
    private readonly dataFolder: string,
    private readonly signal: AbortSignal,
  ) {
    // Removed, because the commands must use the demo's stack and not one that these variables configure.
    const removed = /^(TEMPORAL_|COMPANY_DATA_|TOKENFERRY_|DATABASE_URL$)/;
    const kept = Object.entries(process.env).filter(([name]) => !removed.test(name));
    this.env = { ...Object.fromEntries(kept), TOKENFERRY_HOME: dataFolder };
  }

  title(text: string): void {
    process.stdout.write(`\n${styleText('bold', text, { stream: process.stdout })}\n`);
  }

  /** Runs a command as support. */
  async support(...args: string[]): Promise<void> {
    const isDecision = ['approve', 'propose-time'].includes(args[0] ?? '');
    await this.type('support', 'cyan', confirmed(isDecision ? [...args, '--by', 'Sam'] : args));
  }

  /** Runs a command as the client. */
  async client(...args: string[]): Promise<void> {
    await this.type('client', 'magenta', confirmed([...args, '--as', 'client', '--by', 'Cleo']));
  }

  /** Shows the progress bar until someone has to act. */
  async watch(migrationId: string): Promise<void> {
    await this.type('both', 'gray', ['watch', migrationId, '--until-decision']);
  }

  /** Runs a command with `--json` and returns what it printed. */
  async ask(...args: string[]): Promise<unknown> {
    const pieces: string[] = [];
    const stdout = new Writable({
      write: (piece: Buffer, _encoding, done) => {
        pieces.push(piece.toString());
        done();
      },
    });
    await this.run([...args, '--json'], stdout);
    return JSON.parse(pieces.join('')) as unknown;
  }

  /**
   * Copies the example's credentials and sets the file's time to now, because on this platform credentials count only
   * if they were obtained after the confirmation that syncing is off. Returns the path of the copy.
   */
  async exportCredentials(file: string): Promise<string> {
    const exported = path.join(this.dataFolder, path.basename(file));
    await copyFile(file, exported);
    const now = new Date();
    await utimes(exported, now, now);
    return exported;
  }

  /** Writes one of the client's files and returns its path. */
  writeFile(name: string, text: string): string {
    const file = path.join(this.dataFolder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  private async type(who: string, colour: 'cyan' | 'magenta' | 'gray', args: readonly string[]): Promise<void> {
    const prompt = styleText(colour, `${who.padEnd(7)} $`, { stream: process.stdout });
    process.stdout.write(`${prompt} ferry ${args.map(shellQuoted).join(' ')}\n`);
    await this.run(args, process.stdout);
  }

  private async run(args: readonly string[], stdout: TerminalStream): Promise<void> {
    this.signal.throwIfAborted();
    const { stderr } = process;
    const exitCode = await runFerry(args, { stdout, stderr, env: this.env, interruption: () => this.signal });
    if (exitCode !== 0) throw new Error(`ferry ${args.join(' ')} ended with exit code ${exitCode}`);
  }
}

function shellQuoted(word: string): string {
  return /^[\w./=:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Adds `--yes` to an approval, because nobody can be asked to confirm it. */
function confirmed(args: readonly string[]): readonly string[] {
  return args[0] === 'approve' ? [...args, '--yes'] : args;
}
