import { completableCommands, type Shell, SHELLS } from '../../reference/completion';
import { completionScript } from '../../reference/completion-scripts';
import type { Context } from '../../shared/context';
import { choiceArgument } from '../../options/options';

export function addCompletion({ program, run }: Context): void {
  program
    .command('completion')
    .description(
      'Print a script that completes commands, options and migration ids in your shell. For bash, add the script once to the end of ~/.bashrc; for zsh, to the end of ~/.zshrc, after compinit; for fish, save it as ~/.config/fish/completions/ferry.fish',
    )
    .addArgument(choiceArgument('<shell>', 'your shell', SHELLS))
    .action((shell: Shell) =>
      run(async () => {
        const script = completionScript(shell, completableCommands(program));
        return {
          json: { schema: 'ferry.completion/1', shell, script },
          print: (output) => output.verbatim(script.trimEnd()),
        };
      }),
    );
}
