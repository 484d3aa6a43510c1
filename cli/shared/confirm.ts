import type { Context } from './context';

export interface YesOption {
  readonly yes?: true;
}

/**
 * Whether whoever sits there wants it. Nobody is asked where nobody sits, where the answer is for a program, or where
 * `--yes` was given: then the command itself says so.
 *
 * @param show what is to be seen before the question, and only then
 */
export async function confirm(
  { output, terminal: { prompts } }: Pick<Context, 'output' | 'terminal'>,
  { yes }: YesOption,
  question: string,
  show: () => Promise<void> = async () => undefined,
): Promise<boolean> {
  if (yes || output.json || !prompts) return true;
  await show();
  return prompts.confirm(question);
}
