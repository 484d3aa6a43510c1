import { createWriteStream, writeFileSync } from 'node:fs';
import { copyFile, utimes } from 'node:fs/promises';
import path from 'node:path';
import { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { styleText } from 'node:util';
import { runFerry } from '../cli/program';
import { shellQuoted } from '../domain/text/shell-quoted';
import type { TerminalStream } from '../cli/terminal/terminal';

/** The longest line of a printed command, and of output that does not go to a terminal. Terminals wrap lines. */
const MAX_COLUMNS = 120;

/**
 * Runs the commands of the demo and prints each with the role that types it, or `both`, except those of `ask`. Throws
 * if a command fails.
 */
export class DemoTerminal {
  private readonly env: NodeJS.ProcessEnv;

  constructor(
    private readonly dataFolder: string,
    private readonly signal: AbortSignal,
  ) {
    // Removes these variables, because the commands must use the demo's stack and not another one.
    const removed = /^(TEMPORAL_|COMPANY_DATA_|TOKENFERRY_|DATABASE_URL$)/;
    const kept = Object.entries(process.env).filter(([name]) => !removed.test(name));
    this.env = { ...Object.fromEntries(kept), TOKENFERRY_HOME: dataFolder };
  }

  title(text: string): void {
    process.stdout.write(`\n${styleText('bold', text, { stream: process.stdout })}\n`);
  }

  /** Runs a command as support. */
  async support(...args: string[]): Promise<void> {
    const isDecision = ['start', 'approve', 'propose-time'].includes(args[0] ?? '');
    await this.type('support', 'cyan', confirmed(isDecision ? [...args, '--by', 'Sam'] : args));
  }

  /** Runs a command as the client. */
  async client(...args: string[]): Promise<void> {
    await this.type('client', 'magenta', confirmed([...args, '--as', 'client', '--by', 'Cleo']));
  }

  /** Shows the progress bar until a person must act, or the migration has ended. */
  async watch(migrationId: string): Promise<void> {
    await this.type('both', 'gray', ['watch', migrationId, '--until-decision']);
  }

  /** Runs a command with `--json` and returns its parsed output. */
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
   * Copies the file with the example's credentials, and sets the copy's modification time to now. `ferry credentials`
   * takes this time as the time at which the credentials were obtained. On this platform, they count only if they were
   * obtained after the confirmation that syncing is off. Returns the path of the copy.
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

  /** Runs a command as support, with its output in a file that only its owner can read. */
  async save(file: string, ...args: string[]): Promise<void> {
    this.printCommand('support', 'cyan', [...args, '>', file]);
    const stream = createWriteStream(file, { mode: 0o600 });
    await this.run(args, stream);
    stream.end();
    await finished(stream);
  }

  private async type(who: string, colour: Colour, args: readonly string[]): Promise<void> {
    this.printCommand(who, colour, args);
    await this.run(args, STDOUT);
  }

  /** Prints a command so that it can be pasted: with a backslash where a long line continues. */
  private printCommand(who: string, colour: Colour, args: readonly string[]): void {
    const prompt = styleText(colour, `${who.padEnd(7)} $`, { stream: process.stdout });
    const words = args.map((word) => (word === '>' ? word : shellQuoted(word))).join(' ');
    const lines = wrapped(`ferry ${words}`, MAX_COLUMNS - 15);
    process.stdout.write(`${prompt} ${lines.join(` \\\n${' '.repeat(12)}`)}\n`);
  }

  private async run(args: readonly string[], stdout: TerminalStream): Promise<void> {
    this.signal.throwIfAborted();
    const { stderr } = process;
    const exitCode = await runFerry(args, { stdout, stderr, env: this.env, interruption: () => this.signal });
    if (exitCode !== 0) throw new Error(`ferry ${args.join(' ')} ended with exit code ${exitCode}`);
  }
}

/** Adds `--yes` to an approval, because the demo cannot ask a person to confirm it. */
function confirmed(args: readonly string[]): readonly string[] {
  return args[0] === 'approve' ? [...args, '--yes'] : args;
}

type Colour = 'cyan' | 'magenta' | 'gray';

/** Breaks a line between words. A word that is longer than a line stays in one piece. */
function wrapped(line: string, columns: number): readonly string[] {
  if (line.length <= columns) return [line];
  const at = line.lastIndexOf(' ', columns);
  const end = at <= line.search(/\S/) ? line.indexOf(' ', columns) : at;
  return end < 0 ? [line] : [line.slice(0, end), ...wrapped(line.slice(end + 1), columns)];
}

/** Standard output. If it is not a terminal, lines are wrapped at {@link MAX_COLUMNS}. */
const STDOUT: TerminalStream = process.stdout.isTTY
  ? process.stdout
  : Object.assign(
      new Writable({
        write: (piece: Buffer, _encoding, done) => {
          const lines = piece.toString().split('\n');
          process.stdout.write(lines.flatMap((line) => wrappedWithIndent(line)).join('\n'));
          // Called immediately. Otherwise pieces would wait in this stream, and the demo's own lines could overtake
          // them.
          done();
        },
      }),
      { columns: MAX_COLUMNS },
    );

function wrappedWithIndent(line: string): readonly string[] {
  const indent = ' '.repeat(line.search(/\S|$/) + 2);
  const [first = '', ...rest] = wrapped(line, MAX_COLUMNS);
  return [
    first,
    ...(rest.length === 0 ? [] : wrapped(rest.join(' '), MAX_COLUMNS - indent.length)).map((each) => indent + each),
  ];
}
