import { Writable } from 'node:stream';
import type { Command } from 'commander';
import { ferryCommand } from '../command-line';
import { Output } from '../terminal';

/** The commands, with nobody to run them for: to be read. */
export function describedProgram(): Command {
  const stdout = new Writable();
  const terminal = { stdout, stderr: stdout, env: {}, interruption: () => new AbortController().signal };
  return ferryCommand({ output: new Output(terminal, false), terminal, args: [], run: async () => undefined });
}
