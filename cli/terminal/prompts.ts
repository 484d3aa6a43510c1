/** Questions to whoever sits at the terminal. */
import type * as Inquirer from '@inquirer/prompts';
import { CommandFailed } from '../shared/errors';

export interface Prompts {
  /** Yes or no; no answer at all is a no. */
  confirm(question: string): Promise<boolean>;
  /** Text that is not shown while it is typed. */
  secret(question: string): Promise<string>;
  text(question: string, more?: TextQuestion): Promise<string>;
  /** One of a few. */
  choose<Value>(question: string, choices: readonly Choice<Value>[], byDefault?: Value): Promise<Value>;
  /** One of many, found by what is typed of its name. */
  search<Value>(question: string, choices: readonly Choice<Value>[]): Promise<Value>;
}

export interface TextQuestion {
  /** The answer, where nothing is typed. */
  readonly byDefault?: string;
  /** What is wrong with an answer; null: nothing. It is asked again. */
  readonly refused?: (answer: string) => string | null;
}

export interface Choice<Value> {
  readonly name: string;
  readonly value: Value;
  /** Said of the one that is looked at. */
  readonly description?: string;
}

/** The package is loaded when the first question is asked: most commands ask none. */
export const terminalPrompts: Prompts = {
  confirm: (message) => asked(({ confirm }, context) => confirm({ message, default: false }, context)),
  secret: (message) => asked(({ password }, context) => password({ message, mask: true }, context)),
  text: async (message, { byDefault, refused = () => null } = {}) => {
    const validate = (answer: string): string | true => refused(answer.trim()) ?? true;
    const question = { message, validate, ...(byDefault === undefined ? {} : { default: byDefault }) };
    return (await asked(({ input }, context) => input(question, context))).trim();
  },
  choose: (message, choices, byDefault) => {
    const question = { message, choices, ...(byDefault === undefined ? {} : { default: byDefault }) };
    return asked(({ select }, context) => select(question, context));
  },
  search: (message, choices) => {
    const source = (typed = '') =>
      choices.filter(({ name }) => name.toLowerCase().includes(typed.trim().toLowerCase()));
    return asked(({ search }, context) => search({ message, source }, context));
  },
};

/** Thrown when whoever was asked did not want to answer. */
export class Unanswered extends CommandFailed {}

/**
 * Asks until Enter, Esc or Ctrl-C.
 *
 * @throws Unanswered after Esc or Ctrl-C
 */
async function asked<Answer>(
  question: (inquirer: typeof Inquirer, context: { readonly signal: AbortSignal }) => Promise<Answer>,
): Promise<Answer> {
  const escaped = new AbortController();
  const listen = (_: unknown, { name }: { readonly name?: string }): void => {
    if (name === 'escape') escaped.abort();
  };
  process.stdin.on('keypress', listen);
  try {
    return await question(await import('@inquirer/prompts'), escaped);
  } catch (error) {
    if (error instanceof Error && (error.name === 'ExitPromptError' || error.name === 'AbortPromptError'))
      throw new Unanswered('nothing was done', 'run it again when you know');
    throw error;
  } finally {
    process.stdin.off('keypress', listen);
  }
}
