/** Writes a completion script for each shell. Pressing Tab starts `ferry` only to read migration ids. */
import type { Completion, CompletableCommand, Shell } from './completion';

/** Seconds for which the script caches migration ids. */
const CACHE_SECONDS = 30;

export function completionScript(shell: Shell, commands: readonly CompletableCommand[]): string {
  return { bash, zsh, fish }[shell](commands);
}

const inQuotes = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** Returns the shell patterns that match a command followed by its subcommand: `' service'|'service keys'`. */
const subcommandPatterns = (commands: readonly CompletableCommand[]): string =>
  commands.flatMap(({ path, subcommands }) => subcommands.map(({ name }) => inQuotes(`${path} ${name}`))).join('|');

/**
 * A shell function that reads migration ids, in bash and zsh. It removes all characters that an id cannot contain,
 * because bash would execute a command substitution inside an id.
 */
const MIGRATIONS = `_ferry_migrations() {
  if [[ -z $_ferry_asked_at ]] || (( SECONDS - _ferry_asked_at > ${CACHE_SECONDS} )); then
    _ferry_ids=$(ferry list --quiet 2>/dev/null | tr -cd 'A-Za-z0-9._\\n-')
    _ferry_asked_at=$SECONDS
  fi
}
`;

/**
 * Returns a shell case for each option with a value.
 *
 * @param write writes the completion of a value for one shell
 */
function valueCases(commands: readonly CompletableCommand[], write: (value: Completion) => string): string[] {
  return commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) =>
      value === null
        ? []
        : [`    ${names.map((name) => inQuotes(`${path}:${name}`)).join('|')}) ${write(value)}; return ;;`],
    ),
  );
}

function bash(commands: readonly CompletableCommand[]): string {
  const value = (completed: Completion): string => {
    if (completed === 'file')
      return `compopt -o filenames 2>/dev/null; IFS=$'\\n'; COMPREPLY+=($(compgen -f -- "$cur"))`;
    if (completed === 'migration') return '_ferry_migrations; COMPREPLY+=($(compgen -W "$_ferry_ids" -- "$cur"))';
    return completed === 'anything'
      ? ':'
      : `COMPREPLY+=($(compgen -W ${inQuotes(completed.words.join(' '))} -- "$cur"))`;
  };
  return `# Completes ferry in bash. Install: ferry completion bash >> ~/.bashrc
${MIGRATIONS}
_ferry() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} at= i IFS=$' \\t\\n'
  COMPREPLY=()
  for ((i = 1; i < COMP_CWORD; i++)); do
    case "$at \${COMP_WORDS[i]}" in
    ${subcommandPatterns(commands)}) at="\${at:+$at }\${COMP_WORDS[i]}" ;;
    esac
  done
  case "$at:$prev" in
${valueCases(commands, value).join('\n')}
  esac
  if [[ $cur == -* ]]; then
    case "$at" in
${commands.map(({ path, options }) => `    ${inQuotes(path)}) ${value({ words: options.flatMap(({ names }) => names) })} ;;`).join('\n')}
    esac
    return
  fi
  case "$at" in
${commands.map(({ path, subcommands, values }) => `    ${inQuotes(path)}) ${[{ words: subcommands.map(({ name }) => name) }, ...values].map(value).join('; ')} ;;`).join('\n')}
  esac
}
complete -F _ferry ferry
`;
}

function zsh(commands: readonly CompletableCommand[]): string {
  const value = (completed: Completion): string => {
    if (completed === 'file') return '_files';
    if (completed === 'migration') return '_ferry_migrations; compadd -- ${(f)_ferry_ids}';
    return completed === 'anything' ? ':' : `compadd -- ${completed.words.map(inQuotes).join(' ')}`;
  };
  const described = (all: readonly { readonly name: string; readonly description: string }[]): string =>
    all.map(({ name, description }) => inQuotes(`${name}:${description.replaceAll(':', '\\:')}`)).join(' ');
  const options = (each: CompletableCommand): string =>
    described(each.options.flatMap(({ names, description }) => names.map((name) => ({ name, description }))));
  return `#compdef ferry
# Completes ferry in zsh. Install, if ~/.zshrc runs compinit: ferry completion zsh >> ~/.zshrc
${MIGRATIONS}
_ferry() {
  local at= i
  local -a found
  for ((i = 2; i < CURRENT; i++)); do
    case "$at \${words[i]}" in
    ${subcommandPatterns(commands)}) at="\${at:+$at }\${words[i]}" ;;
    esac
  done
  case "$at:\${words[CURRENT-1]}" in
${valueCases(commands, value).join('\n')}
  esac
  if [[ $PREFIX == -* ]]; then
    case "$at" in
${commands.map((each) => `    ${inQuotes(each.path)}) found=(${options(each)}) ;;`).join('\n')}
    esac
    _describe option found
    return
  fi
  case "$at" in
${commands
  .map(({ path, subcommands, values }) => {
    const names = subcommands.length === 0 ? [] : [`found=(${described(subcommands)}); _describe command found`];
    return `    ${inQuotes(path)}) ${[...names, ...values.map(value)].join('; ') || ':'} ;;`;
  })
  .join('\n')}
  esac
}
if [[ $funcstack[1] == _ferry ]]; then _ferry "$@"; else compdef _ferry ferry; fi
`;
}

function fish(commands: readonly CompletableCommand[]): string {
  const inQuotes = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
  const value = (completed: Completion): string => {
    if (completed === 'file') return '-r -F';
    if (completed === 'migration') return "-x -a '(__ferry_migrations)'";
    return completed === 'anything' ? '-x' : `-x -a ${inQuotes(completed.words.join(' '))}`;
  };
  const paths = commands.flatMap((each) => each.subcommands.map(({ name }) => inQuotes(`${each.path} ${name}`)));
  const lines = commands.flatMap(({ path, subcommands, options, values }) => {
    const here = `complete -c ferry -n ${inQuotes(`__ferry_is ${inQuotes(path)}`)}`;
    return [
      ...subcommands.map(({ name, description }) => `${here} -a ${name} -d ${inQuotes(description)}`),
      ...options.map((option) => {
        const flags = option.names.map((name) =>
          name.startsWith('--') ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`,
        );
        const follows = option.value === null ? '' : ` ${value(option.value)}`;
        return `${here} ${flags.join(' ')}${follows} -d ${inQuotes(option.description)}`;
      }),
      ...values.filter((each) => each !== 'anything').map((each) => `${here} ${value(each).replace(/^-[rx] /, '')}`),
    ];
  });
  return `# Completes ferry in fish. Install: ferry completion fish > ~/.config/fish/completions/ferry.fish
function __ferry_is
    set -l at ''
    for word in (commandline -opc)[2..-1]
        switch "$at $word"
            case ${paths.join(' ')}
                set at (string trim -- "$at $word")
        end
    end
    test "$at" = "$argv[1]"
end
function __ferry_migrations
    if not set -q __ferry_asked_at; or test (math (date +%s) - $__ferry_asked_at) -gt ${CACHE_SECONDS}
        set -g __ferry_ids (ferry list --quiet 2>/dev/null)
        set -g __ferry_asked_at (date +%s)
    end
    printf '%s\\n' $__ferry_ids
end
complete -c ferry -f
${lines.join('\n')}
`;
}
