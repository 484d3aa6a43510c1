/** Programs of a benchmark that run in processes of their own, as they do in life: none takes another's time unseen. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

/** What a program does when it is asked, by name. */
export type Calls = { readonly [name: string]: (input: never) => Promise<unknown> };

interface Question {
  readonly number: number;
  readonly name: string;
  readonly input: unknown;
}

type Reply = { readonly number: number } & ({ readonly value: unknown } | { readonly failure: string });

export interface OwnProcess<Served extends Calls> {
  ask<Name extends keyof Served & string>(
    name: Name,
    input: Parameters<Served[Name]>[0],
  ): Promise<Awaited<ReturnType<Served[Name]>>>;
  /** Lets go of it, and waits until it has ended in order. */
  end(): Promise<void>;
  /** Ends it as a power failure does. */
  kill(): Promise<void>;
}

/**
 * Starts a program of this folder. What is asked of one that has ended is refused.
 *
 * @param name `worker-process`
 */
export function startProcess<Served extends Calls>(name: string): OwnProcess<Served> {
  const file = path.join(__dirname, `${name}.js`);
  // What a benchmark finds is all that it prints on standard output.
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
        // Whoever serves a call answers with what is promised of it.
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
 * Starts a program, and does with it what has to come first; a program for which that fails is ended.
 *
 * @throws what it failed with
 */
export async function startProcessWith<Served extends Calls, Begun>(
  name: string,
  begin: (program: OwnProcess<Served>) => Promise<Begun>,
): Promise<Begun> {
  const program = startProcess<Served>(name);
  try {
    return await begin(program);
  } catch (error) {
    await program.end();
    throw error;
  }
}

/** The other side: answers the process that started this one, and ends in order when that lets go, or has ended. */
export function serveParent(served: Calls, end: () => Promise<void>): void {
  process.on('message', ({ number, name, input }: Question) => {
    const answer = served[name];
    const reply = (what: { value: unknown } | { failure: string }): void => {
      if (process.connected) process.send?.({ number, ...what } satisfies Reply);
    };
    // Whoever asks keeps to the same list of calls.
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
  // A terminal's Ctrl-C reaches this process too; the parent's end is what ends it.
  process.on('SIGINT', () => undefined);
}
