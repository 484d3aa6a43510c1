/** Runs the programs of a benchmark in child processes, as in production, so that CPU time is measured per program. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The calls that a program serves, by name. */
export type Calls = { readonly [name: string]: (input: never) => Promise<unknown> };

interface Question {
  readonly number: number;
  readonly name: string;
  readonly input: unknown;
}

type Reply = { readonly number: number } & ({ readonly value: unknown } | { readonly failure: string });

export interface ChildProgram<Served extends Calls> {
  ask<Name extends keyof Served & string>(
    name: Name,
    input: Parameters<Served[Name]>[0],
  ): Promise<Awaited<ReturnType<Served[Name]>>>;
  /** Disconnects and waits until the program has ended. */
  end(): Promise<void>;
  /** Sends SIGKILL and waits. */
  kill(): Promise<void>;
}

/**
 * Starts a program of this folder. Calls to a program that has ended are rejected.
 *
 * @param name the file without its extension, such as `worker-process`
 */
export function startProcess<Served extends Calls>(name: string): ChildProgram<Served> {
  const file = path.join(__dirname, `${name}.js`);
  // Standard output is only for the results of the benchmark.
  const child = fork(file, { stdio: ['ignore', process.stderr, process.stderr, 'ipc'] });
  const exited = once(child, 'exit');
  let asked = 0;
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  child.on('message', (reply: Reply) => {
    const asker = waiting.get(reply.number);
    waiting.delete(reply.number);
    if ('failure' in reply) asker?.reject(new Error(reply.failure));
    else asker?.resolve(reply.value);
  });
  void exited.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`the ${name} has ended`));
    waiting.clear();
  });
  return {
    ask: (call, input) => {
      asked += 1;
      const question: Question = { number: asked, name: call, input };
      return new Promise((resolve, reject) => {
        // The child serves the same `Calls`, so the type is right.
        waiting.set(question.number, { resolve: resolve as (value: unknown) => void, reject });
        if (!child.connected) reject(new Error(`the ${name} has ended`));
        else child.send(question);
      });
    },
    end: async () => {
      if (child.connected) child.disconnect();
      await exited;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/**
 * Starts a program and runs `begin`. If that fails, ends the program.
 *
 * @throws the error of `begin`
 */
export async function startProcessWith<Served extends Calls, Begun>(
  name: string,
  begin: (program: ChildProgram<Served>) => Promise<Begun>,
): Promise<Begun> {
  const program = startProcess<Served>(name);
  try {
    return await begin(program);
  } catch (error) {
    await program.end();
    throw error;
  }
}

/** Serves calls of the parent process, in the child. Calls `end` when the parent disconnects or has ended. */
export function serveParent(served: Calls, end: () => Promise<void>): void {
  process.on('message', ({ number, name, input }: Question) => {
    const answer = served[name];
    const reply = (what: { value: unknown } | { failure: string }): void => {
      if (process.connected) process.send?.({ number, ...what } satisfies Reply);
    };
    // The parent uses the same `Calls`, so the input has the right type.
    Promise.resolve(answer?.(input as never)).then(
      (value) => reply({ value }),
      (error: unknown) => reply({ failure: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.once('disconnect', () => {
    end().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
      process.exitCode = 1;
    });
  });
  // Ignore Ctrl-C of the terminal: the child ends when the parent disconnects.
  process.on('SIGINT', () => undefined);
}
