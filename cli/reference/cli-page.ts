/** docs/cli.md, from the commands themselves. */
import type { Command, Option } from 'commander';
import { argumentInWords, leavesOf, type NamedCommand } from './commands';
import { describedProgram } from './described-program';
import { examplesOf } from './examples';

/** Options that every command has are said once. */
const EVERYWHERE = ['--json', '--quiet', '--debug'];

export function cliPage(): string {
  const program = describedProgram();
  const commands = leavesOf(program);
  return [
    '# The ferry command',
    'Written by `npm run docs` from the commands themselves; `ferry --help` and `ferry <command> --help` say the same.',
    [
      'Every command takes these options, wherever it stands in the line, and `--help`:',
      optionList(everywhere(program)),
    ].join('\n\n'),
    [
      'It ends with exit code 0, 1 (it failed, or the answer is no) or 2 (an unknown command or option, or one that is missing).',
      'Colours are for terminals alone, and for those without `NO_COLOR`. What `--json` prints is described in [json.md](json.md).',
    ].join(' '),
    ...commands.flatMap((each, index) => {
      const group = groupOf(each.command);
      const before = commands[index - 1];
      const begins = before === undefined || groupOf(before.command) !== group;
      return [...(begins ? [`## ${group.replace(/:$/, '')}`] : []), chapter(each)];
    }),
  ]
    .join('\n\n')
    .concat('\n');
}

/** Of the command right below the program, which is in a group. */
function groupOf(command: Command): string {
  return command.parent?.parent ? groupOf(command.parent) : (command.helpGroup() ?? '');
}

function everywhere(program: Command): readonly Option[] {
  return (program.commands[0]?.options ?? []).filter(({ long }) => EVERYWHERE.includes(long ?? ''));
}

function chapter({ path, command }: NamedCommand): string {
  const own = command.options.filter(({ long }) => !EVERYWHERE.includes(long ?? ''));
  const usage = [path, ...command.registeredArguments.map(argumentInWords), ...(own.length > 0 ? ['[options]'] : [])];
  return [
    `### ferry ${path}`,
    `${plain(command.description())}.`,
    `\`ferry ${usage.join(' ')}\``,
    ...(own.length === 0 ? [] : [optionList(own)]),
    ['```sh', ...examplesOf(path), '```'].join('\n'),
  ].join('\n\n');
}

function optionList(options: readonly Option[]): string {
  return options.map((option) => `- \`${option.flags}\`: ${plain(describedOption(option))}`).join('\n');
}

function describedOption({
  description,
  mandatory,
  defaultValue,
  defaultValueDescription,
  argChoices,
}: Option): string {
  const fallback: unknown = defaultValueDescription ?? defaultValue;
  const notes = [
    ...(mandatory ? ['required'] : []),
    ...(argChoices ? [`one of: ${argChoices.join(', ')}`] : []),
    ...(typeof fallback === 'string' || typeof fallback === 'number' ? [`default: ${fallback}`] : []),
  ];
  return `${description}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`;
}

/** What Markdown would take for its own. */
function plain(text: string): string {
  return text.replace(/[<>*]/g, '\\$&');
}
