import { writeFileSync } from 'node:fs';
import { copyFile, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { styleText } from 'node:util';
import { runFerry } from '../cli/program';
import type { TerminalStream } from '../cli/terminal/terminal';

/** The people of the demo, at one terminal: it shows who types what, and stops when a command fails. */
export class DemoTerminal {
  private readonly env: NodeJS.ProcessEnv;

  constructor(
    private readonly dataFolder: string,
    private readonly signal: AbortSignal,
  ) {
    // The commands find the demo's stack, not another one that the environment may name.
    const foreign = /^(TEMPORAL_|COMPANY_DATA_|TOKENFERRY_|DATABASE_URL$)/;
    const own = Object.entries(process.env).filter(([name]) => !foreign.test(name));
    this.env = { ...Object.fromEntries(own), TOKENFERRY_HOME: dataFolder };
  }

  title(text: string): void {
    process.stdout.write(`\n${styleText('bold', text, { stream: process.stdout })}\n`);
  }

  /** A command of the solutions team. */
  async support(...args: string[]): Promise<void> {
    const decides = ['approve', 'propose-time'].includes(args[0] ?? '');
    await this.type('support', 'cyan', decides ? [...args, '--by', 'Sam'] : args);
  }

  /** A command of the client. */
  async client(...args: string[]): Promise<void> {
    await this.type('client', 'magenta', [...args, '--as', 'client', '--by', 'Cleo']);
  }

  /** Both look at the bar until somebody is waited for. */
  async watch(migrationId: string): Promise<void> {
    await this.type('both', 'gray', ['watch', migrationId, '--until-decision']);
  }

  /** What `--json` prints. */
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

  /** A rotating token is exported after syncing was disabled: the example's file, as if just written. */
  async exportAnew(file: string): Promise<string> {
    const exported = path.join(this.dataFolder, path.basename(file));
    await copyFile(file, exported);
    const now = new Date();
    await utimes(exported, now, now);
    return exported;
  }

  /** A file that the client has. */
  fileWith(name: string, text: string): string {
    const file = path.join(this.dataFolder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  }

  private async type(who: string, colour: 'cyan' | 'magenta' | 'gray', args: readonly string[]): Promise<void> {
    const prompt = styleText(colour, `${who.padEnd(7)} $`, { stream: process.stdout });
    process.stdout.write(`${prompt} ferry ${args.map(quoted).join(' ')}\n`);
    await this.run(args, process.stdout);
  }

  private async run(args: readonly string[], stdout: TerminalStream): Promise<void> {
    this.signal.throwIfAborted();
    const { stderr } = process;
    const exitCode = await runFerry(args, { stdout, stderr, env: this.env, interruption: () => this.signal });
    if (exitCode !== 0) throw new Error(`ferry ${args.join(' ')} ended with exit code ${exitCode}`);
  }
}

function quoted(word: string): string {
  return /^[\w./=:@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
