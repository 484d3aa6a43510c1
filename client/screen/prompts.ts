/** Questions to whoever sits at the terminal. */
import { CommandFailed } from '../command-failed';

export interface Prompts {
  /** Yes or no; no answer at all is a no. */
  confirm(question: string): Promise<boolean>;
  /** Text that is not shown while it is typed. */
  secret(question: string): Promise<string>;
}

/** The package is loaded when the first question is asked: most commands ask none. */
export const terminalPrompts: Prompts = {
  confirm: async (message) =>
    asked(async () => (await import('@inquirer/prompts')).confirm({ message, default: false })),
  secret: async (message) => asked(async () => (await import('@inquirer/prompts')).password({ message, mask: true })),
};

/** @throws CommandFailed after Ctrl-C */
async function asked<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof Error && error.name === 'ExitPromptError')
      throw new CommandFailed('nothing was done', 'run it again when you know');
    throw error;
  }
}
