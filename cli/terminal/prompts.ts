/** Asks the user questions at the terminal. */
import { setImmediate, setTimeout } from 'node:timers/promises';
import type * as Inquirer from '@inquirer/prompts';
import { CommandFailed } from '../shared/errors';

export interface Prompts {
  /** Asks for yes or no; the default is no. */
  confirm(question: string): Promise<boolean>;
  /** Asks for text that is not shown while it is typed. */
  secret(question: string): Promise<string>;
  text(question: string, more?: TextQuestion): Promise<string>;
  /** Asks the user to select one of a few choices. */
  choose<Value>(question: string, choices: readonly Choice<Value>[], defaultValue?: Value): Promise<Value>;
  /** Asks the user to find one of many choices by typing a part of its name. */
  search<Value>(question: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

export interface TextQuestion {
  /** The answer if the user presses only Enter. */
  readonly defaultAnswer?: string;
  /**
   * Returns why an answer is rejected; null if it is accepted. After a rejection, the question is asked again. The
   * default answer is always accepted, so that Enter accepts the suggestion.
   */
  readonly rejection?: (answer: string) => string | null;
}

export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
}

/** Loads the prompts package at the first question, because most commands ask no questions. */
export const terminalPrompts: Prompts = {
  confirm: (message) => answered(({ confirm }, context) => confirm({ message, default: false }, context)),
  secret: (message) => answered(({ password }, context) => password({ message, mask: true }, context)),
  text: async (message, { defaultAnswer, rejection = () => null } = {}) => {
    const validate = (answer: string): string | true => answer === defaultAnswer || (rejection(answer.trim()) ?? true);
    const question = { message, validate, ...(defaultAnswer === undefined ? {} : { default: defaultAnswer }) };
    return (await answered(({ input }, context) => input(question, context))).trim();
  },
  choose: (message, choices, defaultValue) => {
    const question = { message, choices, ...(defaultValue === undefined ? {} : { default: defaultValue }) };
    return answered(({ select }, context) => select(question, context));
  },
  search: (message, choices) => {
    const source = (typed = '') =>
      choices.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
    return answered(({ search }, context) => search({ message, source }, context));
  },
};

/** Thrown when the user cancels a question. */
export class Unanswered extends CommandFailed {}

/**
 * Asks a question and waits until the user answers or cancels it. Input from before the question does not answer it,
 * because the user had not seen the question.
 *
 * @throws Unanswered after Esc or Ctrl-C
 */
async function answered<Answer>(
  question: (inquirer: typeof Inquirer, context: { readonly signal: AbortSignal }) => Promise<Answer>,
): Promise<Answer> {
  const inquirer = await import('@inquirer/prompts');
  await discardInput(process.stdin);
  const cancelled = new AbortController();
  const listen = (_: unknown, { name }: { readonly name?: string }): void => {
    if (name === 'escape') cancelled.abort();
  };
  process.stdin.on('keypress', listen);
  try {
    return await question(inquirer, cancelled);
  } catch (error) {
    if (error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError'))
      throw unanswered();
    throw error;
  } finally {
    process.stdin.off('keypress', listen);
  }
}

const unanswered = (): Unanswered =>
  new Unanswered('nothing was done', 'run the command again when you have the answer');

/** Time in which the terminal delivers input that was typed earlier. */
const DELIVERY_MS = 20;
const CTRL_C = '\x03';

/**
 * Reads and discards what was typed so far. Uses raw mode, because otherwise a line without Enter stays in the
 * terminal.
 *
 * @throws Unanswered after Ctrl-C, which is a key in raw mode
 */
async function discardInput(stdin: typeof process.stdin): Promise<void> {
  let discarded = '';
  const discard = (typed: Buffer | string): void => {
    discarded += typed.toString();
  };
  stdin.setRawMode(true);
  stdin.on('data', discard);
  stdin.resume();
  try {
    await setTimeout(DELIVERY_MS);
    // On a busy machine, the timer can end before input is read. The event loop reads input before it runs this.
    await setImmediate();
  } finally {
    stdin.pause();
    stdin.off('data', discard);
    stdin.setRawMode(false);
  }
  if (discarded.includes(CTRL_C)) throw unanswered();
}
