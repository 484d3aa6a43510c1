/** Runs the programs of a benchmark in child processes, so that the CPU time of each program can be measured. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** The calls that a child process serves to its parent, by name. `MoverCalls`, for example, are those of a mover. */
export type Calls = { readonly [name: string]: (input: never) => Promise<unknown> };

interface CallMessage {
  readonly number: number;
  readonly name: string;
  readonly input: unknown;
}

type Reply = { readonly number: number } & ({ readonly value: unknown } | { readonly failure: string });

export interface ChildProgram<Served extends Calls> {
  call<Name extends keyof Served & string>(
    name: Name,
    ...input: Parameters<Served[Name]>
  ): Promise<Awaited<ReturnType<Served[Name]>>>;
  /** Disconnects and waits until the program has ended. */
  end(): Promise<void>;
  /** Sends SIGKILL and waits until the program has ended. */
  kill(): Promise<void>;
}

/**
 * Starts a program. Calls to a program that has ended are rejected.
 *
 * @param name a file in this folder without its extension, such as `worker-process`, or an absolute path
 * @param nodeOptions options of Node, such as `--expose-gc`
 * @param variables environment variables, in addition to those of this process
 */
export function startProcess<Served extends Calls>(
  name: string,
  nodeOptions: readonly string[] = [],
  variables: Readonly<Record<string, string>> = {},
): ChildProgram<Served> {
  const file = path.isAbsolute(name) ? name : path.join(__dirname, `${name}.js`);
  // Standard output is reserved for the results of the benchmark.
  const child = fork(file, {
    execArgv: [...nodeOptions],
    env: { ...process.env, ...variables },
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
  });
  const exited = once(child, 'exit');
  let calls = 0;
  const waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  child.on('message', (reply: Reply) => {
    const caller = waiting.get(reply.number);
    waiting.delete(reply.number);
    if ('failure' in reply) caller?.reject(new Error(reply.failure));
    else caller?.resolve(reply.value);
  });
  void exited.then(() => {
    for (const { reject } of waiting.values()) reject(new Error(`the ${name} has ended`));
    waiting.clear();
  });
  return {
    call: (callName, ...[input]) => {
      calls += 1;
      const message: CallMessage = { number: calls, name: callName, input };
      return new Promise((resolve, reject) => {
        // The child serves the same `Calls`, so the reply has the right type.
        waiting.set(message.number, { resolve: resolve as (value: unknown) => void, reject });
        if (!child.connected) reject(new Error(`the ${name} has ended`));
        else child.send(message);
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
 * Starts a program and runs `begin`. Ends the program if `begin` fails.
 *
 * @throws the error of `begin`
 */
export async function startProcessWith<Served extends Calls, Begun>(
  name: string,
  begin: (program: ChildProgram<Served>) => Promise<Begun>,
  ...settings: readonly [nodeOptions?: readonly string[], variables?: Readonly<Record<string, string>>]
): Promise<Begun> {
  const program = startProcess<Served>(name, ...settings);
  try {
    return await begin(program);
  } catch (error) {
    await program.end();
    throw error;
  }
}

/** Serves the calls of the parent process. A child calls this; `end` is called once the parent has disconnected. */
export function serveParent(served: Calls, end: () => Promise<void>): void {
  process.on('message', ({ number, name, input }: CallMessage) => {
    const serve = served[name];
    const reply = (result: { value: unknown } | { failure: string }): void => {
      if (process.connected) process.send?.({ number, ...result } satisfies Reply);
    };
    // The parent uses the same `Calls`, so the input has the right type.
    Promise.resolve(serve?.(input as never)).then(
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
  // Ignore Ctrl-C in the terminal, because the child ends when the parent disconnects.
  process.on('SIGINT', () => undefined);
}
