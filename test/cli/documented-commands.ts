/** Runs the commands of a document as they are written. */
import { execFile } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { startCodecServer } from '../../security/codec-server';
import { startOrchestrator, type Orchestrator } from '../support/servers/orchestrator';
import { temporalCli } from '../support/servers/shared-servers';
import type { Prompts } from '../../cli/terminal/prompts';
import { ferry } from './captured-terminal';
import { EXAMPLE } from './command-line';

export interface Section {
  readonly chapter: string;
  readonly title: string;
  /** The lines of each fenced shell block. */
  readonly blocks: readonly (readonly string[])[];
}

/** Reads a document, by its path relative to `docs/`. */
export function readDocument(name: string): string {
  return readFileSync(path.join(__dirname, '../../docs', name), 'utf8');
}

/** Returns the shell blocks below each heading of a document: chapters (`##`) and their sections (`###`). */
export function readSections(name: string): readonly Section[] {
  let chapter = '';
  return readDocument(name)
    .split(/^(?=##)/m)
    .map((part) => {
      const [, marks = '', title = ''] = /^(#+) (.*)/.exec(part) ?? [];
      if (marks === '##') chapter = title;
      const blocks = [...part.matchAll(/^```sh\n([^]*?)^```$/gm)].map(([, block = '']) => block.trim().split('\n'));
      return { chapter, title, blocks };
    });
}

/** The exit code and the output of a command. */
export interface CommandOutcome {
  readonly exitCode: number;
  readonly out: string;
  readonly err: string;
}

/** A shell in a folder with the files that the documents mention, and the orchestrator that its commands use. */
export interface Shell {
  readonly orchestrator: Orchestrator;
  /**
   * Runs one line in `sh`. `temporal` runs as a process. `ferry` runs in this process, with the arguments that the
   * shell passes.
   *
   * @param prompts the answers of a person at the terminal, who by default confirms everything
   */
  run(line: string, migrationId: string, prompts?: Partial<Prompts>): Promise<CommandOutcome>;
  /** Sets the modification time of `credentials.csv` to now, as an export by the client does. */
  exportCredentials(): void;
  close(): Promise<void>;
}

export async function openShell(): Promise<Shell> {
  const orchestrator = await startOrchestrator();
  await orchestrator.startWorker();
  const folder = mkdtempSync(path.join(tmpdir(), 'tokenferry-test-'));
  const commands = path.join(folder, 'commands');
  mkdirSync(commands);
  symlinkSync(temporalCli(), path.join(commands, 'temporal'));
  const argumentsFile = path.join(folder, 'arguments');
  writeFileSync(path.join(commands, 'ferry'), `#!/bin/sh\nprintf '%s\\0' "$@" > '${argumentsFile}'\n`, { mode: 0o755 });
  symlinkSync(path.dirname(EXAMPLE), path.join(folder, 'examples'));

  copyFileSync(path.join(EXAMPLE, 'manifest.csv'), path.join(folder, 'manifest.csv'));
  for (const file of ['credentials.csv', 'new-credentials.csv'])
    copyFileSync(path.join(EXAMPLE, 'credentials.csv'), path.join(folder, file));
  writeFileSync(path.join(folder, 'secret.txt'), 'the secret of the application\n');
  writeFileSync(
    path.join(folder, 'late-companies.csv'),
    'reference,name,realmId,expectedInvoices\nC-1026,Late Lunches,9130350226405999,12\n',
  );

  const { env, config } = orchestrator;
  const codec = await startCodecServer({
    payloadKeys: config.payloadKeys,
    origins: [],
    verifyToken: null,
    host: '127.0.0.1',
    port: 0,
    log: pino({ level: 'error' }),
  });
  const inFolder = (word: string): string => (existsSync(path.join(folder, word)) ? path.join(folder, word) : word);
  return {
    orchestrator,
    run: async (line, migrationId, prompts = { confirm: async () => true }) => {
      const ran = await sh(line, {
        cwd: folder,
        env: {
          PATH: `${commands}:${process.env['PATH']}`,
          HOME: folder,
          M: migrationId,
          TEMPORAL_ADDRESS: env['TEMPORAL_ADDRESS'],
          TEMPORAL_NAMESPACE: env['TEMPORAL_NAMESPACE'],
          TEMPORAL_CODEC_ENDPOINT: codec.url,
        },
      });
      if (!/^ferry /.test(line) || ran.exitCode !== 0) return ran;
      return ferry(readFileSync(argumentsFile, 'utf8').split('\0').slice(0, -1).map(inFolder), undefined, env, prompts);
    },
    exportCredentials: () => utimesSync(path.join(folder, 'credentials.csv'), new Date(), new Date()),
    close: async () => {
      await codec.close();
      await orchestrator.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function sh(line: string, options: { cwd: string; env: NodeJS.ProcessEnv }): Promise<CommandOutcome> {
  return new Promise((resolve) => {
    execFile('sh', ['-euc', line], { ...options, timeout: 30_000 }, (error, out, err) => {
      resolve({ exitCode: typeof error?.code === 'number' ? error.code : error === null ? 0 : -1, out, err });
    });
  });
}
